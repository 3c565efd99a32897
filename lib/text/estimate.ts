// Estimates of input tokens, before any model has counted them.
import { countCharacters, tokensOfCharacters } from '../stream/meter.ts';
import type { TextRequest } from './request.ts';

const BYTES_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
export const TOKENS_PER_IMAGE = 1000;

export interface InputEstimate {
  /** Tokens that the hold is made for. */
  readonly tokens: number;
  /** More input tokens than this no tokenizer makes of the text; a report above it is an error of the upstream. */
  readonly tokensMax: number;
}

/** Room for what upstreams add to a prompt: templates, tools, hidden instructions. */
const UPSTREAM_ADDITIONS = 100_000;

export function estimateInput(request: TextRequest): InputEstimate {
  let bytes = 0;
  for (const text of textsOf(request)) bytes += Buffer.byteLength(text);
  const extras = TOKENS_PER_MESSAGE * request.messageCount + TOKENS_PER_IMAGE * request.images;
  return {
    tokens: Math.ceil(bytes / BYTES_PER_TOKEN) + extras,
    tokensMax: 2 * bytes + 16 * extras + UPSTREAM_ADDITIONS,
  };
}

/** Input tokens of a buffered model, which reports none: by characters. */
export function countBufferedInput(request: TextRequest): number {
  let characters = 0;
  for (const text of textsOf(request)) characters += countCharacters(text);
  return tokensOfCharacters(characters);
}

function* textsOf({ system, messages }: TextRequest): Iterable<string> {
  if (system !== undefined) yield system;
  for (const { content } of messages) for (const part of content) if (part.type === 'text') yield part.text;
}
