// Token counts of a reply, read from whatever shape an upstream reports them in.

export interface Tokens {
  readonly input?: number;
  readonly output?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** The counts of one chunk; `finishing` looks also where some vendors put them at the end of a stream only. */
export function usageOf(chunk: Fields, choice: Fields | undefined, finishing: boolean): Tokens | undefined {
  const usage = fields(chunk.usage);
  if (usage) return readTokens(usage);
  if (!finishing) return undefined;
  const nested = fields(choice?.usage) ?? fields(fields(chunk.x_groq)?.usage);
  if (nested) return readTokens(nested);
  const metrics = fields(chunk['amazon-bedrock-invocationMetrics']);
  if (metrics) return tokens(count(metrics.inputTokenCount), count(metrics.outputTokenCount));
  const timings = fields(chunk.timings);
  if (timings) return tokens(add(count(timings.prompt_n), count(timings.cache_n)), count(timings.predicted_n));
  return undefined;
}

/**
 * Prompt and answer of a usage object. Vendors disagree on what the two include; what they leave out is found by the
 * total and by the rule that a part cannot exceed its whole:
 * reasoning is outside `completion_tokens` at xAI and in Gemini's compatible layer, cached input is outside
 * `input_tokens` where the names are Anthropic's.
 */
function readTokens(usage: Fields): Tokens {
  const prompt = count(usage.prompt_tokens);
  const cached = cachedOf(usage);
  const excludesCache =
    prompt === undefined && ('cache_read_input_tokens' in usage || 'cache_creation_input_tokens' in usage);
  const input = prompt ?? add(count(usage.input_tokens), excludesCache ? cached : undefined);
  const output = count(usage.completion_tokens) ?? count(usage.output_tokens);
  const reasoning = reasoningOf(usage);
  const surplus = (count(usage.total_tokens) ?? 0) - (input ?? 0) - (output ?? 0);
  if (surplus > 0) return withSurplus({ input, output }, surplus, surplus === cached && surplus !== reasoning);
  return tokens(
    cached !== undefined && cached > (input ?? 0) ? add(input, cached) : input,
    reasoning !== undefined && reasoning > (output ?? 0) ? add(output, reasoning) : output,
  );
}

/** A total alone cannot be split. */
function withSurplus({ input, output }: Counts, surplus: number, isCached: boolean): Tokens {
  if (input === undefined) return output === undefined ? {} : tokens(surplus, output);
  return isCached ? tokens(input + surplus, output) : tokens(input, add(output, surplus));
}

interface Counts {
  readonly input: number | undefined;
  readonly output: number | undefined;
}

function cachedOf(usage: Fields): number | undefined {
  const details = fields(usage.prompt_tokens_details) ?? fields(usage.input_tokens_details);
  const read = count(details?.cached_tokens) ?? count(usage.cached_tokens) ?? count(usage.cache_read_input_tokens);
  return add(read, count(usage.cache_creation_input_tokens));
}

function reasoningOf(usage: Fields): number | undefined {
  const details = fields(usage.completion_tokens_details) ?? fields(usage.output_tokens_details);
  return count(details?.reasoning_tokens) ?? count(usage.reasoning_tokens);
}

function tokens(input: number | undefined, output: number | undefined): Tokens {
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
}

function add(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0);
}

/** A believable count, also from text; zero is what servers send that have not counted yet, so it counts as absent. */
function count(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !(number > 0) || number > Number.MAX_SAFE_INTEGER) return undefined;
  return Math.ceil(number);
}

function fields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
}
