// Estimates the tokens of inputs, and judges what an upstream has counted.
import { visitSlices } from '../../stream/characters.ts';
import { countTokens, estimateTokens } from '../text/tokens.ts';
import type { EmbeddingEstimate, EmbeddingRequest } from './request.ts';

const BYTES_PER_TOKEN = 4;
/** Marks at both ends of an input, and what a model may put before it. */
const TOKENS_PER_INPUT = 4;
/** How far above our count an upstream's is believed, besides what it adds to each input. */
const BELIEVED_PER_COUNTED = 3;
/** An instruction before each input. */
const BELIEVED_PER_INPUT = 64;

export async function estimateInputs({
  inputs,
  tokens,
}: Pick<EmbeddingRequest, 'inputs' | 'tokens'>): Promise<EmbeddingEstimate> {
  if (tokens) {
    const exact = tokens.reduce((sum, { length }) => sum + length, 0);
    return addInputs({ most: exact, billed: exact }, tokens.length);
  }
  let bytes = 0;
  let counted = 0;
  let billed = 0;
  await visitSlices(inputs, (slice) => {
    bytes += Buffer.byteLength(slice);
    counted += countTokens(slice);
    billed += estimateTokens(slice);
  });
  const most = Math.max(Math.ceil(bytes / BYTES_PER_TOKEN), Math.ceil(counted));
  return addInputs({ most, billed: Math.max(inputs.length, Math.ceil(billed)) }, inputs.length);
}

function addInputs({ most, billed }: { most: number; billed: number }, count: number): EmbeddingEstimate {
  return {
    held: most + TOKENS_PER_INPUT * count,
    billed,
    max: BELIEVED_PER_COUNTED * most + BELIEVED_PER_INPUT * count,
  };
}

interface CountedTokens {
  readonly tokens: number;
  /** What the upstream has reported, if that is not believed. */
  readonly doubt?: string;
}

/** What is billed: a count up to the most that is believed. No input has no token, so a count of zero is none. */
export function judgeCount(counted: number | undefined, { billed, max }: EmbeddingEstimate): CountedTokens {
  const doubt = `usage reported as input ${counted}`;
  if (counted === undefined || !(counted > 0)) return { tokens: billed, doubt };
  return counted > max ? { tokens: max, doubt } : { tokens: counted };
}
