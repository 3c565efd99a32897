// How a charge stores what a text call used: the counts of its tokens, by name.
import type { Usage } from './decide.ts';
import type { Tokens } from './price.ts';

/** The name of each count in a stored `Usage`, in the order of a receipt. Reasoning is part of the output. */
export const TOKEN_NAMES = {
  input: 'tokens_input',
  audio: 'tokens_audio',
  cacheRead: 'tokens_cache_read',
  cacheWrite: 'tokens_cache_write',
  cacheWrite1h: 'tokens_cache_write_1h',
  output: 'tokens_output',
  reasoning: 'tokens_reasoning',
} as const satisfies Record<keyof Tokens, string>;

/**
 * How many of the tokens that are charged as read from a cache the vendor counted anew, because the gateway had moved the
 * conversation.
 */
export const MOVED_NAME = 'tokens_cache_moved';

const NAMES = Object.entries(TOKEN_NAMES) as readonly (readonly [keyof Tokens, string])[];

/** The counts as stored: input and output always, the others if they are not zero. */
export function nameTokens(tokens: Tokens): Usage {
  const usage: Record<string, number> = {};
  for (const [kind, name] of NAMES) {
    const count = tokens[kind] ?? 0;
    if (count > 0 || kind === 'input' || kind === 'output') usage[name] = count;
  }
  return usage;
}

/** The counts of a stored `Usage`; undefined if one is not a count, or if there is no input or output. */
export function readTokens(usage: Readonly<Record<string, unknown>>): Tokens | undefined {
  const counts: { -readonly [Kind in keyof Tokens]: Tokens[Kind] } = { input: 0, output: 0 };
  for (const [kind, name] of NAMES) {
    const count = usage[name];
    if (count === undefined && kind !== 'input' && kind !== 'output') continue;
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) return undefined;
    counts[kind] = count;
  }
  return counts;
}
