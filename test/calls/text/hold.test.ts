// What a call holds: the prices of writing to a cache count only if the call can cause that.
import { expect } from 'chai';
import { computeHold, listCacheWrites } from '../../../lib/calls/text/hold.ts';
import type { TextRequest } from '../../../lib/calls/text/request.ts';
import type { TextModel } from '../../../lib/catalog/model.ts';
import type { TextPrice } from '../../../lib/money/price.ts';

const PRICE: TextPrice = {
  input: 2_000_000n,
  cacheRead: 200_000n,
  cacheWrite: 2_500_000n,
  cacheWrite1h: 4_000_000n,
  output: 10_000_000n,
};

/** Whether each route takes markers. */
const modelOf = (price: TextPrice, ...taking: readonly (boolean | undefined)[]) =>
  ({ price, routes: taking.map((cacheMarkers) => ({ provider: { cacheMarkers } })) }) as unknown as TextModel;

const requestOf = (more: Partial<TextRequest> = {}): TextRequest => ({
  model: 'm',
  system: undefined,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  messageCount: 1,
  images: 0,
  maxTokens: 512,
  stream: false,
  ...more,
});
const marked = (ttl: '5m' | '1h') => ({ type: 'text', text: 'hi', cache: { ttl } }) as const;

describe('what a text call may write to a cache', () => {
  const all = ['cacheWrite', 'cacheWrite1h'];

  it('is nothing without a marker, for vendors that take markers', () => {
    expect(listCacheWrites(modelOf(PRICE, true), requestOf())).to.deep.equal([]);
    expect(listCacheWrites(modelOf(PRICE, undefined, true), requestOf())).to.deep.equal([]);
  });

  it('is what its markers ask for, wherever they are', () => {
    const places: readonly ((ttl: '5m' | '1h') => Partial<TextRequest>)[] = [
      (ttl) => ({ system: [marked(ttl)] }),
      (ttl) => ({ tools: { text: '', list: [{ name: 't', schema: {}, cache: { ttl } }] } as never }),
      (ttl) => ({ messages: [{ role: 'user', content: [marked(ttl)] }] }),
      (ttl) => ({
        messages: [
          {
            role: 'user',
            content: [{ type: 'tool-result', id: 'c', name: 't', isError: false, content: [], cache: { ttl } }],
          },
        ],
      }),
      (ttl) => ({
        messages: [
          {
            role: 'user',
            content: [{ type: 'tool-result', id: 'c', name: 't', isError: false, content: [marked(ttl)] }],
          },
        ],
      }),
    ];
    for (const at of places) {
      expect(listCacheWrites(modelOf(PRICE, true), requestOf(at('5m')))).to.deep.equal(['cacheWrite']);
      expect(listCacheWrites(modelOf(PRICE, true), requestOf(at('1h')))).to.deep.equal(all);
    }
  });

  it('is for five minutes if the gateway sets the markers', () => {
    const model = { ...modelOf(PRICE, true), cache: 'auto' } as const;
    expect(listCacheWrites(model, requestOf())).to.deep.equal(['cacheWrite']);
    expect(listCacheWrites(model, requestOf({ system: [marked('1h')] }))).to.deep.equal(all);
  });

  it('is everything that has a price, for vendors that write by themselves', () => {
    expect(listCacheWrites(modelOf(PRICE, undefined, false), requestOf())).to.deep.equal(all);
    const { cacheWrite1h: _, ...short } = PRICE;
    expect(listCacheWrites(modelOf(short, undefined), requestOf())).to.deep.equal(['cacheWrite']);
    const band = { above: 10, input: 1n, cacheWrite1h: 2n, output: 1n };
    expect(listCacheWrites(modelOf({ input: 1n, output: 1n, bands: [band] }), requestOf())).to.deep.equal([
      'cacheWrite1h',
    ]);
  });

  it('does not matter without a price of writing', () => {
    const { cacheWrite: _, cacheWrite1h: __, ...read } = PRICE;
    for (const takes of [true, undefined]) {
      const request = requestOf({ system: [marked('1h')] });
      expect(listCacheWrites(modelOf(read, takes), request)).to.deep.equal([]);
    }
  });
});

describe('what a text call holds', () => {
  const banded: TextPrice = { ...PRICE, bands: [{ above: 110_512, input: 3_000_000n, output: 20_000_000n }] };

  it('covers a tenth more tokens than are held, and 512, in choosing the band', () => {
    const hold = (tokensHeld: number) => computeHold({ price: banded }, { tokensHeld, maxTokens: 100_000 });
    expect(hold(100_000)).to.equal(1_200_000n);
    expect(hold(100_001)).to.equal(2_300_003n);
  });

  it('takes the dearest price of recordings for their tokens', () => {
    const hold = (audioTokens?: number) =>
      computeHold({ price: { ...PRICE, audio: 6_000_000n } }, { tokensHeld: 100_000, audioTokens, maxTokens: 100_000 });
    expect([hold(), hold(50_000), hold(100_000)]).to.deep.equal([1_200_000n, 1_400_000n, 1_600_000n]);
  });

  it('takes the dearest price of writing', () => {
    const hold = (writes: readonly ('cacheWrite' | 'cacheWrite1h')[]) =>
      computeHold({ price: PRICE }, { tokensHeld: 100_000, maxTokens: 100_000, writes });
    expect([hold([]), hold(['cacheWrite']), hold(['cacheWrite', 'cacheWrite1h'])]).to.deep.equal([
      1_200_000n,
      1_250_000n,
      1_400_000n,
    ]);
  });
});
