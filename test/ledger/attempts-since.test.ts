// Since when calls of a store must have attempts: noted once, and never in a store that no gateway has used.
import { expect } from 'chai';
import { noteAttemptsSince, readAttemptsSince } from '../../lib/ledger/attempts-since.ts';

function settings() {
  const values = new Map<string, string>();
  return {
    get: async (name: string) => values.get(name),
    set: async (name: string, value: string) => void values.set(name, value),
  };
}

describe('since when attempts are booked', () => {
  it('is noted by the first start, and stays', async () => {
    const store = settings();
    expect(await readAttemptsSince(store)).to.equal(Number.POSITIVE_INFINITY);
    await noteAttemptsSince(store, 1_800_000_000_000);
    await noteAttemptsSince(store, 1_900_000_000_000);
    expect(await readAttemptsSince(store)).to.equal(1_800_000_000_000);
  });

  it('is never if the setting cannot be read as a time', async () => {
    const store = settings();
    await store.set('attempts.since', 'soon');
    expect(await readAttemptsSince(store)).to.equal(Number.POSITIVE_INFINITY);
  });
});
