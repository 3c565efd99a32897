// Token counts of a reply, gathered from all the places that report a part of them.

/** Zero where nothing was reported. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Adds up what a reply reports. Every field keeps its last number: some endpoints count at the start of a message, some
 * at its end, and some repeat at the end a part of what they said at the start. The input is the sum of what was read
 * anew, written to the cache and read from it.
 */
export class Usage {
  #anew = 0;
  #written = 0;
  #read = 0;
  #output = 0;

  /** The counts so far. */
  report(usage: unknown): Tokens {
    if (typeof usage !== 'object' || usage === null) return this.#tokens();
    const fields = usage as Fields;
    return this.#set(
      count(fields.input_tokens),
      count(fields.cache_creation_input_tokens),
      count(fields.cache_read_input_tokens),
      count(fields.output_tokens),
    );
  }

  /** What Bedrock adds to the last event; counts that were reported before stand. */
  reportMetrics(metrics: unknown): Tokens {
    if (typeof metrics !== 'object' || metrics === null || this.#output > 0) return this.#tokens();
    const fields = metrics as Fields;
    return this.#set(
      count(fields.inputTokenCount),
      count(fields.cacheWriteInputTokenCount),
      count(fields.cacheReadInputTokenCount),
      count(fields.outputTokenCount),
    );
  }

  #set(anew: number, written: number, read: number, output: number): Tokens {
    this.#anew = anew || this.#anew;
    this.#written = written || this.#written;
    this.#read = read || this.#read;
    this.#output = output || this.#output;
    return this.#tokens();
  }

  #tokens(): Tokens {
    return { input: this.#anew + this.#written + this.#read, output: this.#output };
  }
}

/** A believable count, also from text; everything else counts as not reported. */
function count(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && number > 0 && number <= Number.MAX_SAFE_INTEGER ? Math.ceil(number) : 0;
}
