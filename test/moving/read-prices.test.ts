// Prices of another gateway: which of several applies, and which mistakes are named.
import { expect } from 'chai';
import { type Decimal, formatDecimal } from '../../lib/moving/amounts.ts';
import { createPriceFinder } from '../../lib/moving/read-prices.ts';
import type { SourcePrice } from '../../lib/moving/source.ts';

describe('prices of another gateway', () => {
  const ofTable = (row: object) => {
    const prices = [
      new Map<string, string | null>(Object.entries({ model: 'm', type: 'tokens', output: '0', ...row })),
    ];
    return createPriceFinder({ program: 'one-hub', options: new Map(), prices });
  };
  const ofOptions = (options: object) =>
    createPriceFinder({
      program: 'new-api',
      options: new Map(Object.entries(options).map(([name, value]) => [name, JSON.stringify(value)])),
      prices: [],
    });
  const describePrice = (found: SourcePrice | undefined) => {
    const parts = Object.entries(found ?? {}) as [string, string | Decimal | undefined][];
    return Object.fromEntries(
      parts.flatMap(([name, value]) =>
        value === undefined ? [] : [[name, typeof value === 'string' ? value : formatDecimal(value)]],
      ),
    );
  };

  it('in a table are 0.002 dollars a call for a ratio of one, or ratios of tokens', () => {
    const calls = ofTable({ type: 'times', input: '1.5' });
    expect(describePrice(calls('m', '1'))).to.deep.equal({ per: 'call', dollars: '0.003' });
    expect(calls('other', '1')).to.equal(undefined);
    const cached = { cached_tokens: 0.5, cached_read_tokens: 0.1, cached_write_tokens: 1.25 };
    const extra = JSON.stringify({ ...cached, input_audio_tokens: 3, output_audio_tokens: 9 });
    const tokens = ofTable({ input: '2', output: '8', extra_ratios: extra });
    expect(describePrice(tokens('m', '1'))).to.deep.equal({
      ...{ per: 'token', input: '2', output: '8', audio: '6', cacheRead: '0.2', cacheWrite: '2.5' },
    });
    const older = ofTable({ input: '2', output: '8', extra_ratios: '{"cached_tokens":0.5}' });
    expect(describePrice(older('m', '1')))
      .to.include({ cacheRead: '1' })
      .and.not.to.have.any.keys('audio', 'cacheWrite');
  });

  it('in options are those of a call before those of tokens, and of a type of channel before those of all', () => {
    const find = ofOptions({
      ModelRatio: { m: 2, 'm(14)': 3, both: 1 },
      CompletionRatio: { m: 4, 'm(14)': 5 },
      AudioRatio: { m: 3 },
      CacheRatio: { m: 0.1 },
      CreateCacheRatio: { m: 1.25 },
      ModelPrice: { both: 0.04 },
    });
    const more = { audio: '6', cacheRead: '0.2', cacheWrite: '2.5' };
    expect(describePrice(find('m', '1'))).to.deep.equal({ per: 'token', input: '2', output: '8', ...more });
    expect(describePrice(find('m', '14'))).to.include({ input: '3', output: '15' });
    expect(describePrice(find('both', '1'))).to.deep.equal({ per: 'call', dollars: '0.04' });
    expect(find('other', '1')).to.equal(undefined);
  });

  it('are zero or more', () => {
    expect(describePrice(ofTable({ input: '0' })('m', '1'))).to.include({ input: '0' });
    expect(() => ofTable({ input: '-1' })).to.throw('the price of m: not a number of zero or more: "-1"');
    expect(() => ofOptions({ ModelRatio: { m: 'x' } })).to.throw('the option ModelRatio: m: not a number of zero');
  });
});
