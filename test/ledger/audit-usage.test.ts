// The audit of folded usage beside a running gateway: what is folded meanwhile is looked at again, and is no damage.
import { expect } from 'chai';
import { checkUsage } from '../../lib/ledger/audit-usage.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { type Behaviour, type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { applied, charge } from '../contract/store/context.ts';

describe('the audit of folded usage', () => {
  let faulty: FaultyStore;
  let wallet: string;
  let looks: number;

  beforeEach(async () => {
    faulty = await openFaultyStore();
    wallet = await faulty.wallet();
    looks = 0;
    await fold();
  });
  afterEach(() => faulty.close());

  /** One more call, which is in the sums at once. */
  async function fold(): Promise<void> {
    await applied(faulty.real, charge(wallet));
    await foldUsage(faulty.real, wallet);
  }
  const foldedMeanwhile: Behaviour = async (call) => {
    looks += 1;
    await fold();
    return call();
  };
  async function problems(): Promise<readonly string[]> {
    const found: string[] = [];
    await checkUsage(faulty.store, (id, problem) => found.push(`${id === wallet} ${problem}`));
    return found;
  }

  it('looks again when a fold came between its reads', async () => {
    faulty.next('usage.sums', foldedMeanwhile);
    expect(await problems()).to.deep.equal([]);
    expect(looks).to.equal(1);
  });

  it('leaves a wallet to the next audit that is folded all the time', async () => {
    faulty.always('usage.sums', foldedMeanwhile);
    expect(await problems()).to.deep.equal([]);
    expect(looks).to.equal(3);
  });

  it('tells what is wrong after a fold as before', async () => {
    const cursor = await faulty.real.usage.cursor(wallet);
    const counts = { calls: 0, charged: 1n, refunded: 0n, tokensInput: 0, tokensOutput: 0, images: 0, seconds: 0 };
    const hour = { hour: 0, key: 'key_1', model: 'm', kind: 'text', ...counts } as const;
    await faulty.real.usage.add({ wallet, from: cursor, to: cursor, hours: [hour] });
    faulty.next('usage.sums', foldedMeanwhile);
    expect(await problems()).to.deep.equal(['true folded usage: 2000001 charged at entry 3, the journal has 2000000']);
  });
});
