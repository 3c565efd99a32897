import { expect } from 'chai';
import { MINUTE_MS } from '../../../lib/base/durations.ts';
import { type CachedPrompts, countAsRead, createCachedPrompts } from '../../../lib/calls/text/cached-prompts.ts';

describe('cached prompts', () => {
  let now: number;
  let prompts: CachedPrompts;

  beforeEach(() => {
    now = 1000;
    prompts = createCachedPrompts(() => now);
  });

  const find = (...beginnings: string[]) => prompts.find(beginnings);

  it('are found by any beginning, the longest first', () => {
    expect(find('a', 'ab')).to.equal(undefined);
    prompts.note('a', 'one', { input: 5, cacheWrite: 100, output: 1 });
    expect(find('a', 'ab')).to.include({ place: 'one', tokens: 100 });
    prompts.note('ab', 'two', { input: 5, cacheRead: 100, cacheWrite: 20, cacheWrite1h: 3, output: 1 });
    expect(find('a', 'ab', 'abc')).to.include({ place: 'two', tokens: 123 });
    expect(find('a', 'ac')).to.include({ place: 'one', tokens: 100 });
    expect(find('b', 'bc')).to.equal(undefined);
  });

  it('are where the last call left something', () => {
    prompts.note('a', 'one', { input: 5, cacheWrite: 100, output: 1 });
    prompts.note('a', 'two', { input: 105, output: 1 });
    expect(find('a')).to.include({ place: 'one', tokens: 100 });
    prompts.note('a', 'two', { input: 5, cacheRead: 90, output: 1 });
    expect(find('a')).to.include({ place: 'two', tokens: 90 });
  });

  it('are gone after five minutes, or an hour, without a call', () => {
    prompts.note('a', 'one', { input: 5, cacheWrite: 100, output: 1 });
    now += 5 * MINUTE_MS - 1;
    expect(find('a')?.tokens).to.equal(100);
    now += 1;
    expect(find('a')).to.equal(undefined);
    prompts.note('a', 'one', { input: 5, cacheWrite1h: 100, output: 1 });
    now += 50 * MINUTE_MS;
    prompts.note('ab', 'one', { input: 5, cacheRead: 100, output: 1 }, find('a', 'ab'));
    expect(find('a', 'ab')?.tokens).to.equal(100);
    now += 9 * MINUTE_MS;
    expect(find('a', 'ab')?.tokens).to.equal(100);
    now += MINUTE_MS;
    expect(find('a', 'ab')).to.equal(undefined);
  });

  it('are forgotten, those first that were not used for longest', () => {
    prompts.note('first', 'one', { input: 5, cacheWrite: 7, output: 1 });
    prompts.note('second', 'one', { input: 5, cacheWrite: 7, output: 1 });
    prompts.note('first', 'one', { input: 5, cacheRead: 7, output: 1 });
    for (let at = 0; at < 9_999; at += 1) prompts.note(`c${at}`, 'one', { input: 5, cacheWrite: 7, output: 1 });
    expect([find('first')?.tokens, find('second')]).to.deep.equal([7, undefined]);
  });
});

describe('counts as if a prompt had been read', () => {
  const COUNTED = { input: 10, cacheRead: 20, cacheWrite: 30, cacheWrite1h: 40, output: 5, reasoning: 2 };

  for (const [name, tokens, expected] of [
    ['fewer tokens than were read', 20, COUNTED],
    ['some of those written', 45, { ...COUNTED, cacheRead: 45, cacheWrite: 5 }],
    ['some of those written for an hour', 60, { input: 10, cacheRead: 60, cacheWrite1h: 30, output: 5, reasoning: 2 }],
    ['some of those that no cache had', 95, { input: 5, cacheRead: 95, output: 5, reasoning: 2 }],
    ['more than there are', 1000, { input: 0, cacheRead: 100, output: 5, reasoning: 2 }],
  ] as const) {
    it(`are those of ${name}`, () => expect(countAsRead(COUNTED, tokens)).to.deep.equal(expected));
  }

  it('take audio last', () => {
    const counted = { input: 10, audio: 30, cacheWrite: 5, output: 1 };
    expect(countAsRead(counted, 12)).to.deep.equal({ input: 3, audio: 30, cacheRead: 12, output: 1 });
    expect(countAsRead(counted, 20)).to.deep.equal({ input: 0, audio: 25, cacheRead: 20, output: 1 });
    expect(countAsRead(counted, 0)).to.deep.equal(counted);
  });

  it('are the same without any', () => {
    expect(countAsRead({ input: 7, output: 3 }, 0)).to.deep.equal({ input: 7, output: 3 });
    expect(countAsRead({ input: 7, output: 3 }, 4)).to.deep.equal({ input: 3, cacheRead: 4, output: 3 });
  });
});
