// Splits requests for embeddings for the transfer from the parsing thread, and joins them again.
import type { EmbeddingRequest } from '../calls/embeddings/request.ts';
import { type Cut, groupSteps, type Joining, sliceLongText } from './parts.ts';

/** The first slice of a text, another slice of it, or a text as tokens. */
type InputStep = { readonly input: string } | { readonly more: string } | { readonly tokens: readonly number[] };

/** A token in characters, for the size of a group. */
const TOKEN_CHARACTERS = 8;

/** The head has neither texts nor tokens. */
export function cutEmbeddingRequest(whole: EmbeddingRequest): Cut<EmbeddingRequest> {
  const { tokens } = whole;
  const head = { ...whole, inputs: [], ...(tokens && { tokens: [] }) };
  return { head, groups: groupSteps(listSteps(whole), countStepCharacters) };
}

function countStepCharacters(step: InputStep): number {
  if ('tokens' in step) return step.tokens.length * TOKEN_CHARACTERS;
  return ('input' in step ? step.input : step.more).length;
}

function* listSteps({ inputs, tokens = [] }: EmbeddingRequest): Generator<InputStep> {
  for (const text of inputs) {
    const [input = '', ...slices] = sliceLongText(text);
    yield { input };
    for (const more of slices) yield { more };
  }
  for (const ids of tokens) yield { tokens: ids };
}

export function joinEmbeddingRequest(head: EmbeddingRequest): Joining<EmbeddingRequest, InputStep> {
  const inputs: string[] = [];
  const tokens: (readonly number[])[] = [];
  return {
    add(group) {
      for (const step of group) {
        if ('input' in step) inputs.push(step.input);
        else if ('more' in step) inputs.push((inputs.pop() ?? '') + step.more);
        else tokens.push(step.tokens);
      }
    },
    whole: () => ({ ...head, inputs, ...(head.tokens && { tokens }) }),
  };
}
