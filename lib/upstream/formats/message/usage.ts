// The token counts of an answer, gathered from all places that report part of them.
import type { CountNames, TokenCounts } from '../../contract/provider.ts';
import { fieldsOf } from '../../host/fields.ts';
import { namedCountsOf, tokenCountOf } from '../../host/token-counts.ts';

/** Input is the sum of new tokens, tokens written to the cache and tokens read from it. */
const NAMES: CountNames = {
  input: ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
  output: ['output_tokens'],
};

/**
 * Adds up what an answer reports. Each count keeps its last value: some endpoints count at the start of a message, some
 * at its end, and some repeat part of the start at the end.
 */
export class Usage {
  #input: readonly number[] = [];
  #output = 0;

  /** True once an answer was counted. */
  get hasOutput(): boolean {
    return this.#output > 0;
  }

  /** The counts so far; zero where nothing was reported. */
  report(usage: unknown, names = NAMES): TokenCounts {
    const fields = fieldsOf(usage);
    this.#input = names.input.map((name, at) => tokenCountOf(fields[name]) ?? this.#input[at] ?? 0);
    this.#output = namedCountsOf(fields, names).output ?? this.#output;
    return { input: this.#input.reduce((sum, count) => sum + count, 0), output: this.#output };
  }
}
