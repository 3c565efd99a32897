// The audit sees every falsified value of every row, but for those that nothing else in the store repeats.
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { CHARGELESS, ENTRY_KINDS } from '../../lib/money/operations.ts';
import { PAYMENT_PHASES } from '../../lib/money/payment-rules.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { STORES } from '../../testkit/stores.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import { fillStore, openRaw, type Place, type Raw, type Row } from './damage.ts';

interface Blind {
  /** By itself, or all of a table. */
  readonly at: RegExp;
  readonly why: string;
  /** Only in these rows. */
  readonly rows?: (row: Row) => boolean;
}

const isOperators = ({ kind }: Row) => CHARGELESS.includes(kind as Operation['kind']);
const isCredited = ({ credited }: Row) => Number(credited) > 0;

const BLIND: readonly Blind[] = [
  { at: /^limits\./, why: 'a window of a rate limit lives for a minute, and nothing else counts it' },
  { at: /^owners\./, why: 'a gateway says itself for how long it lives' },
  { at: /^batches\./, why: 'numbers of counters, which are written late and not in the transactions of calls' },
  { at: /^settings\./, why: 'what the service remembers is said once' },
  { at: /^jobs\.(model|upstream|facts|createdAt|deadline)$/, why: 'of the request, said once' },
  { at: /^jobs\.(ref|result|error)$/, why: 'what the upstream has said, once' },
  { at: /^jobs\.(owner|lease|dueAt|shown|progress|version|endedAt)$/, why: 'who works on it and how far: no money' },
  { at: /^jobs\.id$/, why: 'a job is known by its id only to its client' },
  {
    at: /^payments\.(amount|shop|test|origin|facts)$/,
    why: 'of the order, said once; what was credited is in its entry',
  },
  { at: /^payments\.(payUrl|expiresAt|state|reason)$/, why: 'what the provider or the operator has said, once' },
  { at: /^payments\.(owner|lease|dueAt|createdAt|changedAt|version)$/, why: 'who works on it and when: no money' },
  { at: /^payments\./, why: 'without money', rows: (row) => !isCredited(row) },
  { at: /^payments\.phase$/, why: 'an open dispute moves no money yet', rows: ({ phase }) => phase === 'credited' },
  { at: /^payments\.dispute$/, why: 'a dispute that is open, or never was', rows: ({ phase }) => phase !== 'reversed' },
  { at: /^schema\./, why: 'a wrong version is refused when the store is opened' },
  { at: /^accounts\.(name|createdAt)$/, why: 'said once, by the operator' },
  { at: /^accounts\.autoTopup/, why: 'a wish of the account: no money follows from it yet' },
  { at: /^wallets\.status$/, why: 'what the operator has decided last; no entry is made of it' },
  { at: /^wallets\.playMoney$/, why: 'what an operator has decided of test payments: the entry keeps only the reason' },
  { at: /^keys\.(name|createdAt|revokedAt)$/, why: 'said once, by the operator' },
  { at: /^keys\.(limits|budget|reset|zone|expiresAt|models)$/, why: 'a wish of the owner, said once' },
  {
    at: /^keys\.budgetKey$/,
    why: 'a key that made no call with a budget',
    rows: ({ id }) => !/_(limited|next)$/.test(String(id)),
  },
  { at: /^keys\.(hash|last4)$/, why: 'of a secret that nobody keeps' },
  { at: /^keys\.id$/, why: 'a key that made no call', rows: ({ id }) => id === 'key_idle' || id === 'key_old' },
  {
    at: /^keys\.(requestsCount|lastUsedAt)$/,
    why: 'written late and not in the transactions of calls: only that both are there or none',
    rows: ({ requestsCount }) => Number(requestsCount) > 0,
  },
  { at: /^charges\.model$/, why: 'a name of the catalog, which changes' },
  {
    at: /^charges\.prices$/,
    why: 'nothing was charged by them, or not by tokens',
    rows: ({ kind, state }) => kind !== 'text' || ['held', 'released', 'expired'].includes(String(state)),
  },
  { at: /^charges\.excess$/, why: 'what a call might have cost more, said once: no money' },
  { at: /^charges\.kind$/, why: 'prices of other kinds have no fixed shape', rows: ({ kind }) => kind !== 'text' },
  {
    at: /^charges\.(owner|lease)$/,
    why: 'of a hold: who has it is not journalled',
    rows: ({ state }) => state === 'held',
  },
  { at: /^entries\.opId$/, why: 'the id of a correction is random', rows: ({ kind }) => kind === 'adjust' },
  { at: /^entries\.note$/, why: 'the reason of a correction is said once', rows: ({ kind }) => kind === 'adjust' },
  { at: /^entries\.at$/, why: 'of payments and corrections it is said once', rows: isOperators },
  {
    at: /^entries\.at$/,
    why: 'a charge knows its begin and its last end, not the ends between',
    rows: ({ opId }) => /^(settle:refunded|expire:late)_/.test(String(opId)),
  },
];

const KINDS: readonly string[] = ENTRY_KINDS;
const STATES = ['held', 'settled', 'released', 'expired', 'refunded'];

/** Another value that the column could have had. */
function another({ table, column, value }: Place): unknown {
  const next = (values: readonly string[]) => values[(values.indexOf(String(value)) + 1) % values.length];
  switch (`${table}.${column}`) {
    case 'entries.kind':
      return next(KINDS);
    case 'charges.state':
      return next(STATES);
    case 'charges.kind':
      return next(['text', 'image', 'edit', 'video']);
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
      return String(value).replace(/[48]/, '5');
    case 'entries.seq':
      return typeof value === 'bigint' ? value + 1000n : Number(value) + 1000;
    case 'entries.charge':
    case 'entries.note':
    case 'charges.owner':
      return `${value}x`;
  }
  if (value === null) return 1;
  if (typeof value === 'bigint') return value + 1n;
  if (typeof value === 'number') return value + 1;
  return `${value}x`;
}

for (const kind of STORES) {
  describe(`audit of every value: ${kind.name}`, () => {
    let database: StoreDatabase;
    let store: Store;
    let raw: Raw;

    before(async () => {
      database = await kind.create();
      store = await openStore(database.url, { here: true });
      await fillStore(store);
      raw = await openRaw(database.url);
    });
    after(async () => {
      await raw.close();
      await store.close();
      await database.remove();
    });

    async function isSeen(change: () => Promise<() => Promise<void>>): Promise<boolean> {
      const undo = await change();
      const { ok, problems } = await verifyLedger(store);
      await undo();
      if (!ok) expect(problems[0]?.problem).to.match(/./);
      return !ok;
    }

    async function places(): Promise<readonly Place[]> {
      const tables = [...(await raw.tables())];
      return tables.flatMap(([table, rows]) =>
        rows.flatMap(({ place, ...row }) =>
          Object.entries(row).map(([column, value]) => ({ table, column, row: { place, ...row }, value })),
        ),
      );
    }

    /** The audit is the same on every store and for every row: the slow tests look at all rows, of one store. */
    function sample(all: readonly Place[]): readonly Place[] {
      if (longer(false, kind.name === 'sqlite')) return all;
      const short = longer(kind.name !== 'sqlite', false);
      const sortOf = ({ table, column, row }: Place) => `${table}.${column} ${short || `${row.kind} ${row.state}`}`;
      return [...new Map(all.map((place) => [sortOf(place), place])).values()];
    }

    const nameOf = ({ table, column, row }: Place) => `${table}.${column} of ${row.place}`;
    const isBlind = ({ table, column, row }: Place) =>
      BLIND.some(({ at, rows }) => at.test(`${table}.${column}`) && (rows?.(row) ?? true));

    it('is content with what the ledger wrote', async () => {
      const { problems, ...sums } = await verifyLedger(store);
      expect(problems).to.deep.equal([]);
      expect(sums).to.include({ ok: true, wallets: 3, drift: 0n });
    });

    it('has rows in every table', async () => {
      const empty = [...(await raw.tables())].filter(([, rows]) => rows.length === 0).map(([table]) => table);
      expect(empty).to.deep.equal([]);
    });

    it('sees every value that another one tells', async () => {
      const missed: string[] = [];
      for (const place of sample((await places()).filter((some) => !isBlind(some)))) {
        if (!(await isSeen(() => raw.change(place, another(place))))) missed.push(nameOf(place));
      }
      expect(missed).to.deep.equal([]);
      expect((await verifyLedger(store)).ok).to.equal(true);
    }).timeout(180_000);

    const itOnSqlite = kind.name === 'sqlite' ? it : itLong;
    itOnSqlite('is blind where it says so, and nowhere else', async function () {
      this.timeout(60_000);
      const tables = ['accounts', 'wallets', 'keys', 'charges', 'entries'];
      const seen: string[] = [];
      for (const place of sample((await places()).filter((some) => isBlind(some) && tables.includes(some.table)))) {
        if (typeof place.value === 'object' && place.value !== null) continue;
        if (place.column === 'autoTopupEnabled') continue;
        if (await isSeen(() => raw.change(place, another(place)))) seen.push(nameOf(place));
      }
      expect(seen).to.deep.equal([]);
    });

    it('sees every row of money that is gone', async () => {
      const missed: string[] = [];
      const every = kind.name === 'sqlite' ? 1 : longer(4, 1);
      const tables = await raw.tables();
      for (const table of ['accounts', 'wallets', 'charges', 'entries', 'payments']) {
        for (const [at, row] of (tables.get(table) ?? []).entries()) {
          if (at % every > 0 || (table === 'payments' && !isCredited(row))) continue;
          if (!(await isSeen(() => raw.remove(table, row)))) missed.push(`${table} ${row.place}`);
        }
      }
      expect(missed).to.deep.equal([]);
    }).timeout(60_000);

    it('sees two charges that were falsified with equal sums', async () => {
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

    it('names the deleted wallet whose entries remain, and how much is at stake', async () => {
      const wallet = (await raw.tables()).get('wallets')?.find(({ id }) => id === 'acc_a') as Row;
      const undo = await raw.remove('wallets', wallet);
      const { problems, wallets } = await verifyLedger(store);
      await undo();
      expect(wallets).to.equal(2);
      expect(problems).to.have.length(1);
      expect(problems[0]?.wallet).to.equal('acc_a');
      expect(problems[0]?.problem).to.match(/^there is no such wallet, but \d+ entries of it$/);
    });
  });
}
