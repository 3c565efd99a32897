// Attempts under several names: counted under all of them, or under none.
import { expect } from 'chai';
import { countAttempt } from '../../lib/users/attempts.ts';

describe('attempts under several names', () => {
  const names = ['address', 'mail', 'link'].map((name) => ({ name, waitsMs: [0, 5000], windowMs: 60_000 }));

  /** A store in which each of these names has to wait once it is counted: others were faster since it was read. */
  async function count(...late: readonly string[]) {
    const counts = new Map<string, number>();
    const add = (name: string, more: number) => counts.set(name, (counts.get(name) ?? 0) + more);
    const store = {
      attempts: async () => undefined,
      count: async (name: string) => {
        if (late.includes(name)) return 4001;
        add(name, 1);
        return 0;
      },
      uncount: async (name: string) => void add(name, -1),
    };
    return { seconds: await countAttempt(store, names, 1_800_000_000_000), counts: Object.fromEntries(counts) };
  }

  it('are counted under each of them', async () => {
    expect(await count()).to.deep.equal({ seconds: 0, counts: { address: 1, mail: 1, link: 1 } });
  });

  it('are taken back if a later name has to wait, which tells the seconds', async () => {
    expect(await count('address')).to.deep.equal({ seconds: 5, counts: {} });
    expect(await count('link')).to.deep.equal({ seconds: 5, counts: { address: 0, mail: 0 } });
  });
});
