// The cost and the hold of a call with audio, cached tokens and bands, against exact fractions.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type CacheWrite,
  countHeldTokens,
  countPrompt,
  findDearestRate,
  findRates,
  listRates,
  TEXT_MINIMUM,
  type TextPrice,
  TOKEN_RATES,
  type TokenRates,
  type Tokens,
  textCost,
  textHold,
} from '../../lib/money/price.ts';
import { readTextPrice, serializePrice } from '../../lib/money/stored-price.ts';
import { nameTokens, readTokens } from '../../lib/money/token-usage.ts';
import { longer } from '../../testkit/long.ts';

const RATES: TokenRates = { input: 2_000_000n, output: 10_000_000n };
const CACHED: TokenRates = { ...RATES, cacheRead: 200_000n, cacheWrite: 2_500_000n, cacheWrite1h: 4_000_000n };
const SPOKEN: TokenRates = { ...CACHED, audio: 6_000_000n };
const BAND = { above: 200_000, input: 4_000_000n, cacheRead: 400_000n, output: 15_000_000n };
const BANDED: TextPrice = { ...CACHED, bands: [BAND, { above: 500_000, input: 6_000_000n, output: 20_000_000n }] };

const rate = fc.bigInt({ min: 1n, max: 100_000_000_000n });
const rates = fc.record(
  { input: rate, audio: rate, cacheRead: rate, cacheWrite: rate, cacheWrite1h: rate, output: rate },
  { requiredKeys: ['input', 'output'] },
);
const price: fc.Arbitrary<TextPrice> = fc
  .tuple(
    rates,
    fc.uniqueArray(fc.integer({ min: 1, max: 3_000_000 }), { maxLength: 3 }),
    fc.array(rates, { minLength: 3 }),
  )
  .map(([own, limits, others]) => {
    const bands = limits
      .sort((one, other) => one - other)
      .map((above, at) => ({ above, ...(others[at] as TokenRates) }));
    return bands.length > 0 ? { ...own, bands } : own;
  });
const count = fc.oneof(fc.nat(100), fc.nat(1_000_000));
const tokens: fc.Arbitrary<Tokens> = fc.record(
  {
    input: count,
    audio: count,
    cacheRead: count,
    cacheWrite: count,
    cacheWrite1h: count,
    output: count,
    reasoning: count,
  },
  { requiredKeys: ['input', 'output'] },
);

/** The cost in millionths of a micro-rouble, written another way than the code that is tested. */
function costExactly({ bands = [], ...own }: TextPrice, used: Tokens): bigint {
  const { input, audio = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output } = used;
  const prompt = input + audio + cacheRead + cacheWrite + cacheWrite1h;
  let at: TokenRates = own;
  for (const band of bands) if (prompt > band.above) at = band;
  const exact =
    BigInt(input) * at.input +
    BigInt(audio) * (at.audio ?? at.input) +
    BigInt(cacheRead) * (at.cacheRead ?? at.input) +
    BigInt(cacheWrite) * (at.cacheWrite ?? at.input) +
    BigInt(cacheWrite1h) * (at.cacheWrite1h ?? at.input) +
    BigInt(output) * at.output;
  return exact < TEXT_MINIMUM * 1_000_000n ? TEXT_MINIMUM * 1_000_000n : exact;
}

describe('prices of audio, cached tokens and bands', () => {
  const rows: readonly [name: string, price: TextPrice, used: Tokens, micro: bigint][] = [
    [
      'each kind at its own price',
      CACHED,
      { input: 1_000_000, cacheRead: 500_000, cacheWrite: 200_000, cacheWrite1h: 100_000, output: 10_000 },
      3_100_000n,
    ],
    ['audio at its own price', SPOKEN, { input: 100_000, audio: 400_000, cacheRead: 100_000, output: 0 }, 2_620_000n],
    ['audio without a price of its own as input', CACHED, { input: 1, audio: 999_999, output: 0 }, 2_000_000n],
    ['audio that is cheaper', { ...RATES, audio: 1n }, { input: 500_000, audio: 1_000_000, output: 0 }, 1_000_001n],
    [
      'audio at the input price of a band without one, which it makes',
      { ...SPOKEN, bands: [BAND] },
      { input: 1, audio: 200_000, output: 0 },
      800_004n,
    ],
    ['a read alone', CACHED, { input: 0, cacheRead: 100_000_000, output: 0 }, 20_000_000n],
    ['a write for an hour alone', CACHED, { input: 0, cacheWrite1h: 1_000_000, output: 0 }, 4_000_000n],
    [
      'cached tokens without a price of their own as input',
      RATES,
      { input: 1, cacheRead: 499_999, cacheWrite: 500_000, output: 0 },
      2_000_000n,
    ],
    [
      'a prompt that just fits below a band',
      BANDED,
      { input: 100_000, cacheRead: 100_000, output: 100_000 },
      1_220_000n,
    ],
    [
      'a prompt that is in the band only with its cached part',
      BANDED,
      { input: 100_000, cacheRead: 100_001, output: 100_000 },
      1_940_000n,
    ],
    ['a write at the input price of its band', BANDED, { input: 0, cacheWrite: 300_000, output: 0 }, 1_200_000n],
    ['the last band that is exceeded', BANDED, { input: 0, cacheRead: 500_001, output: 0 }, 3_000_006n],
    ['an output that makes no band', BANDED, { input: 0, output: 1_000_000 }, 10_000_000n],
    ['reasoning within the output', CACHED, { input: 0, output: 100_000, reasoning: 90_000 }, 1_000_000n],
    ['a cheap read at the minimum', CACHED, { input: 0, cacheRead: 2_000_000, output: 0 }, 500_000n],
  ];
  for (const [name, tariff, used, micro] of rows) {
    it(`charge ${name}`, () => {
      expect(textCost(tariff, used)).to.equal(micro);
    });
  }

  it('are exact but for one rounding, half up', () => {
    fc.assert(
      fc.property(price, tokens, (tariff, used) => {
        const off = textCost(tariff, used) * 1_000_000n - costExactly(tariff, used);
        expect(off > -500_000n && off <= 500_000n, `${off}`).to.equal(true);
      }),
      { numRuns: longer(100, 1000) },
    );
  });

  it('cost the same with every price of audio or the cache left out or written as the input price', () => {
    fc.assert(
      fc.property(price, tokens, ({ bands, ...own }, used) => {
        const fill = <Some extends TokenRates>(some: Some): Some => ({
          ...{ audio: some.input, cacheRead: some.input, cacheWrite: some.input, cacheWrite1h: some.input },
          ...some,
        });
        const filled: TextPrice = { ...fill(own), ...(bands && { bands: bands.map(fill) }) };
        expect(textCost(filled, used)).to.equal(textCost({ ...own, ...(bands && { bands }) }, used));
      }),
    );
  });

  it('survive being stored with a charge', () => {
    fc.assert(
      fc.property(price, tokens, (tariff, used) => {
        expect(readTextPrice(JSON.parse(serializePrice(tariff)))).to.deep.equal(tariff);
        const read = readTokens(JSON.parse(JSON.stringify(nameTokens(used)))) ?? expect.fail('no counts');
        expect(textCost(tariff, read)).to.equal(textCost(tariff, used));
        expect(nameTokens(read)).to.deep.equal(nameTokens(used));
      }),
    );
  });

  it('are read from a charge only if each of them is an amount', () => {
    const stored = JSON.parse(serializePrice(BANDED));
    for (const bad of [1, '-1', '1.5', '', null, {}]) {
      for (const kind of TOKEN_RATES) {
        expect(readTextPrice({ ...stored, [kind]: bad }), `${kind} ${bad}`).to.equal(undefined);
        const band = { ...stored.bands[0], [kind]: bad };
        expect(readTextPrice({ ...stored, bands: [band] }), `${kind} ${bad}`).to.equal(undefined);
      }
      expect(readTextPrice({ ...stored, bands: bad })).to.equal(undefined);
      expect(readTextPrice({ ...stored, bands: [bad] })).to.equal(undefined);
      expect(readTextPrice({ ...stored, bands: [{ ...stored.bands[0], above: `${bad}` }] })).to.equal(undefined);
    }
    for (const missing of ['input', 'output']) {
      const { [missing]: _, ...rest } = stored;
      expect(readTextPrice(rest)).to.equal(undefined);
    }
  });

  it('store only the counts of audio and caches that there are', () => {
    expect(nameTokens({ input: 0, output: 0 })).to.deep.equal({ tokens_input: 0, tokens_output: 0 });
    expect(nameTokens({ input: 1, cacheRead: 0, cacheWrite1h: 2, output: 3, reasoning: 0 })).to.deep.equal({
      tokens_input: 1,
      tokens_cache_write_1h: 2,
      tokens_output: 3,
    });
    expect(nameTokens({ input: 1, audio: 2, output: 3 })).to.deep.equal({
      tokens_input: 1,
      tokens_audio: 2,
      tokens_output: 3,
    });
    expect(nameTokens({ input: 1, audio: 0, output: 3 })).to.not.have.any.keys('tokens_audio');
    expect(readTokens({ tokens_input: 1 })).to.equal(undefined);
    for (const bad of ['1', -1, 0.5, null]) {
      for (const name of ['tokens_audio', 'tokens_cache_read'])
        expect(readTokens({ tokens_input: 1, tokens_output: 1, [name]: bad }), `${bad}`).to.equal(undefined);
    }
  });
});

describe('the hold of a call with audio, cached tokens and bands', () => {
  const held = (tariff: TextPrice, input: number, writes: readonly CacheWrite[] = [], inputMost = input) =>
    textHold(tariff, { input, inputMost, maxTokens: 100_000, writes });

  it('is at the input price for a call that writes nothing', () => {
    expect(held(CACHED, 100_000)).to.equal(1_200_000n);
    expect(held(RATES, 100_000, ['cacheWrite', 'cacheWrite1h'])).to.equal(1_200_000n);
  });

  it('is at the dearest price of what the call may write', () => {
    expect(held(CACHED, 100_000, ['cacheWrite'])).to.equal(1_250_000n);
    expect(held(CACHED, 100_000, ['cacheWrite', 'cacheWrite1h'])).to.equal(1_400_000n);
    expect(held({ ...RATES, cacheWrite: 1n }, 100_000, ['cacheWrite'])).to.equal(1_200_000n);
    expect(held({ ...RATES, cacheRead: 3_000_000n }, 100_000)).to.equal(1_300_000n);
  });

  it('is at the prices of the dearest band that the prompt may reach', () => {
    expect(held(BANDED, 200_000)).to.equal(1_400_000n);
    expect(held(BANDED, 200_000, [], 200_001)).to.equal(2_300_000n);
    expect(held(BANDED, 500_001)).to.equal(5_000_006n);
    const falling = { ...RATES, bands: [{ above: 10, input: 1n, output: 1n }] };
    expect(held(falling, 100_000)).to.equal(1_200_000n);
  });

  it('knows the dearest output of all bands', () => {
    expect(findDearestRate(listRates(BANDED), ['output'])).to.equal(20_000_000n);
    expect(findDearestRate(listRates(RATES), ['output'])).to.equal(10_000_000n);
  });

  it('is at the dearest of both prices for recordings, and only for them', () => {
    const holdAudio = (tariff: TextPrice, audio: number, inputMost = 100_000) =>
      textHold(tariff, { input: 100_000, audio, inputMost, maxTokens: 100_000 });
    expect(holdAudio(SPOKEN, 0)).to.equal(1_200_000n);
    expect(holdAudio(SPOKEN, 60_000)).to.equal(1_440_000n);
    expect(holdAudio({ ...RATES, audio: 1n }, 60_000)).to.equal(1_200_000n);
    expect(holdAudio(CACHED, 60_000)).to.equal(1_200_000n);
    const bands = [{ ...BAND, audio: 9_000_000n }];
    expect(holdAudio({ ...SPOKEN, bands }, 60_000, 200_001)).to.equal(2_200_000n);
  });

  it('covers every vector within its tokens, however the prompt is split and whichever band it is in', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const split = fc.tuple(share, share, share, share, share, share);
    const all: readonly CacheWrite[] = ['cacheWrite', 'cacheWrite1h'];
    fc.assert(
      fc.property(price, fc.nat(3_000_000), split, fc.subarray([...all]), (tariff, input, parts, writes) => {
        const [whole, read, write, hour, spoken, out] = parts;
        const recordings = Math.floor(input * spoken);
        const audio = Math.floor(recordings * whole);
        let left = Math.floor(input * whole) - audio;
        const take = (part: number) => {
          const taken = Math.floor(left * part);
          left -= taken;
          return taken;
        };
        const used: Tokens = {
          cacheRead: take(read),
          cacheWrite: writes.includes('cacheWrite') ? take(write) : 0,
          cacheWrite1h: writes.includes('cacheWrite1h') ? take(hour) : 0,
          input: left,
          audio,
          output: Math.floor(1000 * out),
        };
        const estimate = { input, audio: recordings, inputMost: input, maxTokens: 1000, writes };
        expect(countPrompt(used) <= countPrompt(countHeldTokens(estimate))).to.equal(true);
        expect(textCost(tariff, used) <= textHold(tariff, estimate)).to.equal(true);
      }),
      { numRuns: longer(100, 1000) },
    );
  });

  it('finds the rates of a band by the whole prompt', () => {
    expect([0, 200_000].map((prompt) => findRates(BANDED, prompt))).to.deep.equal([BANDED, BANDED]);
    expect([200_001, 500_000].map((prompt) => findRates(BANDED, prompt))).to.deep.equal([BAND, BAND]);
    expect(findRates(BANDED, 1e9)).to.equal(BANDED.bands?.[1]);
  });
});
