// The audit of folded usage beside a running gateway: sums folded in the meantime are compared again and not reported.
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { DAY_MS, WEEK_MS } from '../../lib/base/durations.ts';
import { archiveLedger } from '../../lib/ledger/archive.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { NO_ROUTE } from '../../lib/ledger/usage-sums.ts';
import { UNIT_COUNTS } from '../../lib/money/usage-units.ts';
import type { UsageHour, UsageOf } from '../../lib/store/ports/usage.ts';
import { NO_USAGE } from '../../lib/store/usage-totals.ts';
import { type Behaviour, type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { applied, charge, giveBack, newId, RUB, reserve, settle, topup } from '../contract/store/context.ts';
import { newJob } from '../contract/store/jobs.ts';

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
    const cursor = (await faulty.real.usage.progress(wallet)).cursor;
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

  for (const [grain, finer, name, ms] of [
    ['day', 'hours', 'days', DAY_MS],
    ['week', 'days', 'weeks', WEEK_MS],
  ] as const) {
    it(`reports ${name} that are not the sums of their ${finer}, whether they are missing, more or other`, async () => {
      type Sum = UsageOf<'day'> | UsageOf<'week'>;
      const stored: readonly Sum[] = (await faulty.real.usage.readAll(wallet))[name];
      const [sum] = stored as [UsageOf<typeof grain>];
      const at = sum[grain as keyof typeof sum] as number;
      /** Without what follows from changed days: their weeks. */
      const read = async (changed: readonly object[]) => {
        faulty.next('usage.readAll', async (call) => ({ ...((await call()) as object), [name]: changed }));
        const found = await problems();
        return found.filter((problem) => grain === 'week' || !problem.startsWith('folded usage of the week'));
      };
      const describeSum = (start: number) =>
        `folded usage of the ${grain} ${new Date(start).toISOString().slice(0, 10)}, ${sum.key}, ${sum.model}, ${sum.kind}`;
      expect(stored).to.have.length(1);
      expect(await read([{ ...sum, charged: sum.charged + 1n, failed: sum.failed + 2 }])).to.deep.equal([
        `${describeSum(at)}: charged ${sum.charged + 1n} instead of ${sum.charged}, failed 2 instead of 0`,
      ]);
      expect((await read([]))[0]).to.match(new RegExp(`^${describeSum(at)}: calls 0 instead of 1`));
      const [first, second, ...others] = await read([{ ...sum, [grain]: ms }]);
      expect([first, second].join()).to.include(`${describeSum(ms)}: calls 1 instead of 0`);
      expect([first, second].join()).to.include(`${describeSum(at)}: calls 0 instead of 1`);
      expect(others).to.deep.equal([]);
      expect(await read(stored)).to.deep.equal([]);
    });
  }

  it('reports sums of any kind that are there without a cursor', async () => {
    const folded = await faulty.real.usage.readAll(wallet);
    const none = { ...folded, cursor: 0, hours: [], days: [], weeks: [], routes: [] };
    const wanted = ['folded usage: there are sums, but nothing says up to which entry'];
    const route = { hour: 0, upstream: 'u', model: 'm', ending: 'ok', reason: '', ...NO_ROUTE };
    for (const rows of [{ hours: folded.hours }, { days: folded.days }, { weeks: folded.weeks }, { routes: [route] }]) {
      faulty.next('usage.readAll', async () => ({ ...none, ...rows }));
      expect(await problems(), Object.keys(rows).join()).to.deep.equal(wanted);
    }
  });

  for (const isReleased of [false, true]) {
    const last = isReleased ? ', the last of which cost nothing' : '';
    it(`reports a charged sum that is not that of the journal, after its calls are archived, too${last}`, async () => {
      const file = join(dirname(faulty.path), 'calls.gz');
      const before = Date.now() - 40 * 24 * 3_600_000;
      const at = before - 1000;
      wallet = await faulty.wallet(0n);
      await applied(faulty.real, topup(wallet, 1000n * RUB, { at }));
      const [one, two, free] = [newId('req'), newId('req'), newId('req')];
      for (const chargeId of [one, two])
        await applied(faulty.real, reserve(wallet, { chargeId, at }), settle(wallet, chargeId, { at }));
      if (isReleased)
        await applied(faulty.real, reserve(wallet, { chargeId: free, at }), giveBack('release', wallet, free, { at }));
      await foldUsage(faulty.real, wallet);
      expect(await archiveLedger(faulty.real, { before, file })).to.include({ calls: isReleased ? 2 : 1 });
      expect(await problems()).to.deep.equal([]);
      const folded = await faulty.real.usage.readAll(wallet);
      const [first, ...others] = folded.hours as [UsageHour];
      await faulty.real.usage.put(wallet, {
        ...folded,
        hours: [{ ...first, charged: first.charged + RUB }, ...others],
      });
      expect((await problems()).join()).to.match(/folded usage: \d+ charged at entry \d+, the journal has \d+/);
    });
  }

  it('reports a running job that the sums do not wait for', async () => {
    const job = await newJob(faulty.real, wallet);
    await foldUsage(faulty.real, wallet);
    expect(await problems()).to.deep.equal([]);
    const folded = await faulty.real.usage.readAll(wallet);
    await faulty.real.usage.put(wallet, { ...folded, jobs: [] });
    expect(await problems()).to.include(`folded usage: it does not wait for the job of ${job.charge}`);
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
