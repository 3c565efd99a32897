// Stores made by the first release, opened in this one: nothing is lost, each migration since then has its effect, and
// calls continue. Add a test for a new migration to "has the migrations since then"; a new column needs none, because
// rows are compared by the fields that they had.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { hashKey } from '../../lib/accounts/key.ts';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { createLostDisputeOp, refundBookingOp, refundRefusalOp } from '../../lib/money/payback.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { sumUsage } from '../../lib/store/usage-grains.ts';
import { verifyPassword } from '../../lib/users/password.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { applied, RUB, reserve, type StoreDatabase, settle, statuses } from '../contract/store/context.ts';
import { creditOf } from '../contract/store/payments.ts';
import { type Contents, type Rows, readContents } from './contents.ts';
import { readExpected } from './fixture.ts';
import { getFile, listOldStores, type OldStore, project } from './old-stores.ts';

const VERSION = 'version-1';
const PASSWORD = 'the password of version 1';
const PICTURE = { id: 'A'.repeat(43), bytes: Buffer.from('a picture of version 1\n') };
const OLD_STORES = listOldStores(VERSION, PICTURE);

/** Indexes added by migrations, whose absence no query would reveal. */
const FILE_INDEXES = [
  'index notices_vain',
  'index payments_untold',
  'index charges_exposed',
  'index accounts_price_list',
  'index accounts_allowance',
  'index management_keys_of_account',
  'index wallets_due',
];
const INDEXES: Readonly<Record<OldStore['name'], readonly string[]>> = {
  sqlite: FILE_INDEXES,
  backup: FILE_INDEXES,
  mongodb: ['by_verdict', 'by_phase', 'exposed', 'by_price_list'],
};

/** A process that opens a store and exits. */
const OPENER = fileURLToPath(new URL('./open-child.ts', import.meta.url));

/** Monday, 2 March 2026, a minute after the calls of the old stores. */
const AT = Date.UTC(2026, 2, 2, 10, 1);
/** What the held texts used. */
const USED = '{"tokens_input":25000,"tokens_output":50000}';
const SUSPENDED = ['acc_owing', 'acc_suspended'];
/** People sign in again on a backup of MongoDB; its checkpoints and sums are made anew. */
const NOT_IN_BACKUPS = [
  'sessions',
  'links',
  'attempts',
  'checkpoints',
  'usageCursors',
  'usageHours',
  'usageDays',
  'usageWeeks',
];
/** Paid by payments whose order or whose provider called them a test, or the demo account. */
const PLAY_MONEY = ['acc_demo', 'acc_reported', 'acc_tested'];

/** A step may add an entry to a suspended wallet, which says so. */
function withoutSeq(wallets: Rows = {}): Rows {
  return Object.fromEntries(
    Object.entries(wallets).map(([id, wallet]) => {
      const { seq, ...rest } = wallet as Record<string, unknown>;
      return [id, SUSPENDED.includes(id) ? rest : { seq, ...rest }];
    }),
  );
}

/** Wallets are folded again, up to such an entry. */
function withoutMoved(cursors: Rows): Rows {
  return Object.fromEntries(Object.entries(cursors).filter(([id]) => !SUSPENDED.includes(id)));
}

// The first stable release left a store of MongoDB too, which `npm test` opens (`releases.test.ts`).
for (const old of OLD_STORES.filter(({ name }) => longer(name === 'sqlite', true))) {
  const isBackup = old.name === 'backup';

  describe(`a store of the first release: ${old.name}`, () => {
    const expected = readExpected(VERSION);
    let database: StoreDatabase;
    let store: Store;
    let contents: Contents;

    before(async () => {
      database = await old.createBare();
      await old.restore(database);
      expect(await old.version(database)).to.equal(1);
      const openers = await Promise.allSettled(Array.from({ length: 4 }, () => openStore(database.url)));
      const stores = openers.flatMap((opener) => (opener.status === 'fulfilled' ? opener.value : []));
      store = stores[0] as Store;
      for (const other of stores.slice(1)) await other.close();
      const refusals = openers.flatMap((opener) => (opener.status === 'rejected' ? [String(opener.reason)] : []));
      expect(refusals, 'of gateways that start at once').to.deep.equal([]);
      for (const { id } of await store.accounts.list()) await foldUsage(store, id);
      contents = await readContents(store);
    });
    after(async () => {
      await store?.close();
      await database.remove();
    });

    const problems = async () => (await verifyLedger(store)).problems;
    const payment = async (name: string) => (await store.payments.get(`pay_${name}`)) as Payment;
    const wallet = async (name: string) => store.ledger.wallet(`acc_${name}`);

    describe('reads the same as before', () => {
      for (const name of Object.keys(expected).filter((port) => !isBackup || !NOT_IN_BACKUPS.includes(port))) {
        it(`in its ${name}`, () => {
          const before = expected[name] as Rows;
          const now = contents[name] as Rows;
          // Migrations may add entries, and a backup has a setting that says so.
          if (!['entries', 'settings'].includes(name)) expect(Object.keys(now)).to.have.members(Object.keys(before));
          const compared =
            name === 'wallets' ? withoutSeq : name === 'usageCursors' ? withoutMoved : (rows: Rows) => rows;
          expect(project(compared(now), compared(before))).to.deep.equal(compared(before));
        });
      }

      it('in the bytes of its media', async () => {
        const chunks = await Array.fromAsync(store.media.read(PICTURE.id));
        expect(Buffer.concat(chunks).equals(PICTURE.bytes)).to.equal(true);
      });

      it('for keys and passwords', async () => {
        expect((await store.keys.find(hashKey('sk-tg-key_main')))?.id).to.equal('key_main');
        const owner = await store.users.find('owner@example.com');
        expect(await verifyPassword(owner?.password ?? undefined, PASSWORD)).to.equal(true);
        expect(await verifyPassword(owner?.password ?? undefined, 'another')).to.equal(false);
      });
    });

    it('balances', async () => {
      expect(await problems()).to.deep.equal([]);
    });

    // One test for each migration, in order; add the next one at the end.
    describe('has the migrations since then', () => {
      it('to the same schema as a new store', async () => {
        const fresh = await old.createBare();
        try {
          await (await openStore(fresh.url)).close();
          const wanted = await old.schema(fresh);
          const found = await old.schema(database);
          expect(Object.keys(found)).to.have.members(Object.keys(wanted));
          expect(found).to.deep.equal(wanted);
          for (const name of INDEXES[old.name]) expect(JSON.stringify(found)).to.include(`"${name}"`);
          expect(await old.version(database)).to.equal(old.newest);
        } finally {
          await fresh.remove();
        }
      });

      it('which keep devices', async () => {
        const device = { hash: 'device_1', user: 'usr_owner', expiresAt: AT };
        expect(await store.sessions.device('device_1')).to.equal(undefined);
        await store.sessions.putDevice(device);
        expect(await store.sessions.device('device_1')).to.deep.equal(device);
      });

      it('which keep former users', async () => {
        expect(await store.users.formerPage({ limit: 10 })).to.deep.equal([]);
        const invited = await store.users.get('usr_invited');
        if (!invited) throw new Error('nobody was invited');
        expect(await store.users.remove(invited, AT)).to.equal('done');
        expect(await store.users.former('usr_invited')).to.include({ email: 'invited@example.com', removedAt: AT });
        expect(await store.users.get('usr_invited')).to.equal(undefined);
      });

      it('which find relevant webhooks, and orders without a provider id', async () => {
        const { payments } = store;
        const told = await payments.webhooks({ limit: 100, isDiscarded: false });
        expect(told.map(({ verdict }) => verdict)).to.deep.equal(['failed', 'done', 'received']);
        expect(await payments.hasUnknownRefs('till', 0)).to.equal(true);
        expect(await payments.hasUnknownRefs('another', 0)).to.equal(false);
      });

      it('which mark only the wallets with play money', async () => {
        const marked = Object.entries(contents.wallets ?? {}).filter(([, found]) => (found as Rows).playMoney);
        expect(marked.map(([id]) => id)).to.have.members(PLAY_MONEY);
        const real = (name: string) =>
          ({ ...reserve(`acc_${name}`, { at: AT, key: `key_${name}` }), real: true }) as Operation;
        expect(await statuses(store, real('tested'))).to.deep.equal(['play_money']);
        expect(await statuses(store, real('untried'))).to.deep.equal(['done']);
      });

      it('which limit the exposure of running calls', async () => {
        const call = reserve('acc_demo', { chargeId: 'req_open', at: AT, key: 'key_demo' });
        await applied(store, { ...call, excess: 1290n * RUB } as Operation);
        expect(await store.ledger.charge('req_open')).to.include({ state: 'held', excess: 1290n * RUB });
        const next = reserve('acc_demo', { at: AT, key: 'key_demo', amount: 20n * RUB });
        expect(await statuses(store, next)).to.deep.equal(['insufficient']);
        await applied(store, settle('acc_demo', 'req_open', { at: AT }));
        expect(await statuses(store, next)).to.deep.equal(['done']);
      });

      it('which leave suspended wallets suspended, with nothing else in the journal', async () => {
        const found = Object.entries(contents.wallets ?? {}).filter(([, row]) => (row as Rows).status === 'suspended');
        expect(found.map(([id]) => id)).to.have.members(SUSPENDED);
        const more = Object.entries(contents.entries ?? {}).filter(([opId]) => !(opId in (expected.entries as Rows)));
        // One entry of suspension each, or none from a version before that migration.
        if (more.length > 0) expect(more.map(([, entry]) => (entry as Rows).wallet)).to.have.members(SUSPENDED);
        for (const [, entry] of more) {
          expect(entry).to.include({ kind: 'suspend', avail: '0n', held: '0n', charged: '0n' });
        }
        for (const name of ['suspended', 'owing']) {
          const call = reserve(`acc_${name}`, { at: AT, key: `key_${name}` });
          expect(await statuses(store, call)).to.deep.equal(['suspended']);
          const [last] = await store.ledger.entries(`acc_${name}`, { limit: 1 });
          expect((await wallet(name))?.seq).to.equal(last?.seq);
        }
      });
    });

    describe('counts usage by day and week', () => {
      it('as its hours add up', async () => {
        for (const { id } of await store.accounts.list()) {
          const { hours, days, weeks } = await store.usage.readAll(id);
          expect(days).to.have.deep.members([...sumUsage(hours, 'hour', 'day')]);
          expect(weeks).to.have.deep.members([...sumUsage(hours, 'hour', 'week')]);
        }
      });
    });

    describe('holds money of services', () => {
      it('which no upstream is asked for', async () => {
        const service = { at: AT, key: 'mk_1', chargeId: 'hold_1', chargeKind: 'service' } as const;
        await applied(store, reserve('acc_demo', service), settle('acc_demo', 'hold_1', { at: AT, usage: '{}' }));
        expect(await store.ledger.charge('hold_1')).to.include({ kind: 'service', state: 'settled' });
        expect(await store.management.listKeys()).to.deep.equal([]);
      });
    });

    describe('counts cached tokens', () => {
      it('as zeros of what was there before', async () => {
        const hours = Object.values(contents.usageHours ?? {}) as Rows[];
        if (old.name !== 'backup') expect(hours).not.to.have.length(0);
        const none = { tokensCacheRead: 0, tokensCacheWrite: 0, tokensCacheWrite1h: 0, tokensReasoning: 0 };
        for (const hour of hours) expect(hour).to.include(none);
      });

      it('of new calls, even in the hours of old ones', async () => {
        const at = { at: AT, key: 'key_demo', chargeId: 'req_cached' };
        const usage = '{"tokens_input":1,"tokens_cache_read":20,"tokens_output":3,"tokens_reasoning":2}';
        await applied(store, reserve('acc_demo', at), settle('acc_demo', 'req_cached', { at: AT, usage }));
        await foldUsage(store, 'acc_demo');
        const sums = await store.usage.sums('acc_demo', { by: 'kind' });
        expect(sums.find(({ group }) => group === 'text')).to.include({ tokensCacheRead: 20, tokensReasoning: 2 });
      });
    });

    describe('counts audio', () => {
      it('as zeros of what was there before, and that of new calls in the same hours', async () => {
        for (const hour of Object.values(contents.usageHours ?? {})) expect(hour).to.include({ tokensAudio: 0 });
        const at = { at: AT, key: 'key_demo', chargeId: 'req_audio' };
        const usage = '{"tokens_input":1,"tokens_audio":20,"tokens_output":3}';
        await applied(store, reserve('acc_demo', at), settle('acc_demo', 'req_audio', { at: AT, usage }));
        await foldUsage(store, 'acc_demo');
        const sums = await store.usage.sums('acc_demo', { by: 'kind' });
        expect(sums.find(({ group }) => group === 'text')).to.include({ tokensAudio: 20 });
      });
    });

    describe('continues', () => {
      it('with held calls and new ones', async () => {
        const held = Object.values(expected.charges as Rows).filter((charge) => (charge as Rows).state === 'held');
        expect(held).to.have.length(6);
        const ends = held.map((charge) => {
          const { id, wallet: of } = charge as { id: string; wallet: string };
          return { kind: 'settle', wallet: of, chargeId: id, at: AT, amount: 13n * RUB, usage: USED } as const;
        });
        for (const end of ends) expect(await statuses(store, end)).to.deep.equal(['done']);
        expect(await store.ledger.charge('req_text_held')).to.include({ state: 'settled', charged: 13n * RUB });
        const call = { chargeId: 'req_new', at: AT, key: 'key_main', amount: 20n * RUB };
        expect(await statuses(store, reserve('acc_main', call))).to.deep.equal(['done']);
        expect(await statuses(store, settle('acc_main', 'req_new', { at: AT }))).to.deep.equal(['done']);
        expect((await wallet('main'))?.held).to.equal(0n);
      });

      it('with open payments, refunds and disputes', async () => {
        const at = AT;
        const [paid] = await applied(store, { ...creditOf(await payment('succeeded')), at } as Operation);
        expect(paid?.payment).to.include({ phase: 'credited', credited: 1000n * RUB });
        const before = (await wallet('main'))?.avail ?? 0n;
        const back = { amount: 300n * RUB, suspend: true };
        const [booked] = await applied(
          store,
          refundBookingOp(await payment('noted'), { at, ref: 'back_noted', refund: 'rfd_noted' }, back),
        );
        expect(booked?.payment).to.include({ phase: 'partly_refunded', refunded: 300n * RUB, shortfall: 0n });
        const wish = { at, refund: 'rfd_asked', reason: 'the provider refuses it' };
        expect(await statuses(store, refundRefusalOp(await payment('asked'), wish))).to.deep.equal(['done']);
        const lost = { dispute: 'cb_disputed', amount: 1000n * RUB, suspend: true };
        expect(await statuses(store, createLostDisputeOp(await payment('disputed'), { at }, lost))).to.deep.equal([
          'done',
        ]);
        expect((await wallet('main'))?.avail).to.equal(before - 1300n * RUB);
      });

      it('with suspended accounts once they are resumed', async () => {
        expect(await store.accounts.setStatus('acc_suspended', 'active')).to.equal(true);
        const call = reserve('acc_suspended', { at: AT, key: 'key_suspended' });
        expect(await statuses(store, call)).to.deep.equal(['done']);
      });

      it('and still balances after it was opened again', async () => {
        expect(await problems()).to.deep.equal([]);
        await store.close();
        store = await openStore(database.url, { readOnly: true });
        expect(await problems()).to.deep.equal([]);
        expect((await wallet('tested'))?.playMoney).to.equal(true);
      });
    });
  });
}

describe('a store of the first release opened read-only', () => {
  async function refuse(url: string): Promise<string> {
    const error: unknown = await openStore(url, { readOnly: true }).then(
      (store) => store.close(),
      (reason) => reason,
    );
    expect(error).to.be.instanceOf(OperatorError);
    return (error as OperatorError).message;
  }

  for (const old of OLD_STORES) {
    (old.name === 'sqlite' ? it : itLong)(`is refused in one plain line, and left as it is: ${old.name}`, async () => {
      const database = await old.createBare();
      try {
        await old.restore(database);
        const look = async () => (old.name === 'mongodb' ? old.schema(database) : readFileSync(getFile(database)));
        const before = await look();
        const path = old.name === 'mongodb' ? '' : `^The database ${getFile(database)}`;
        const message = new RegExp(`${path} has schema version 1: start this Tollgate on it once\\.$`);
        expect(await refuse(database.url)).to.match(message);
        expect(await look()).to.deep.equal(before);
      } finally {
        await database.remove();
      }
    });
  }
});

describe('a migration of the first schema', () => {
  for (const old of OLD_STORES.filter(({ name }) => name !== 'backup')) {
    itLong(
      `is finished by the next process if earlier ones were killed in it: ${old.name}`,
      async function (this: Context) {
        this.timeout(120_000);
        const database = await old.createBare();
        const fresh = await old.createBare();
        try {
          await old.restore(database);
          const reached = new Set<number>();
          // In larger steps where starts take longer: their number would grow with it.
          for (let waitMs = 150; (await old.version(database)) < old.newest; waitMs += Math.max(20, waitMs / 25)) {
            await killAfter(waitMs, database.url);
            reached.add(await old.version(database));
          }
          expect(reached.size, 'versions at which a process was killed').to.be.above(1);
          await (await openStore(fresh.url)).close();
          const store = await openStore(database.url);
          const { problems } = await verifyLedger(store);
          await store.close();
          expect(problems).to.deep.equal([]);
          expect(await old.schema(database)).to.deep.equal(await old.schema(fresh));
        } finally {
          await database.remove();
          await fresh.remove();
        }
      },
    );
  }

  async function killAfter(ms: number, url: string): Promise<void> {
    const child = fork(OPENER, [url], { stdio: 'ignore' });
    const exited = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    await exited;
    clearTimeout(timer);
  }
});
