// The audit of folded usage beside a running gateway: sums folded in the meantime are compared again and not reported.
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { UNIT_COUNTS } from '../../lib/money/usage-units.ts';
import type { UsageHour } from '../../lib/store/ports/usage.ts';
import { NO_USAGE } from '../../lib/store/usage-totals.ts';
import { type Behaviour, type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { applied, charge, RUB } from '../contract/store/context.ts';

describe('the audit of folded usage', () => {
  let faulty: FaultyStore;
  let wallet: string;

  beforeEach(async () => {
    faulty = await openFaultyStore();
    wallet = await faulty.wallet();
    await fold();
  });
  afterEach(() => faulty.close());

  /** Adds a call and folds it at once. */
  async function fold(): Promise<void> {
    await applied(faulty.real, charge(wallet));
    await foldUsage(faulty.real, wallet);
  }
  const problems = async () => (await verifyLedger(faulty.store)).problems.map(({ problem }) => problem);

  it('adds entries folded after it read the journal, and subtracts entries that are not folded yet', async () => {
    await applied(faulty.real, charge(wallet));
    expect(await problems()).to.deep.equal([]);
    const foldedMeanwhile: Behaviour = async (call) => {
      await fold();
      return call();
    };
    faulty.next('usage.readAll', foldedMeanwhile);
    expect(await problems()).to.deep.equal([]);
    const { cursor } = await faulty.real.usage.readAll(wallet);
    expect(cursor).to.equal(4);
  });

  it('reports a part that was folded twice, even if a fold runs between its reads', async () => {
    const cursor = await faulty.real.usage.cursor(wallet);
    const counts = { ...NO_USAGE, charged: 1n };
    const hour = { hour: 0, key: 'key_1', model: 'm', kind: 'text', ...counts } as const;
    await faulty.real.usage.add({ wallet, from: cursor, to: cursor, hours: [hour] });
    faulty.next('usage.readAll', async (call) => {
      await fold();
      return call();
    });
    expect(await problems()).to.deep.equal([
      'folded usage of 1970-01-01T00:00:00.000Z, key_1, m, text: charged 1 instead of 0',
    ]);
  });

  const COLUMNS: readonly (keyof UsageHour)[] = [
    ...(['calls', 'charged', 'refunded', 'failed', 'cost', 'unpriced'] as const),
    ...UNIT_COUNTS,
  ];
  for (const column of COLUMNS) {
    it(`reports a changed ${column}`, async () => {
      const folded = await faulty.real.usage.readAll(wallet);
      const [first] = folded.hours as [UsageHour];
      const value = first[column];
      const other = typeof value === 'bigint' ? value + RUB : (value as number) + 1;
      await faulty.real.usage.put(wallet, { ...folded, hours: [{ ...first, [column]: other }] });
      expect(await problems()).to.have.length(1);
      expect((await problems())[0]).to.match(new RegExp(`^folded usage of .*: ${column} \\d+ instead of \\d+$`));
      await faulty.real.usage.put(wallet, folded);
      expect(await problems()).to.deep.equal([]);
    });
  }
});
