import { expect } from 'chai';
import fc from 'fast-check';
import { countPrompt } from '../../lib/money/price.ts';
import { countCharacters } from '../../lib/stream/characters.ts';
import { convertToTokens, Meter, type MeterOptions } from '../../lib/stream/meter.ts';
import type { StreamPart } from '../../lib/stream/part.ts';
import { longer } from '../../testkit/long.ts';

/** One token in four characters. */
const estimateTokens = (text: string) => text.length / 4;

const LIMITS = { trusted: true, inputEstimate: 11, inputMax: 1000, outputMax: 500, estimateTokens };

const delta = (text: string): StreamPart => ({ type: 'block-delta', index: 0, text });
const usage = (input: unknown, output: unknown): StreamPart => ({ type: 'usage', input, output }) as StreamPart;
const words = (tokens: number): StreamPart => delta('word'.repeat(tokens));

function bill(ending: 'finished' | 'cut', parts: readonly StreamPart[], options: Partial<MeterOptions> = {}) {
  const meter = new Meter({ ...LIMITS, ...options });
  meter.push(parts);
  return meter.bill(ending);
}

describe('meter', () => {
  it('bills what the upstream counted', () => {
    expect(bill('finished', [words(100), usage(7, 42)])).to.deep.equal({ input: 7, output: 42 });
    expect(bill('finished', [usage(1, 1), words(1)])).to.deep.equal({ input: 1, output: 1 });
    expect(bill('finished', [usage(1000, 500), words(1)])).to.deep.equal({ input: 1000, output: 500 });
  });

  it('has a report once any counts came, and names reasoning only if there was some', () => {
    const meter = new Meter(LIMITS);
    meter.push([words(1)]);
    expect([meter.hasReport, meter.reported]).to.deep.equal([false, undefined]);
    meter.push([usage(1, 'many')]);
    expect([meter.hasReport, meter.reported]).to.deep.equal([true, undefined]);
    meter.push([{ ...usage(7, 5), reasoning: 0 } as StreamPart]);
    expect(meter.reported).to.deep.equal({ input: 7, output: 5 });
    meter.push([{ ...usage(7, 5), reasoning: 3 } as StreamPart]);
    expect(meter.reported).to.deep.equal({ input: 7, output: 5, reasoning: 3 });
  });

  it('does not believe a count that is far too small for the text, whenever it came', () => {
    expect(bill('finished', [usage(7, 2), delta('='.repeat(128))])).to.deep.equal({ input: 7, output: 2 });
    const { doubt, ...tokens } = bill('finished', [usage(7, 2), delta('='.repeat(129))]);
    expect(tokens).to.deep.equal({ input: 7, output: 33 });
    expect(doubt).to.equal('usage reported as output 2');
    expect(bill('finished', [delta('='.repeat(128)), usage(7, 2)])).to.deep.equal({ input: 7, output: 2 });
    // As of an upstream that counts anew in each event.
    const counted = [usage(7, 2), delta('='.repeat(128)), usage(7, 2), delta('='.repeat(128)), usage(7, 2)];
    expect(bill('finished', counted)).to.include({ input: 7, output: 64 });
    expect(
      bill('finished', [usage(7, 2), delta('='.repeat(100)), usage(8, undefined), delta('='.repeat(100))]),
    ).to.include({
      output: 50,
    });
  });

  it('tells what was reported beyond the bounds of a bill, if it is a report of the whole answer', () => {
    const reported = (parts: readonly StreamPart[], options: Partial<MeterOptions> = {}) => {
      const meter = new Meter({ ...LIMITS, ...options });
      meter.push(parts);
      return meter.reported;
    };
    expect(reported([words(1), usage(5000, 900)])).to.deep.equal({ input: 5000, output: 900 });
    const caches = { type: 'usage', input: 1, cacheRead: 2000, cacheWrite: 3, output: 4, reasoning: 2 } as const;
    expect(reported([caches])).to.deep.equal({ input: 1, cacheRead: 2000, cacheWrite: 3, output: 4, reasoning: 2 });
    // Too early, incomplete, absurd, or of an upstream that is not trusted.
    const early = [usage(7, 2), delta('='.repeat(129))];
    for (const parts of [
      [],
      [usage(7, undefined)],
      [usage(undefined, 7)],
      [usage(0, 7)],
      [usage(-1, 7)],
      [usage(0.5, 7)],
      early,
    ])
      expect(reported(parts)).to.equal(undefined);
    expect(reported([usage(7, 7)], { trusted: false })).to.equal(undefined);
  });

  it('adds the images of a call to a count that is too small to include them', () => {
    const images = { tokens: 300, countedFrom: 100 };
    const inputOf = (counted: unknown) => bill('finished', [usage(counted, 2), words(1)], { images }).input;
    expect([99, 100, 700].map(inputOf)).to.deep.equal([399, 100, 700]);
    // Without a count there is the estimate, which knows of them.
    expect(inputOf(undefined)).to.equal(LIMITS.inputEstimate);
  });

  it('goes by the last number of each side', () => {
    const parts = [usage(7, 1), words(3), usage(undefined, 2), usage(8, undefined), usage(null, null), usage('9', '9')];
    expect(bill('finished', parts)).to.deep.equal({ input: 8, output: 2 });
  });

  const split = (counts: object): StreamPart => ({ type: 'usage', ...counts });

  it('keeps the parts of a prompt apart, without those that are zero', () => {
    const all = { input: 1, cacheRead: 20, cacheWrite: 300, cacheWrite1h: 400, output: 5, reasoning: 2 };
    expect(bill('finished', [words(5), split(all)])).to.deep.equal(all);
    const none = { input: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 5, reasoning: 0 };
    expect(bill('finished', [words(5), split(none)])).to.deep.equal({ input: 1, output: 5 });
    expect(bill('finished', [words(5), split({ cacheRead: 20, output: 5 })])).to.deep.equal({
      input: 0,
      cacheRead: 20,
      output: 5,
    });
  });

  it('believes of too large a prompt the parts that cost least', () => {
    const { doubt, ...tokens } = bill('finished', [words(5), split({ input: 600, cacheRead: 900, output: 5 })]);
    expect(tokens).to.deep.equal({ input: 100, cacheRead: 900, output: 5 });
    expect(doubt).to.contain('input 1500');
    const { doubt: _, ...most } = bill('finished', [split({ input: 9, cacheRead: 9, cacheWrite: 9e6, output: 5 })]);
    expect(most).to.deep.equal({ input: 9, cacheRead: 9, cacheWrite: 982, output: 5 });
  });

  it('estimates a prompt if one of its parts is absurd, though their sum is not', () => {
    for (const absurd of [{ cacheRead: -5 }, { cacheWrite: 0.5, cacheWrite1h: 0.5 }, { cacheWrite1h: Number.NaN }]) {
      const { doubt, ...tokens } = bill('finished', [words(5), split({ input: 100, output: 5, ...absurd })]);
      expect(tokens).to.deep.equal({ input: 11, output: 5 });
      expect(doubt).to.contain('input');
    }
  });

  it('adds the images of an answer to a count of the rest, reasoning aside', () => {
    const image = { type: 'image', index: 1, mediaType: 'image/png', base64: '' } as StreamPart;
    const thoughts: StreamPart = { type: 'hidden', text: 'word'.repeat(300) };
    const outputOf = (parts: readonly StreamPart[], output: number, reasoning = 0) =>
      bill('finished', [...parts, image, split({ input: 1, output, reasoning })], { outputMax: 5000 }).output;
    // Half of what the text takes, and 64 for the image, would be 114.
    expect([100, 113, 114, 900].map((output) => outputOf([words(100)], output))).to.deep.equal([1100, 1113, 114, 900]);
    expect([400, 413, 414].map((output) => outputOf([thoughts, words(100)], output, 300))).to.deep.equal([
      1400, 1413, 414,
    ]);
    expect(outputOf([], 10)).to.equal(1010);
  });

  it('counts no more reasoning than output, and none that is absurd', () => {
    const reasoningOf = (reasoning: number) =>
      bill('finished', [words(5), split({ input: 1, output: 5, reasoning })]).reasoning;
    expect([3, 9, -1, 0.5].map(reasoningOf)).to.deep.equal([3, 5, undefined, undefined]);
  });

  it('adds images to what no cache had', () => {
    const images = { tokens: 300, countedFrom: 100 };
    const counts = { input: 9, cacheRead: 90, output: 5 };
    expect(bill('finished', [split(counts)], { images })).to.deep.equal({ ...counts, input: 309 });
    const enough = { ...counts, cacheRead: 91 };
    expect(bill('finished', [split(enough)], { images })).to.deep.equal(enough);
  });

  it('takes over parts in any number of arrays', () => {
    const meter = new Meter(LIMITS);
    for (const part of [usage(7, 0), delta('ab'), delta('cd'), delta('e'), usage(7, 2)]) meter.push([part]);
    meter.push([]);
    expect(meter.bill('finished')).to.deep.equal({ input: 7, output: 2 });
    expect(meter.bill('cut')).to.deep.equal({ input: 7, output: 2 });
  });

  it('tells what has been used so far, as if the answer were cut off now', () => {
    const meter = new Meter(LIMITS);
    expect(meter.used()).to.deep.equal({ input: 11, output: 0 });
    meter.push([usage(7, 2), words(3)]);
    expect(meter.used()).to.deep.equal({ input: 7, output: 3 });
    meter.push([usage(8, 40), words(900)]);
    expect(meter.used()).to.deep.equal({ input: 8, output: 500 });
  });

  it('tells whether more has been used, on either side', () => {
    const meter = new Meter(LIMITS);
    meter.push([usage(7, 2), words(3)]);
    expect(meter.exceeds({ input: 7, output: 3 })).to.equal(false);
    expect(meter.exceeds({ input: 6, output: 9 })).to.equal(true);
    expect(meter.exceeds({ input: 9, output: 2 })).to.equal(true);
  });

  const unbelievable: readonly unknown[] = [
    -1,
    0.5,
    41.999,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.MAX_SAFE_INTEGER + 1,
    1e300,
    '42',
    '',
    true,
    42n,
    [42],
    {},
    null,
    undefined,
    Symbol('42'),
    {
      valueOf: () => 42,
      toString: () => {
        throw new Error('read');
      },
    },
  ];
  for (const count of unbelievable) {
    const name = typeof count === 'object' ? JSON.stringify(count) : `${typeof count} ${String(count)}`;

    it(`estimates in place of ${name}`, () => {
      const input = bill('finished', [words(100), usage(count, 42)]);
      expect(input).to.include({ input: 11, output: 42 });
      expect(input.doubt).to.contain('input').and.not.to.contain('output');
      const output = bill('finished', [words(100), usage(7, count)]);
      expect(output).to.include({ input: 7, output: 100 });
      expect(output.doubt).to.contain('output').and.not.to.contain('input');
    });
  }

  it('believes an input above its limit up to that', () => {
    expect(bill('finished', [words(9), usage(1000, 9)])).to.deep.equal({ input: 1000, output: 9 });
    for (const count of [1001, Number.MAX_SAFE_INTEGER]) {
      const { doubt, ...tokens } = bill('finished', [words(9), usage(count, 9)]);
      expect(tokens).to.deep.equal({ input: 1000, output: 9 });
      expect(doubt).to.equal(`usage reported as input ${count}`);
    }
  });

  it('does not believe an input of zero', () => {
    expect(bill('finished', [words(9), usage(0, 9)])).to.include({ input: 11 });
  });

  it('believes an output of zero only without text', () => {
    expect(bill('finished', [usage(7, 0)])).to.deep.equal({ input: 7, output: 0 });
    expect(bill('finished', [words(3), usage(7, 0)])).to.include({ output: 3 });
    expect(bill('finished', [delta('\udc00'), usage(7, 0)]).doubt).to.contain('output 0');
  });

  it('estimates both sides when nothing was reported', () => {
    const { doubt, ...tokens } = bill('finished', [delta('12345')]);
    expect(tokens).to.deep.equal({ input: 11, output: 2 });
    expect(doubt).to.equal('usage reported as input none, output none');
  });

  it('never bills more output than max_tokens', () => {
    expect(bill('finished', [words(501)])).to.include({ output: 500 });
    expect(bill('cut', [words(501)])).to.include({ output: 500 });
    expect(bill('finished', [words(600), usage(7, 600)])).to.include({ output: 500 });
  });

  it('bills an answer that was cut off for the larger of the last report and its text', () => {
    expect(bill('cut', [words(100), usage(7, 42)])).to.deep.equal({ input: 7, output: 100 });
    expect(bill('cut', [words(10), usage(7, 42)])).to.deep.equal({ input: 7, output: 42 });
    expect(bill('cut', [words(10)])).to.include({ input: 11, output: 10 });
    expect(bill('cut', [])).to.include({ input: 11, output: 0 });
    expect(bill('cut', [words(10), usage(7, 501)])).to.deep.equal({ input: 7, output: 500 });
  });

  it('does not look at the counts of an upstream that is not trusted', () => {
    const options = { trusted: false, outputMax: Number.POSITIVE_INFINITY };
    expect(bill('finished', [words(900), usage(7, 1)], options)).to.deep.equal({ input: 11, output: 900 });
    expect(bill('cut', [words(900), usage(7, 9999)], options)).to.deep.equal({ input: 11, output: 900 });
    expect(bill('finished', [], options)).to.deep.equal({ input: 11, output: 0 });
  });

  it('knows the input before the end', () => {
    const meter = new Meter(LIMITS);
    expect(meter.promptSoFar()).to.deep.equal({ input: 11 });
    meter.push([usage(-1, 0)]);
    expect(meter.promptSoFar()).to.deep.equal({ input: 11 });
    meter.push([usage(7, 0)]);
    expect(meter.promptSoFar()).to.deep.equal({ input: 7 });
  });

  it('bills a report above max_tokens as max_tokens, however little text there was', () => {
    for (const output of [501, 30_000, 1e15]) {
      expect(bill('finished', [words(9), usage(7, output)])).to.deep.equal({ input: 7, output: 500 });
    }
  });

  it('counts what nobody is shown like what is delivered', () => {
    const hidden: StreamPart = { type: 'hidden', text: 'word'.repeat(300) };
    expect(bill('cut', [words(10), hidden])).to.include({ output: 310 });
    expect(bill('finished', [hidden, usage(7, 0)])).to.include({ output: 300 });
    expect(bill('finished', [hidden], { trusted: false })).to.include({ output: 300 });
  });

  it('adds the parts of a prompt up, each by its last number', () => {
    const counts = (input: number, cacheRead: number, cacheWrite = 0): StreamPart => {
      return { type: 'usage', input, cacheRead, cacheWrite, output: 1 };
    };
    const billed = (...parts: readonly StreamPart[]) => bill('finished', [...parts, words(1)]);
    expect(billed(counts(2, 500, 30))).to.deep.equal({ input: 2, cacheRead: 500, cacheWrite: 30, output: 1 });
    expect(billed(counts(2, 500), words(1), counts(502, 0))).to.deep.equal({ input: 502, output: 1 });
    const rare = { type: 'usage', cacheWrite1h: 9, cacheRead: 1, output: 1 } as const;
    expect(billed(rare)).to.deep.equal({ input: 0, cacheRead: 1, cacheWrite1h: 9, output: 1 });
    const meter = new Meter(LIMITS);
    meter.push([rare]);
    expect(countPrompt(meter.promptSoFar())).to.equal(10);
    expect([meter.exceeds({ input: 10, output: 1 }), meter.exceeds({ input: 9, output: 1 })]).to.deep.equal([
      false,
      true,
    ]);
  });

  it('believes a prompt in all its parts or in none, and what is from the cache first', () => {
    const billed = (counts: object) => bill('finished', [{ type: 'usage', output: 1, ...counts } as StreamPart]);
    for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      for (const name of ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h']) {
        const { doubt, ...tokens } = billed({ input: 5, cacheRead: 5, [name]: bad });
        expect(tokens, `${name} ${bad}`).to.deep.equal({ input: LIMITS.inputEstimate, output: 1 });
        expect(doubt).to.match(/^usage reported as input /);
      }
    }
    const above = (counts: object) => {
      const { doubt, ...tokens } = billed(counts);
      expect(doubt).to.match(/^usage reported as input \d+$/);
      return tokens;
    };
    expect(above({ input: 600, cacheRead: 700 })).to.deep.equal({ input: 300, cacheRead: 700, output: 1 });
    expect(above({ input: 5, cacheRead: 1e12, cacheWrite: 7 })).to.deep.equal({ input: 0, cacheRead: 1000, output: 1 });
  });

  it('counts reasoning apart, never more of it than there is output', () => {
    const billed = (ending: 'finished' | 'cut', output: unknown, reasoning: unknown) =>
      bill(ending, [words(9), { type: 'usage', input: 7, output, reasoning } as StreamPart]);
    expect(billed('finished', 40, 30)).to.deep.equal({ input: 7, output: 40, reasoning: 30 });
    expect(billed('cut', 40, 30)).to.deep.equal({ input: 7, output: 40, reasoning: 30 });
    expect(billed('finished', 40, 41)).to.deep.equal({ input: 7, output: 40, reasoning: 40 });
    expect(billed('finished', 900, 800)).to.deep.equal({ input: 7, output: 500, reasoning: 500 });
    for (const none of [0, -1, 0.5, Number.NaN, '3'])
      expect(billed('finished', 40, none), `${none}`).to.deep.equal({ input: 7, output: 40 });
  });

  it('adds images to what is not from the cache', () => {
    const images = { tokens: 300, countedFrom: 100 };
    const counts = { type: 'usage', input: 9, cacheRead: 50, output: 1 } as const;
    expect(bill('finished', [counts], { images })).to.deep.equal({ input: 309, cacheRead: 50, output: 1 });
  });

  it('counts words whole, however they arrive and however long the text is', () => {
    const counted: string[] = [];
    const meter = new Meter({ ...LIMITS, estimateTokens: (text) => counted.push(text) });
    const text = 'some words '.repeat(300);
    for (let at = 0; at < text.length; at += 7) meter.push([delta(text.slice(at, at + 7))]);
    meter.used();
    expect(counted.join('')).to.equal(text);
    expect(counted.length).to.be.within(4, 12);
    for (const piece of counted.slice(1)) expect(piece).to.match(/^ ?(some|words)( |$)/);
  });

  describe('characters', () => {
    it('are counted as people do', () => {
      expect(countCharacters('')).to.equal(0);
      expect(countCharacters('abc')).to.equal(3);
      expect(countCharacters('привет')).to.equal(6);
      expect(countCharacters('👋🏽')).to.equal(2);
      expect(countCharacters('a👋b')).to.equal(3);
    });

    it('come to the same however a text is cut, also within a pair', () => {
      fc.assert(
        fc.property(fc.string({ unit: fc.constantFrom('a', 'я', '👋', '🏽', '\n') }), fc.nat(), (text, at) => {
          const cut = text.length === 0 ? 0 : at % text.length;
          expect(countCharacters(text.slice(0, cut)) + countCharacters(text.slice(cut))).to.equal([...text].length);
        }),
      );
    });

    it('make a quarter of tokens, rounded up', () => {
      expect([0, 1, 4, 5, 8, 9].map(convertToTokens)).to.deep.equal([0, 1, 1, 2, 2, 3]);
    });
  });

  it('bills whole tokens within the limits, whatever comes by', () => {
    const count = fc.oneof(fc.integer(), fc.double(), fc.nat(600), fc.anything());
    const part = fc.oneof(
      fc.tuple(count, count).map(([input, output]) => usage(input, output)),
      fc.string({ maxLength: 3000 }).map(delta),
      fc.nat(1000).map(words),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }),
        fc.boolean(),
        fc.constantFrom('finished' as const, 'cut' as const),
        (parts, trusted, ending) => {
          const { input, output, doubt } = bill(ending, parts, { trusted });
          for (const tokens of [input, output]) expect(BigInt(tokens) >= 0n).to.equal(true);
          expect(output).to.be.at.most(LIMITS.outputMax);
          expect(input).to.be.at.most(LIMITS.inputMax);
          expect(doubt === undefined || trusted).to.equal(true);
        },
      ),
      { numRuns: longer(150, 2000) },
    );
  });
});
