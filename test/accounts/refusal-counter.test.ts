// The counts of refused requests: one row for each key, reason and hour, and nothing lost while the store fails.
import { expect } from 'chai';
import { createRefusalCounter } from '../../lib/accounts/refusal-counter.ts';
import { HOUR_MS } from '../../lib/base/durations.ts';
import type { Refusal } from '../../lib/store/ports/refusals.ts';
import { StoreError } from '../../lib/store/store.ts';

const HOUR = Date.UTC(2026, 10, 26, 9);
const REQUEST = { account: 'acc', key: 'key', code: 'no_funds', status: 402, message: 'Top up.' };

function openCounter() {
  const rig = { now: HOUR + 7, failure: undefined as Error | undefined, added: [] as Refusal[][], errors: 0 };
  const counter = createRefusalCounter({
    store: {
      add: async (refusals) => {
        if (rig.failure) throw rig.failure;
        rig.added.push([...refusals]);
      },
    },
    flushMs: 5,
    onError: () => {
      rig.errors += 1;
    },
    clock: () => rig.now,
  });
  return { rig, counter };
}

describe('the counter of refused requests', () => {
  it('adds one row for each key, reason and hour, with the latest message', async () => {
    const { rig, counter } = openCounter();
    counter.note(REQUEST);
    rig.now += 1;
    counter.note({ ...REQUEST, message: 'Top up now.' });
    counter.note({ ...REQUEST, code: 'rate_limited', status: 429 });
    counter.note({ ...REQUEST, key: 'other', message: 'x'.repeat(900) });
    rig.now += HOUR_MS;
    counter.note(REQUEST);
    await counter.close();
    expect(rig.added).to.deep.equal([
      [
        { ...REQUEST, hour: HOUR, count: 2, lastAt: HOUR + 8, message: 'Top up now.' },
        { ...REQUEST, hour: HOUR, count: 1, lastAt: HOUR + 8, code: 'rate_limited', status: 429 },
        { ...REQUEST, hour: HOUR, count: 1, lastAt: HOUR + 8, key: 'other', message: 'x'.repeat(500) },
        { ...REQUEST, hour: HOUR + HOUR_MS, count: 1, lastAt: HOUR + HOUR_MS + 8 },
      ],
    ]);
  });

  it('keeps the counts while the store fails, which it reports once, and adds them later', async () => {
    const { rig, counter } = openCounter();
    rig.failure = new Error('away');
    counter.note(REQUEST);
    while (rig.errors === 0) await new Promise(setImmediate);
    rig.now += 1;
    counter.note({ ...REQUEST, message: 'later' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([rig.errors, rig.added]).to.deep.equal([1, []]);
    rig.failure = undefined;
    while (rig.added.length === 0) await new Promise(setImmediate);
    expect(rig.added).to.deep.equal([[{ ...REQUEST, hour: HOUR, count: 2, lastAt: HOUR + 8, message: 'later' }]]);
    await counter.close();
    expect(rig.added).to.have.length(1);
  });

  for (const [what, error] of [
    ['may have been added', new StoreError('late', 'unknown')],
    ['the store cannot take', new StoreError('odd', 'no', undefined, 'batch')],
  ] as const) {
    it(`does not send again what ${what}, but the rest`, async () => {
      const { rig, counter } = openCounter();
      for (let at = 0; at < 501; at += 1) counter.note({ ...REQUEST, key: `key_${at}` });
      rig.failure = error;
      while (rig.errors === 0) await new Promise(setImmediate);
      rig.failure = undefined;
      await counter.close();
      expect(rig.added).to.deep.equal([[{ ...REQUEST, key: 'key_500', hour: HOUR, count: 1, lastAt: HOUR + 7 }]]);
    });
  }

  it('keeps no more than ten thousand counts, and adds them in parts', async () => {
    const { rig, counter } = openCounter();
    for (let at = 0; at < 10_001; at += 1) counter.note({ ...REQUEST, key: `key_${at}` });
    counter.note({ ...REQUEST, key: 'key_0' });
    await counter.close();
    expect(rig.added.map((part) => part.length)).to.deep.equal(Array(20).fill(500));
    expect(rig.added[0]?.[0]?.count).to.equal(2);
  });
});
