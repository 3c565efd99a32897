import { expect } from 'chai';
import type { JsonObject, TokenCounts } from '../../../lib/upstream/contract/provider.ts';
import { findCounts, Usage } from '../../../lib/upstream/formats/usage.ts';

const details = (cached: number, more: object = {}) => ({ prompt_tokens_details: { cached_tokens: cached, ...more } });

describe('usage of an answer', () => {
  const rows: readonly (readonly [what: string, usage: object, counts: TokenCounts])[] = [
    ['plain', { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }, { input: 5, output: 2 }],
    ['nothing', {}, {}],
    ['zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, {}],
    ['total of both and more', { prompt_tokens: 5, completion_tokens: 2, total_tokens: 10 }, { input: 5, output: 5 }],
    ['no prompt but a total', { completion_tokens: 2, total_tokens: 10 }, { input: 8, output: 2 }],
    ['no answer but a total', { prompt_tokens: 8, total_tokens: 10 }, { input: 8, output: 2 }],
    ['a prompt that is the total', { prompt_tokens: 5, total_tokens: 5 }, { input: 5, output: 0 }],
    [
      'reasoning above an answer whose total has no more, and a cache as large as the prompt',
      { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10, cached_tokens: 8, reasoning_tokens: 9 },
      { input: 0, cacheRead: 8, output: 11, reasoning: 9 },
    ],
    [
      'reasoning a little above an answer whose total has no more: another tokenizer counted it',
      { prompt_tokens: 20, completion_tokens: 293, total_tokens: 313, reasoning_tokens: 321 },
      { input: 20, output: 293, reasoning: 293 },
    ],
    [
      'reasoning a token above the answer, and a total that has it',
      { prompt_tokens: 951, completion_tokens: 6000, total_tokens: 6952, reasoning_tokens: 6001, ...details(60) },
      { input: 891, cacheRead: 60, output: 6001, reasoning: 6001 },
    ],
    [
      'a total that no part explains, whose rest was produced',
      { prompt_tokens: 9, completion_tokens: 2, total_tokens: 20, cached_tokens: 3 },
      { input: 6, cacheRead: 3, output: 11 },
    ],
    [
      'no answer but a total too small, and a cache beside',
      { prompt_tokens: 5, total_tokens: 3, cached_tokens: 8 },
      { input: 5, cacheRead: 8 },
    ],
    ['a total too small', { prompt_tokens: 5, completion_tokens: 2, total_tokens: 3 }, { input: 5, output: 2 }],
    [
      'reasoning inside',
      { prompt_tokens: 5, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 9 } },
      { input: 5, output: 9, reasoning: 9 },
    ],
    [
      'reasoning beside',
      { prompt_tokens: 5, completion_tokens: 2, output_tokens_details: { reasoning_tokens: 9 } },
      { input: 5, output: 11, reasoning: 9 },
    ],
    [
      'reasoning that the total shows to be beside',
      { prompt_tokens: 5, completion_tokens: 9, total_tokens: 17, completion_tokens_details: { reasoning_tokens: 3 } },
      { input: 5, output: 12, reasoning: 3 },
    ],
    ['cache inside', { prompt_tokens: 9, completion_tokens: 2, ...details(8) }, { input: 1, cacheRead: 8, output: 2 }],
    [
      'cache beside',
      { prompt_tokens: 1, completion_tokens: 2, cached_tokens: 8 },
      { input: 1, cacheRead: 8, output: 2 },
    ],
    [
      'a cache inside a prompt whose total excludes it',
      { prompt_tokens: 500, completion_tokens: 1, total_tokens: 21, precached_prompt_tokens: 480 },
      { input: 20, cacheRead: 480, output: 1 },
    ],
    [
      'a cache larger than a prompt whose total excludes it',
      { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cached_tokens: 8 },
      { input: 1, cacheRead: 8, output: 2 },
    ],
    [
      'a cache as large as the prompt',
      { prompt_tokens: 8, completion_tokens: 2, cached_tokens: 8 },
      { input: 0, cacheRead: 8, output: 2 },
    ],
    [
      'cache beyond both in the total',
      { prompt_tokens: 5, completion_tokens: 2, total_tokens: 10, cached_tokens: 3 },
      { input: 5, cacheRead: 3, output: 2 },
    ],
    [
      'a total that lacks as much as either the cache or the reasoning',
      { prompt_tokens: 5, completion_tokens: 2, total_tokens: 10, cached_tokens: 3, reasoning_tokens: 3 },
      { input: 2, cacheRead: 3, output: 5, reasoning: 3 },
    ],
    [
      'a total with cache and reasoning beside',
      { prompt_tokens: 5, completion_tokens: 2, total_tokens: 14, cached_tokens: 3, reasoning_tokens: 4 },
      { input: 5, cacheRead: 3, output: 6, reasoning: 4 },
    ],
    [
      'reading and writing inside',
      { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102, ...details(50, { cache_write_tokens: 30 }) },
      { input: 20, cacheRead: 50, cacheWrite: 30, output: 2 },
    ],
    [
      'audio inside',
      { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102, prompt_tokens_details: { audio_tokens: 60 } },
      { input: 40, audio: 60, output: 2 },
    ],
    [
      'no audio',
      { prompt_tokens: 100, completion_tokens: 2, prompt_tokens_details: { audio_tokens: 0 } },
      { input: 100, audio: 0, output: 2 },
    ],
    [
      'audio beside what was read, as far as there is room',
      { prompt_tokens: 100, completion_tokens: 2, ...details(70, { audio_tokens: 60 }) },
      { input: 0, audio: 30, cacheRead: 70, output: 2 },
    ],
    [
      'audio of which some was read',
      {
        prompt_tokens: 100,
        completion_tokens: 2,
        ...details(70, { audio_tokens: 60, cached_tokens_details: { text_tokens: 20, audio_tokens: 50 } }),
      },
      { input: 20, audio: 10, cacheRead: 70, output: 2 },
    ],
    [
      'audio in the details of another format, and more than there is',
      { input_tokens: 9, output_tokens: 2, input_tokens_details: { cached_tokens: 0, audio_tokens: 60 } },
      { input: 0, audio: 9, cacheRead: 0, output: 2 },
    ],
    [
      'audio that is no count',
      { prompt_tokens: 100, completion_tokens: 2, prompt_tokens_details: { audio_tokens: -6 } },
      { input: 100, output: 2 },
    ],
    [
      'writing inside under the name of a relay',
      { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102, ...details(50, { cached_creation_tokens: 30 }) },
      { input: 20, cacheRead: 50, cacheWrite: 30, output: 2 },
    ],
    [
      'writing beside a prompt that what was read shows to be counted without a cache',
      { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60, ...details(900, { cached_creation_tokens: 50 }) },
      { input: 50, cacheRead: 900, cacheWrite: 50, output: 10 },
    ],
    [
      'only the writing beside',
      { prompt_tokens: 100, completion_tokens: 2, total_tokens: 132, ...details(50, { cache_write_tokens: 30 }) },
      { input: 50, cacheRead: 50, cacheWrite: 30, output: 2 },
    ],
    [
      'parts that overlap within the prompt',
      {
        prompt_tokens: 5002,
        completion_tokens: 10,
        total_tokens: 5012,
        cache_creation_input_tokens: 5000,
        cache_read_input_tokens: 5000,
      },
      { input: 0, cacheRead: 5000, cacheWrite: 2, output: 10 },
    ],
    [
      'hits and misses',
      { prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 1 },
      { input: 1, cacheRead: 8, output: 2 },
    ],
    [
      'hits and misses alone',
      { completion_tokens: 2, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 1 },
      { input: 1, cacheRead: 8, output: 2 },
    ],
    [
      'hits and a total',
      { completion_tokens: 2, total_tokens: 11, prompt_cache_hit_tokens: 8 },
      { input: 1, cacheRead: 8, output: 2 },
    ],
    [
      'a kind of writing, without its sum',
      { input_tokens: 4, output_tokens: 3, cache_creation: { ephemeral_5m_input_tokens: 2 } },
      { input: 2, cacheWrite: 2, output: 3 },
    ],
    [
      'the longer kind of writing, without its sum',
      { input_tokens: 9, output_tokens: 3, input_tokens_details: { cache_creation: { ephemeral_1h_input_tokens: 7 } } },
      { input: 2, cacheWrite: 0, cacheWrite1h: 7, output: 3 },
    ],
    [
      'both kinds of writing, without their sum',
      {
        input_tokens: 10,
        output_tokens: 3,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 7 },
      },
      { input: 1, cacheWrite: 2, cacheWrite1h: 7, output: 3 },
    ],
    [
      'kinds of writing',
      {
        input_tokens: 4,
        output_tokens: 3,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 7 },
      },
      { input: 4, cacheRead: 0, cacheWrite: 2, cacheWrite1h: 7, output: 3 },
    ],
    [
      'reasoning beside the counts',
      { prompt_tokens: 5, completion_tokens: 2, reasoning_tokens: 9 },
      { input: 5, output: 11, reasoning: 9 },
    ],
    [
      'the other names, cache beside',
      { input_tokens: 1, input_tokens_details: { cached_tokens: 8 } },
      { input: 1, cacheRead: 8 },
    ],
    [
      'a cache that was only written',
      { input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 3 },
      { input: 4, cacheWrite: 2, output: 3 },
    ],
    [
      'both names and a cache apart',
      { prompt_tokens: 4, input_tokens: 4, cache_read_input_tokens: 2 },
      { input: 2, cacheRead: 2 },
    ],
    [
      'the other names',
      { input_tokens: 4, output_tokens: 3, input_tokens_details: { cached_tokens: 2 } },
      { input: 2, cacheRead: 2, output: 3 },
    ],
    [
      'the other names with a cache apart',
      { input_tokens: 4, cache_read_input_tokens: 2, output_tokens: 3 },
      { input: 4, cacheRead: 2, output: 3 },
    ],
    [
      'the other names with a cache that the total includes',
      { input_tokens: 4, cache_read_input_tokens: 2, output_tokens: 3, total_tokens: 7 },
      { input: 2, cacheRead: 2, output: 3 },
    ],
    [
      'both names',
      { prompt_tokens: 4, input_tokens: 0, completion_tokens: 3, output_tokens: 0 },
      { input: 4, output: 3 },
    ],
    ['text', { prompt_tokens: '4', completion_tokens: ' 3 ' }, { input: 4, output: 3 }],
    ['rubbish', { prompt_tokens: 'many', completion_tokens: [1], prompt_tokens_details: 'x' }, {}],
    ['beyond all numbers', { prompt_tokens: 2 ** 60, completion_tokens: Number.NaN }, {}],
  ];
  for (const [what, usage, counts] of rows) {
    it(what, () => expect(new Usage().report(usage as JsonObject)).to.deep.equal(counts));
  }

  const PARTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
    cacheRead: [
      ['prompt_tokens_details', 'cached_tokens'],
      ['input_tokens_details', 'cached_tokens'],
      ['cached_tokens'],
      ['prompt_cache_hit_tokens'],
      ['cache_read_input_tokens'],
      ['num_cached_tokens'],
      ['precached_prompt_tokens'],
    ],
    cacheWrite: [
      ['prompt_tokens_details', 'cache_write_tokens'],
      ['prompt_tokens_details', 'cache_creation_tokens'],
      ['input_tokens_details', 'cache_creation_input_tokens'],
      ['cache_write_tokens'],
      ['cache_creation_input_tokens'],
    ],
    reasoning: [
      ['completion_tokens_details', 'reasoning_tokens'],
      ['output_tokens_details', 'thinking_tokens'],
      ['reasoning_tokens'],
    ],
  };
  for (const [part, places] of Object.entries(PARTS)) {
    it(`knows ${part} by each of its names`, () => {
      for (const place of places) {
        const found = place.reduceRight<unknown>((inner, name) => ({ [name]: inner }), 3) as object;
        const counts = new Usage().report({ prompt_tokens: 10, completion_tokens: 5, ...found });
        const input = part === 'reasoning' ? 10 : 7;
        expect(counts, place.join('.')).to.deep.equal({ input, output: 5, [part]: 3 });
      }
    });
  }

  it('has those parts beside their whole that the total says', () => {
    for (let choice = 0; choice < 8; choice += 1) {
      const [reasoning, read, write] = [1, 2, 4].map((part) => (choice & part ? 0 : part)) as [number, number, number];
      const counts = new Usage().report({
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150 + choice,
        reasoning_tokens: 1,
        ...details(2, { cache_write_tokens: 4 }),
      });
      const output = 51 - reasoning;
      const expected = { input: 100 - read - write, cacheRead: 2, cacheWrite: 4, output, reasoning: 1 };
      expect(counts, `${choice} more`).to.deep.equal(expected);
    }
  });

  it('has an output once there is some', () => {
    const usage = new Usage();
    const after = [{}, { prompt_tokens: 5, completion_tokens: 0 }, { completion_tokens: 1 }, {}].map((report) => {
      usage.report(report);
      return usage.hasOutput;
    });
    expect(after).to.deep.equal([false, false, true, true]);
  });

  it('is found at the first place that has an object', () => {
    const places = [{ at: ['usage'] }, { at: ['x', 'usage'] }, { at: ['meta'] }];
    const counts = { prompt_tokens: 5, completion_tokens: 2 };
    const find = (value: JsonObject) => findCounts(value, places, new Usage());
    expect(find({ usage: counts, meta: {} })).to.deep.equal({ input: 5, output: 2 });
    expect(find({ usage: null, x: { usage: counts }, meta: {} })).to.deep.equal({ input: 5, output: 2 });
    expect(find({ x: 7, meta: counts })).to.deep.equal({ input: 5, output: 2 });
    expect(find({ usage: 'none' })).to.equal(undefined);
  });

  it('is cumulative: a number replaces the last one, zero too, and what is absent stays', () => {
    const usage = new Usage();
    usage.report({ prompt_tokens: 5002, completion_tokens: 1, ...details(5000) });
    expect(usage.report({ prompt_tokens: 5002, completion_tokens: 9 })).to.deep.equal({
      input: 2,
      cacheRead: 5000,
      output: 9,
    });
    expect(usage.report({ prompt_tokens: 5002, completion_tokens: 10, ...details(0) })).to.deep.equal({
      input: 5002,
      cacheRead: 0,
      output: 10,
    });
    expect(usage.report({ prompt_tokens: 0, completion_tokens: 11, ...details(0) })).to.include({
      input: 5002,
      output: 11,
    });
    expect(usage.report({ prompt_tokens: 0, completion_tokens: 0 })).to.include({ input: 5002, output: 11 });
  });

  it('keeps each part that a later report leaves out', () => {
    const usage = new Usage();
    usage.report({
      prompt_tokens: 10,
      completion_tokens: 5,
      reasoning_tokens: 2,
      ...details(2, { cache_write_tokens: 3 }),
    });
    const kept = { input: 5, cacheRead: 2, cacheWrite: 3, reasoning: 2 };
    expect(usage.report({ prompt_tokens: 10, completion_tokens: 6 })).to.deep.equal({ ...kept, output: 6 });
    expect(usage.report({ completion_tokens: 7 })).to.deep.equal({ ...kept, output: 7 });
  });

  it('of the messages format has its cache beside the prompt, whatever is reported together', () => {
    const usage = new Usage({ isCacheBeside: true });
    usage.report({ input_tokens: 20, output_tokens: 1 });
    expect(usage.report({ cache_read_input_tokens: 7, output_tokens: 9 })).to.deep.equal({
      input: 20,
      cacheRead: 7,
      output: 9,
    });
    usage.report({ cache_creation_input_tokens: 5, cache_creation: { ephemeral_1h_input_tokens: 5 } });
    expect(usage.report({ cache_creation_input_tokens: 5 })).to.include({ cacheWrite: 0, cacheWrite1h: 5 });
    expect(usage.report({ cache_creation_input_tokens: 0 })).to.include({ cacheWrite: 0, cacheWrite1h: 0 });
  });

  it('of an upstream that counts its cache inside the prompt has it there, as far as there is room', () => {
    const report = (input: number, read: number, written = 0) => {
      const usage = new Usage({ isCacheBeside: true, isCacheInside: true });
      const cache = { cache_read_input_tokens: read, cache_creation_input_tokens: written };
      return usage.report({ input_tokens: input, output_tokens: 9, ...cache });
    };
    expect(report(3936, 3712)).to.include({ input: 224, cacheRead: 3712 });
    expect(report(3936, 3000, 936)).to.include({ input: 0, cacheRead: 3000, cacheWrite: 936 });
    expect(report(3936, 0)).to.include({ input: 3936, cacheRead: 0 });
    expect(report(18, 3712)).to.include({ input: 18, cacheRead: 3712 });
  });

  it('has a cache that is told late, with details of a prompt, inside the prompt', () => {
    const late = (cached: number, more: object = {}, written: object = {}) => {
      const usage = new Usage({ isCacheBeside: true });
      usage.report({ input_tokens: 3602, output_tokens: 0, ...more });
      return usage.report({ cache_read_input_tokens: cached, output_tokens: 9, ...details(cached), ...written });
    };
    expect(late(3000)).to.deep.equal({ input: 602, cacheRead: 3000, output: 9 });
    expect(late(3604)).to.deep.equal({ input: 0, cacheRead: 3604, output: 9 });
    expect(late(1)).to.deep.equal({ input: 3601, cacheRead: 1, output: 9 });
    expect(late(0)).to.deep.equal({ input: 3602, cacheRead: 0, output: 9 });
    const both = late(3000, {}, { cache_creation_input_tokens: 604 });
    expect(both).to.deep.equal({ input: 0, cacheRead: 3000, cacheWrite: 604, output: 9 });
    // Too much for a part, and a prompt that was counted beside its cache.
    expect(late(3700)).to.deep.equal({ input: 3602, cacheRead: 3700, output: 9 });
    expect(late(3000, { cache_read_input_tokens: 0 })).to.deep.equal({ input: 3602, cacheRead: 3000, output: 9 });
  });
});
