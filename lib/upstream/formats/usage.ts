// The usage object of a reply, in the names of either format, however a server splits its counts.
import type { CountsPlace, JsonObject, TokenCounts } from '../contract/provider.ts';
import { fieldsOf, isFields } from '../host/fields.ts';
import { addCounts, countsOf, namedCountsOf, tokenCountOf } from '../host/token-counts.ts';

/**
 * Prompt and answer of a usage object. Servers disagree on what the two include; missing parts are inferred from the
 * total and from the rule that a part cannot exceed its whole: some count reasoning outside `completion_tokens`, and
 * cached input is outside `input_tokens` if the cache has two names of its own.
 */
export function readUsage(usage: JsonObject): TokenCounts {
  const prompt = tokenCountOf(usage.prompt_tokens);
  const cached = cachedOf(usage);
  const excludesCache = 'cache_read_input_tokens' in usage || 'cache_creation_input_tokens' in usage;
  const input = prompt ?? addCounts(tokenCountOf(usage.input_tokens), excludesCache ? cached : undefined);
  const output = tokenCountOf(usage.completion_tokens) ?? tokenCountOf(usage.output_tokens);
  const reasoning = reasoningOf(usage);
  const surplus = (tokenCountOf(usage.total_tokens) ?? 0) - (input ?? 0) - (output ?? 0);
  if (surplus > 0) return withSurplus({ input, output }, surplus, surplus === cached && surplus !== reasoning);
  return countsOf(
    cached !== undefined && cached > (input ?? 0) ? addCounts(input, cached) : input,
    reasoning !== undefined && reasoning > (output ?? 0) ? addCounts(output, reasoning) : output,
  );
}

/** The counts from the first of these places that has them. */
export function findCounts(value: JsonObject, places: readonly CountsPlace[]): TokenCounts | undefined {
  for (const { at, names } of places) {
    const found = at.reduce<unknown>((inner, name) => fieldsOf(inner)[name], value);
    if (isFields(found)) return names ? namedCountsOf(found, names) : readUsage(found);
  }
  return undefined;
}

interface Counts {
  readonly input: number | undefined;
  readonly output: number | undefined;
}

/** A total alone cannot be split. */
function withSurplus({ input, output }: Counts, surplus: number, isCached: boolean): TokenCounts {
  if (input === undefined) return output === undefined ? {} : { input: surplus, output };
  return isCached ? countsOf(input + surplus, output) : countsOf(input, addCounts(output, surplus));
}

function cachedOf(usage: JsonObject): number | undefined {
  const details = detailsOf(usage.prompt_tokens_details) ?? detailsOf(usage.input_tokens_details);
  const read =
    tokenCountOf(details?.cached_tokens) ??
    tokenCountOf(usage.cached_tokens) ??
    tokenCountOf(usage.cache_read_input_tokens);
  return addCounts(read, tokenCountOf(usage.cache_creation_input_tokens));
}

function reasoningOf(usage: JsonObject): number | undefined {
  const details = detailsOf(usage.completion_tokens_details) ?? detailsOf(usage.output_tokens_details);
  return tokenCountOf(details?.reasoning_tokens) ?? tokenCountOf(usage.reasoning_tokens);
}

function detailsOf(value: unknown): JsonObject | undefined {
  return isFields(value) ? value : undefined;
}
