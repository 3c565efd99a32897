import { expect } from 'chai';
import { type CachedPrompts, countAsRead, createCachedPrompts } from '../../../lib/calls/text/cached-prompts.ts';

const MINUTE_MS = 60_000;

describe('cached prompts of conversations', () => {
  let now: number;
  let prompts: CachedPrompts;

  beforeEach(() => {
    now = 1000;
    prompts = createCachedPrompts(() => now);
  });

  const countLost = (conversation: string, place: string) => prompts.countLost(conversation, place, now);

  it('are lost elsewhere, as much as was read and written there last', () => {
    prompts.note('c', 'one', { input: 5, cacheWrite: 100, output: 1 });
    expect([countLost('c', 'one'), countLost('c', 'two')]).to.deep.equal([0, 100]);
    prompts.note('c', 'one', { input: 5, cacheRead: 100, cacheWrite: 20, cacheWrite1h: 3, output: 1 });
    expect(countLost('c', 'two')).to.equal(123);
    expect(countLost('d', 'two')).to.equal(0);
  });

  it('are where the last call left something', () => {
    prompts.note('c', 'one', { input: 5, cacheWrite: 100, output: 1 });
    prompts.note('c', 'two', { input: 105, output: 1 });
    expect(countLost('c', 'two')).to.equal(100);
    prompts.note('c', 'two', { input: 5, cacheRead: 90, output: 1 });
    expect([countLost('c', 'two'), countLost('c', 'one')]).to.deep.equal([0, 90]);
  });

  it('are lost to nobody after five minutes, or an hour, without a call', () => {
    prompts.note('c', 'one', { input: 5, cacheWrite: 100, output: 1 });
    now += 5 * MINUTE_MS - 1;
    expect(countLost('c', 'two')).to.equal(100);
    now += 1;
    expect(countLost('c', 'two')).to.equal(0);
    prompts.note('c', 'one', { input: 5, cacheWrite1h: 100, output: 1 });
    now += 50 * MINUTE_MS;
    prompts.note('c', 'one', { input: 5, cacheRead: 100, output: 1 });
    expect(countLost('c', 'two')).to.equal(100);
    now += 10 * MINUTE_MS;
    expect(countLost('c', 'two')).to.equal(0);
  });

  it('are forgotten, those first that were not used for longest', () => {
    prompts.note('first', 'one', { input: 5, cacheWrite: 7, output: 1 });
    prompts.note('second', 'one', { input: 5, cacheWrite: 7, output: 1 });
    prompts.note('first', 'one', { input: 5, cacheRead: 7, output: 1 });
    for (let at = 0; at < 9_999; at += 1) prompts.note(`c${at}`, 'one', { input: 5, cacheWrite: 7, output: 1 });
    expect([countLost('first', 'two'), countLost('second', 'two')]).to.deep.equal([7, 0]);
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

  it('are the same without any', () => {
    expect(countAsRead({ input: 7, output: 3 }, 0)).to.deep.equal({ input: 7, output: 3 });
    expect(countAsRead({ input: 7, output: 3 }, 4)).to.deep.equal({ input: 3, cacheRead: 4, output: 3 });
  });
});
