// The fault campaign of `npm run faults`: it finds what is broken, and one of its faults breaks nothing.
import { expect } from 'chai';
import { runCampaign } from '../../scripts/faults/campaign.ts';
import { FAULTS, type Fault } from '../../scripts/faults/faults.ts';
import { damageWallet } from '../../testkit/damage.ts';

const MINUTES = 1;

describe('the fault campaign', function () {
  this.timeout(180_000);
  const lines: string[] = [];
  const run = (store: 'sqlite' | 'mongodb', faults: readonly Fault[], stepsMax: number) =>
    runCampaign({ store, seed: 1, faults, minutes: MINUTES, stepsMax, say: (line) => void lines.push(line) });

  it('ends at the first broken invariant', async () => {
    const theft: Fault = {
      name: 'theft',
      stores: ['sqlite'],
      async run({ databaseUrl, accounts }) {
        await damageWallet(databaseUrl, accounts[0]?.id ?? '', { avail: -1n, charged: 1n });
        return 'of a micro-rouble';
      },
    };
    const { steps, told, problems } = await run('sqlite', [theft], 5);
    expect([steps, told > 0]).to.deep.equal([1, true]);
    expect(problems.join()).to.match(/acc_\w+: .*charged/);
    expect(lines.at(-1)).to.match(/^sqlite step 1: theft of a micro-rouble; \d+ calls, \d+ answered 200; BROKEN$/);
  });

  for (const store of ['sqlite', 'mongodb'] as const) {
    it(`finds nothing on ${store} after a row was damaged and repaired`, async () => {
      const damaged = FAULTS.filter(({ name }) => name === 'damaged row');
      const { steps, calls, problems } = await run(store, damaged, 1);
      expect([steps, ...problems]).to.deep.equal([1]);
      expect(calls).to.be.above(0);
    });
  }
});
