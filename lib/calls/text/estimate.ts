// Estimates of input tokens, before any model has counted them.

import { countCharacters, visitSlices } from '../../stream/characters.ts';
import { TOKENS_PER_IMAGE, TOKENS_PER_IMAGE_LEAST } from '../../stream/image-tokens.ts';
import { convertToTokens } from '../../stream/meter.ts';
import { countFileTokens, type FileTokens, type RequestFileTokens } from './files.ts';
import type { InputEstimate, RequestContent, TextRequest } from './request.ts';
import { countTokens } from './tokens.ts';

const BYTES_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
/** The instructions that a vendor adds for a tool of its own, whose definition is only a few words. */
const TOKENS_PER_PREDEFINED_TOOL = 1000;

/** How far above our count an upstream's is believed, besides what it adds to each prompt. */
const BELIEVED_PER_COUNTED = 3;

/** What an upstream may add to each prompt (templates, tools, hidden instructions), if its model does not say. */
export const UPSTREAM_ADDITIONS = 20_000;

/** How far public tokenizers may be above our count; they are up to a tenth above what is held, not more. */
const COUNT_PER_HELD = 1.08;

/**
 * This many tokens above the formula are not held, so that the formula applies to all but long texts. The hold has at
 * least as many output tokens (`HELD_OUTPUT_TOKENS_MIN`), which cost more.
 */
const TOKENS_FORGIVEN = 512;

const NO_TOKENS: FileTokens = { estimated: 0, excess: 0 };
const NO_FILES: RequestFileTokens = { documents: NO_TOKENS, recordings: NO_TOKENS };

export async function estimateInput(request: TextRequest): Promise<InputEstimate> {
  const text = await measureText(request);
  const { documents, recordings } = request.files ? countFileTokens(request.messages) : NO_FILES;
  const files = documents.estimated + recordings.estimated;
  const images = TOKENS_PER_IMAGE * (request.images + (request.answerImages ?? 0));
  const known = images + TOKENS_PER_MESSAGE * request.messageCount + countInstructions(request);
  const weighed = Math.ceil(text.counted / COUNT_PER_HELD) - TOKENS_FORGIVEN;
  const counted = Math.max(text.tokens, Math.ceil(text.counted)) + countStates(request);
  const filesAtMost = files + documents.excess + recordings.excess;
  return {
    tokens: text.tokens + known + files,
    tokensHeld: Math.max(text.tokens, weighed) + known + files,
    tokensMax: BELIEVED_PER_COUNTED * (counted + known + filesAtMost),
    tokensBuffered: convertToTokens(text.characters) + images + files,
    images: describeImages(request, text.tokens),
    ...(documents.excess > 0 && { documentsExcess: documents.excess }),
    ...(recordings.estimated > 0 && { audioTokens: recordings.estimated }),
    ...(recordings.excess > 0 && { audioExcess: recordings.excess }),
  };
}

interface TextMeasure {
  /** By the documented formula, from its bytes. */
  readonly tokens: number;
  /** By our count, which hardly any tokenizer exceeds; not rounded. */
  readonly counted: number;
  readonly characters: number;
}

async function measureText(request: TextRequest): Promise<TextMeasure> {
  let bytes = 0;
  let characters = 0;
  let counted = 0;
  await visitSlices(listTexts(request), (slice) => {
    bytes += Buffer.byteLength(slice);
    characters += countCharacters(slice);
    counted += countTokens(slice);
  });
  return { tokens: Math.ceil(bytes / BYTES_PER_TOKEN), counted, characters };
}

/** Those that a vendor adds for its own tools. */
function countInstructions({ tools }: TextRequest): number {
  return TOKENS_PER_PREDEFINED_TOOL * (tools?.list.filter(({ isPredefined }) => isPredefined).length ?? 0);
}

/** Our estimate of the text may be twice a tokenizer's, so half of it is used to tell whether a count includes images. */
function describeImages({ images }: TextRequest, textTokens: number): InputEstimate['images'] {
  if (images === 0) return undefined;
  return { tokens: TOKENS_PER_IMAGE * images, countedFrom: textTokens / 2 + TOKENS_PER_IMAGE_LEAST * images };
}

/** The most tokens that a public tokenizer counts of what a hold covers: a tenth more, and what is not held. */
export function countMost(tokensHeld: number): number {
  return Math.ceil((tokensHeld * 11) / 10) + TOKENS_FORGIVEN;
}

/** The model reads a schema like text. */
function* listTexts({ system, messages, tools, format }: TextRequest): Iterable<string> {
  for (const { text } of system ?? []) yield text;
  if (tools) yield tools.text;
  if (format?.type === 'json-schema') {
    yield JSON.stringify(format.schema);
    if (format.description !== undefined) yield format.description;
  }
  for (const { content } of messages) {
    for (const part of content) {
      yield* listPartTexts(part);
    }
  }
}

export function* listPartTexts(part: RequestContent): Iterable<string> {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      yield part.text;
      break;
    case 'tool-reference':
      yield part.name;
      break;
    case 'document':
      if (part.name !== undefined) yield part.name;
      break;
    case 'tool-call':
      yield part.name;
      yield part.json;
      break;
    case 'tool-result':
      for (const inner of part.content) yield* listPartTexts(inner);
  }
}

/** State that goes back unchanged mostly costs nothing, but a client may have made it up. */
function countStates({ messages }: TextRequest): number {
  let characters = 0;
  for (const { content } of messages) {
    for (const part of content) if ('state' in part) characters += part.state?.value.length ?? 0;
  }
  return Math.ceil(characters / BYTES_PER_TOKEN);
}
