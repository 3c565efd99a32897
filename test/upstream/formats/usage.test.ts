import { expect } from 'chai';
import type { JsonObject } from '../../../lib/upstream/contract/provider.ts';
import { readUsage } from '../../../lib/upstream/formats/usage.ts';

describe('usage of an answer', () => {
  const rows: readonly (readonly [
    what: string,
    usage: object,
    input: number | undefined,
    output: number | undefined,
  ])[] = [
    ['plain', { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }, 5, 2],
    ['nothing', {}, undefined, undefined],
    ['zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, undefined, undefined],
    ['total of both and more', { prompt_tokens: 5, completion_tokens: 2, total_tokens: 10 }, 5, 5],
    ['no prompt but a total', { completion_tokens: 2, total_tokens: 10 }, 8, 2],
    ['no answer but a total', { prompt_tokens: 8, total_tokens: 10 }, 8, 2],
    ['a total too small', { prompt_tokens: 5, completion_tokens: 2, total_tokens: 3 }, 5, 2],
    [
      'reasoning inside',
      { prompt_tokens: 5, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 9 } },
      5,
      9,
    ],
    [
      'reasoning outside',
      { prompt_tokens: 5, completion_tokens: 2, output_tokens_details: { reasoning_tokens: 9 } },
      5,
      11,
    ],
    ['cache inside', { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 8 } }, 9, 2],
    ['cache outside', { prompt_tokens: 1, completion_tokens: 2, cached_tokens: 8 }, 9, 2],
    ['a cache as large as the prompt', { prompt_tokens: 8, completion_tokens: 2, cached_tokens: 8 }, 8, 2],
    [
      'cache beyond both in the total',
      { prompt_tokens: 5, completion_tokens: 2, total_tokens: 10, cached_tokens: 3 },
      8,
      2,
    ],
    [
      'a total that lacks as much as either the cache or the reasoning',
      { prompt_tokens: 5, completion_tokens: 2, total_tokens: 10, cached_tokens: 3, reasoning_tokens: 3 },
      5,
      5,
    ],
    ['reasoning beside the counts', { prompt_tokens: 5, completion_tokens: 2, reasoning_tokens: 9 }, 5, 11],
    ['the other names, cache outside', { input_tokens: 1, input_tokens_details: { cached_tokens: 8 } }, 9, undefined],
    ['a cache that was only written', { input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 3 }, 6, 3],
    ['both names and a cache apart', { prompt_tokens: 4, input_tokens: 4, cache_read_input_tokens: 2 }, 4, undefined],
    ['the other names', { input_tokens: 4, output_tokens: 3, input_tokens_details: { cached_tokens: 2 } }, 4, 3],
    ['the other names with a cache apart', { input_tokens: 4, cache_read_input_tokens: 2, output_tokens: 3 }, 6, 3],
    ['both names', { prompt_tokens: 4, input_tokens: 0, completion_tokens: 3, output_tokens: 0 }, 4, 3],
    ['text', { prompt_tokens: '4', completion_tokens: ' 3 ' }, 4, 3],
    ['rubbish', { prompt_tokens: 'many', completion_tokens: [1] }, undefined, undefined],
    ['beyond all numbers', { prompt_tokens: 2 ** 60, completion_tokens: Number.NaN }, undefined, undefined],
  ];
  for (const [what, usage, input, output] of rows) {
    it(what, () => {
      const expected = { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
      expect(readUsage(usage as JsonObject)).to.deep.equal(expected);
    });
  }
});
