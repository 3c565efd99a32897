// The audit finds every falsified value of every row, except values that are stored only once.
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { CHARGE_KINDS, ENTRY_KINDS } from '../../lib/money/operations.ts';
import { PAYMENT_PHASES } from '../../lib/money/payment-rules.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import { fillStore } from './filled-store.ts';
import { openRaw, type Place, type Raw, type Row } from './raw-rows.ts';

interface Blind {
  /** A column, or all columns of a table. */
  readonly at: RegExp;
  readonly why: string;
  /** Only in these rows. */
  readonly rows?: (row: Row) => boolean;
}

const BLIND: readonly Blind[] = [
  { at: /^limits\./, why: 'a window of a rate limit lives for a minute, and nothing else counts it' },
  { at: /^owners\./, why: 'a gateway says itself for how long it lives' },
  { at: /^batches\./, why: 'numbers of counters, which are written late and not in the transactions of calls' },
  { at: /^rates\./, why: 'a history for people: an attempt keeps the rate of its cost itself' },
  {
    at: /^management_(keys|replies)\./,
    why: 'no money follows from a key of the operator, nor from what it was answered',
  },
  { at: /^settings\./, why: 'what the service remembers is said once' },
  {
    at: /^(jobs|payments|auto_topups)\.(owner|lease|version)$/,
    why: 'who works on it is written by every claim, for seconds: no money follows from it',
  },
  {
    at: /^charges\.lease$/,
    why: 'a service renews the lease of its hold; no money follows from how long it is',
    rows: ({ kind, state }) => kind === 'service' && state === 'held',
  },
  { at: /^schema\./, why: 'a wrong version is refused when the store is opened' },
  {
    at: /^accounts\.allowanceReason$/,
    why: 'without an amount nobody reads it',
    rows: ({ allowanceAmount }) => allowanceAmount === null,
  },
  {
    at: /^memberships\.cap(Reset|Zone)$/,
    why: 'without a cap nobody reads them',
    rows: ({ cap }) => cap === null,
  },
  {
    at: /^accounts\.autoTopup/,
    why: 'an account that has no automatic top-up only shows that',
    rows: ({ id }) => id !== 'acc_a',
  },
  {
    at: /^keys\.(requestsCount|lastUsedAt)$/,
    why: 'written late and not in the transactions of calls: only that both are there or none',
    rows: ({ requestsCount }) => Number(requestsCount) > 0,
  },
  {
    at: /^(route_hours\.|usage_hours\.hour$)/,
    why: 'calls of this hour have left for an archive: only less than what is still there is seen, and another day',
    rows: ({ wallet }) => wallet === 'acc_d',
  },
  { at: /^catalog_versions\./, why: 'what operators wrote on pages: a hold pins the price that followed from it' },
  {
    at: /^promo_(codes\.(uses|until|days|opens|reason|createdAt|endedAt)|uses\.(id|at))$/,
    why: 'the terms of a code are said once; only its amount is in each grant that it gave',
  },
  { at: /^papers\./, why: 'what was agreed with companies: the money of a paid invoice is an entry of its own' },
  { at: /^call_attempts\.id$/, why: 'made of the call and the number; nothing refers to it' },
  { at: /^usage_cursors\.partial$/, why: 'said once, by the version that did not count' },
  { at: /^(usage_hours|usage_days|usage_weeks|route_hours|service_sums)\.id$/, why: 'a number that nothing refers to' },
];

const KINDS: readonly string[] = ENTRY_KINDS;
const STATES = ['held', 'settled', 'released', 'expired', 'refunded'];

/** Another valid value of the column. */
function another({ table, column, value }: Place): unknown {
  const next = (values: readonly string[]) => values[(values.indexOf(String(value)) + 1) % values.length];
  switch (`${table}.${column}`) {
    case 'entries.kind':
      return next(KINDS);
    case 'charges.state':
      return next(STATES);
    case 'charges.kind':
      return next(CHARGE_KINDS);
    case 'payments.phase':
      return next(PAYMENT_PHASES);
    case 'payments.refunds':
      return value === '[]' ? '[{}]' : String(value).replace(/(\d)00000/, '$100001');
    case 'payments.dispute':
      return String(value).replace('cb_', 'cc_');
    case 'jobs.phase':
      return value === 'failed' ? 'completed' : 'failed';
    case 'wallets.status':
      return next(['active', 'suspended']);
    case 'charges.prices':
      return String(value).replace(/[48]|(?<="service":")\d/, '5');
    case 'keys.limits':
      return { ...(value as object), budget: 1n };
    case 'accounts.requestLimits':
    case 'keys.requestLimits':
      return value === null ? '{"atOnce":1}' : String(value).replace(/\d/, '9');
    case 'charges.caps':
      if (value === null || value === undefined) return 1;
      return typeof value === 'string' ? value.replace('1000', '1001') : [{ ...(value as object[])[0], period: 1001 }];
    case 'archives.state':
      return 'leaving';
    case 'accounts.requests':
      return { ...(value as object), perMinute: 61 };
    case 'memberships.role':
      return next(['owner', 'member', 'accountant']);
    case 'memberships.cap':
      return value !== null && typeof value === 'object' ? { ...value, zone: 'Asia/Omsk' } : BigInt(Number(value)) + 1n;
    case 'accounts.autoTopup':
      return { ...(value as object), amount: 1n };
    case 'usage_cursors.jobs':
      return value === '[]' ? '[["x",0,"k","m","video"]]' : '[]';
    case 'openings.budgets':
      return typeof value === 'string' ? 'x' : [{ key: 'k', period: 1, spent: 1n }];
    case 'entries.seq':
    case 'call_attempts.number':
      return typeof value === 'bigint' ? value + 1000n : Number(value) + 1000;
    case 'entries.charge':
    case 'entries.note':
    case 'charges.owner':
      return `${value}x`;
  }
  if (typeof value === 'boolean') return !value;
  if (value === null) return 1;
  if (typeof value === 'bigint') return value + 1n;
  if (typeof value === 'number') return value + 1;
  return `${value}x`;
}

for (const kind of longer([SQLITE], STORES)) {
  describe(`the audit of every value: ${kind.name}`, () => {
    let database: StoreDatabase;
    let store: Store;
    let raw: Raw;

    before(async () => {
      database = await kind.create();
      store = await openStore(database.url, { inProcess: true });
      await fillStore(store);
      raw = await openRaw(database.url);
    });
    after(async () => {
      await raw.close();
      await store.close();
      await database.remove();
    });

    /** Whether a problem names the row, or the wallet, key or order it belongs to. */
    async function isSeen(row: Row, change: () => Promise<() => Promise<void>>): Promise<boolean> {
      const undo = await change();
      const { ok, problems } = await verifyLedger(store);
      await undo();
      const { id, opId, wallet, key, charge, account, state, calls, code } = row;
      const names = [id, opId, wallet, key, charge, account, code, row.subject].filter(
        (name) => typeof name === 'string',
      );
      if (state !== undefined && calls !== undefined) names.push('archives');
      const all = problems.map((found) => `${found.wallet}: ${found.problem}`);
      return !ok && all.some((text) => names.some((name) => text.includes(name)));
    }

    async function places(): Promise<readonly Place[]> {
      const tables = [...(await raw.tables())];
      return tables.flatMap(([table, rows]) =>
        rows.flatMap(({ place, ...row }) =>
          Object.entries(row).map(([column, value]) => ({ table, column, row: { place, ...row }, value })),
        ),
      );
    }

    /** The audit treats every store and row of a sort alike: `npm test` tries some columns, the slow tests all on SQLite. */
    function sample(all: readonly Place[]): readonly Place[] {
      const nameSort = ({ table, column, row, value }: Place) =>
        `${table}.${column} ${longer('', `${row.kind} ${row.state} ${value === null}`)}`;
      const sorts = [...new Map(all.map((place) => [nameSort(place), place])).values()];
      const every = kind.name === 'sqlite' ? longer(10, 1) : longer(10, 6);
      return sorts.filter((_, at) => at % every === 0);
    }

    const nameOf = ({ table, column, row }: Place) => `${table}.${column} of ${row.place}`;
    const isBlind = ({ table, column, row }: Place) =>
      BLIND.some(({ at, rows }) => at.test(`${table}.${column}`) && (rows?.(row) ?? true));

    it('finds nothing in rows that the ledger wrote', async () => {
      const { problems, ...sums } = await verifyLedger(store);
      expect(problems).to.deep.equal([]);
      expect(sums).to.include({ ok: true, wallets: 4, drift: 0n });
    });

    it('has rows in every table', async () => {
      const empty = [...(await raw.tables())].filter(([, rows]) => rows.length === 0).map(([table]) => table);
      expect(empty).to.deep.equal([]);
    });

    it('reports every falsified value that other values contradict', async () => {
      const missed: string[] = [];
      for (const place of sample((await places()).filter((some) => !isBlind(some)))) {
        if (!(await isSeen(place.row, () => raw.change(place, another(place))))) missed.push(nameOf(place));
      }
      expect(missed).to.deep.equal([]);
      expect((await verifyLedger(store)).ok).to.equal(true);
    }).timeout(180_000);

    const itOnSqlite = kind.name === 'sqlite' ? it : itLong;
    itOnSqlite('misses exactly the values listed as unverifiable', async function () {
      this.timeout(180_000);
      const tables = ['accounts', 'wallets', 'keys', 'charges', 'entries', 'jobs', 'payments', 'auto_topups'];
      const seen: string[] = [];
      for (const place of sample((await places()).filter((some) => isBlind(some) && tables.includes(some.table)))) {
        if (typeof place.value === 'object' && place.value !== null) continue;
        if (place.column === 'autoTopupEnabled') continue;
        if (await isSeen(place.row, () => raw.change(place, another(place)))) seen.push(nameOf(place));
      }
      expect(seen).to.deep.equal([]);
    });

    it('reports every missing row of money', async () => {
      const missed: string[] = [];
      const every = kind.name === 'sqlite' ? longer(14, 1) : longer(20, 4);
      const tables = await raw.tables();
      const money = ['accounts', 'wallets', 'charges', 'entries', 'payments', 'jobs', 'budgets', 'call_attempts'];
      for (const table of [
        ...money,
        'openings',
        'archives',
        'usage_hours',
        'usage_days',
        'usage_weeks',
        'route_hours',
        'service_sums',
        'usage_cursors',
      ]) {
        for (const [at, row] of (tables.get(table) ?? []).entries()) {
          if (at % every > 0 || (table === 'payments' && Number(row.credited) === 0)) continue;
          if (!(await isSeen(row, () => raw.remove(table, row)))) missed.push(`${table} ${row.place}`);
        }
      }
      expect(missed).to.deep.equal([]);
    }).timeout(180_000);

    it('reports two charges that were falsified with equal sums', async () => {
      const charges = (await places()).filter(({ table, column }) => table === 'charges' && column === 'charged');
      const [one, other] = ['settled_acc_a', 'twin_acc_a'].map((id) => charges.find(({ row }) => row.id === id)) as [
        Place,
        Place,
      ];
      const undo = [
        await raw.change(one, (one.value as bigint) + 5n),
        await raw.change(other, (other.value as bigint) - 5n),
      ];
      const { problems, drift } = await verifyLedger(store);
      for (const back of undo) await back();
      expect(drift).to.equal(10n);
      for (const { row } of [one, other]) {
        expect(problems.some(({ problem }) => problem.startsWith(`call ${row.id}: charged`))).to.equal(true);
      }
    });

    it('names a deleted wallet whose entries remain, with the amount', async () => {
      const wallet = (await raw.tables()).get('wallets')?.find(({ id }) => id === 'acc_a') as Row;
      const undo = await raw.remove('wallets', wallet);
      const { problems, wallets } = await verifyLedger(store);
      await undo();
      expect(wallets).to.equal(3);
      expect(problems).to.have.length(1);
      expect(problems[0]?.wallet).to.equal('acc_a');
      expect(problems[0]?.problem).to.match(/^there is no such wallet, but \d+ entries of it$/);
    });
  });
}
