// A server that refuses commands, or runs them and reports a failure: the outcome of the write, and what is retried.
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import { OperatorError } from '../../../lib/base/operator-error.ts';
import { toAttemptRows } from '../../../lib/money/attempt.ts';
import { ATTEMPT_MS } from '../../../lib/store/mongodb/call.ts';
import { openStore } from '../../../lib/store/open.ts';
import { type Store, StoreError, type StoreOptions } from '../../../lib/store/store.ts';
import { until } from '../../../testkit/client.ts';
import { itLong, longer } from '../../../testkit/long.ts';
import { type ReplicaSet, startReplicaSet } from '../../../testkit/replica-set.ts';
import {
  AT,
  charge,
  newAttempt,
  newId,
  newWallet,
  RUB,
  rejection,
  statuses,
  walletOf,
} from '../../contract/store/context.ts';
import { bytesOf, newMedia, piecesOf } from '../../contract/store/media.ts';
import { makeUser } from '../../contract/store/people.ts';
import { PNG } from '../../media/sample-images.ts';

const WRITE_CONFLICT = 112;
/** Shutdown in progress: the command was interrupted while it ran. */
const INTERRUPTED = 91;
/** Its session was killed. */
const KILLED = 11_601;
const BAD_VALUE = 2;
const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
/** Another one builds an index of the collection, drops one that is read, or changes it. */
const BUSY = [12_587, 175, 117] as const;
const TAKEN = { errorCode: 11_000, errorExtraInfo: { keyPattern: { _id: 1 }, keyValue: { _id: 'name' } } };
/** Done, but not yet by a majority. */
const UNCONFIRMED = { writeConcernError: { code: 64, codeName: 'WriteConcernFailed', errmsg: 'not in time' } };

describe('MongoDB: a server whose commands fail', () => {
  let set: ReplicaSet;
  let admin: MongoClient;
  let store: Store;
  let wallet: string;

  before(async function () {
    this.timeout(60_000);
    set = await startReplicaSet({ members: 1, fallible: true });
    admin = await MongoClient.connect(set.url('admin'));
    store = await openStore(set.url('tollgate'));
  });
  beforeEach(async () => {
    wallet = await newWallet(store);
  });
  afterEach(() => fail('off', [], {}));
  after(async () => {
    await store.close();
    await admin.close();
    await set.stop();
  });

  async function fail(mode: 'alwaysOn' | 'off' | number, commands: readonly string[], how: Document): Promise<void> {
    await admin.db('admin').command({
      configureFailPoint: 'failCommand',
      mode: typeof mode === 'number' ? { times: mode } : mode,
      data: { failCommands: commands, appName: 'tollgate', ...how },
    });
  }

  const failureOf = async (work: Promise<unknown>) => {
    const error = await rejection(work);
    expect(error).to.be.instanceOf(StoreError);
    return (error as StoreError).applied;
  };

  describe('a start', () => {
    async function refused(command: string, errorCode: number, options?: StoreOptions): Promise<string> {
      await fail('alwaysOn', [command], { errorCode });
      const error = await rejection(openStore(set.url('fresh'), options));
      await fail('off', [], {});
      expect(error).to.be.instanceOf(OperatorError);
      return (error as OperatorError).message;
    }

    it('reports why the server rejects the URL', async () => {
      expect(await refused('buildInfo', AUTHENTICATION_FAILED)).to.match(
        /^MongoDB at 127\.0\.0\.1:\d+ refused the user name or the password\.$/,
      );
      expect(await refused('buildInfo', BAD_VALUE)).to.match(
        /^MongoDB at 127\.0\.0\.1:\d+ refused the connection: .+\.$/,
      );
    });

    itLong('reports missing permissions, whichever command fails', async () => {
      const commands = ['find', 'createIndexes'];
      for (const command of longer(commands, [...commands, 'listCollections', 'update', 'create'])) {
        expect(await refused(command, UNAUTHORIZED), command).to.equal(
          'The user of the database URL may not set up the database fresh: it needs the roles readWrite and dbAdmin on it.',
        );
      }
      expect(await refused('find', UNAUTHORIZED, { readOnly: true })).to.equal(
        'The user of the database URL may not read the database fresh.',
      );
      await (await openStore(set.url('fresh'))).close();
    });

    itLong('retries if other processes change the schema at the same time', async () => {
      for (const errorCode of longer<readonly number[]>(BUSY.slice(0, 2), BUSY)) {
        await fail(3, ['createIndexes', 'collMod'], { errorCode });
        await (await openStore(set.url(`busy_${errorCode}`))).close();
        await (await openStore(set.url(`busy_${errorCode}`), { readOnly: true })).close();
      }
    });
  });

  describe('a transaction', () => {
    it('changes a status once, even after conflicts and an unconfirmed commit', async () => {
      const id = await newWallet(store);
      await fail(2, ['commitTransaction'], { errorCode: WRITE_CONFLICT });
      expect(await store.accounts.setStatus(id, 'suspended')).to.equal(true);
      await fail(1, ['commitTransaction'], UNCONFIRMED);
      expect(await store.accounts.setStatus(id, 'active')).to.equal(true);
      await fail(1, ['insert'], { errorCode: BAD_VALUE });
      expect(await failureOf(store.accounts.setStatus(id, 'suspended'))).to.equal('no');
      const kinds = (await store.ledger.entries(id, { limit: 9 })).map(({ kind }) => kind);
      expect(kinds).to.deep.equal(['resume', 'suspend', 'topup']);
      expect((await walletOf(store, id)).status).to.equal('active');
    });

    it('restarts after conflicts, and is applied once', async () => {
      await fail(3, ['commitTransaction'], { errorCode: WRITE_CONFLICT });
      expect(await statuses(store, charge(wallet))).to.deep.equal(['done']);
      expect((await walletOf(store, wallet)).charged).to.equal(RUB);
    });

    it('restarts if its session was killed before the commit, and has an unknown outcome if during it', async () => {
      await fail(2, ['insert', 'bulkWrite'], { errorCode: KILLED });
      expect(await statuses(store, charge(wallet))).to.deep.equal(['done']);
      expect((await walletOf(store, wallet)).charged).to.equal(RUB);
      await fail(1, ['commitTransaction'], { errorCode: KILLED });
      expect(await failureOf(statuses(store, charge(wallet)))).to.equal('unknown');
    });

    itLong('gives up in time if conflicts do not end', async () => {
      await fail('alwaysOn', ['commitTransaction'], { errorCode: WRITE_CONFLICT });
      const from = performance.now();
      expect(await failureOf(store.ledger.apply([charge(wallet)]))).to.equal('unknown');
      // Sooner than its 4.5 s where the server does not answer one attempt.
      expect(performance.now() - from).to.be.within(ATTEMPT_MS - 100, 9000);
      expect((await walletOf(store, wallet)).charged).to.equal(0n);
    })?.timeout(20_000);

    it('has an unknown outcome if its commit is not confirmed, and is not applied twice if repeated', async () => {
      await fail(1, ['commitTransaction'], UNCONFIRMED);
      const op = charge(wallet);
      expect(await failureOf(statuses(store, op))).to.equal('unknown');
      expect(await statuses(store, op)).to.deep.equal(['exists']);
      expect((await walletOf(store, wallet)).charged).to.equal(RUB);
    });

    it('has not happened if one of its commands was refused, and its session is not reused', async () => {
      await fail('alwaysOn', ['insert', 'bulkWrite'], { errorCode: BAD_VALUE });
      for (let turn = 0; turn < longer(1, 3); turn += 1) {
        expect(await failureOf(statuses(store, charge(wallet)))).to.equal('no');
      }
      await fail('off', [], {});
      const many = await Promise.all(Array.from({ length: longer(6, 20) }, () => statuses(store, charge(wallet))));
      expect(new Set(many.flat())).to.deep.equal(new Set(['done']));
      expect((await walletOf(store, wallet)).charged).to.equal(BigInt(many.length) * RUB);
    });
  });

  describe('a single write that must not be repeated', () => {
    async function addKey(): Promise<string> {
      const id = newId('key');
      await store.keys.add({ id, account: wallet, name: 'n', hash: id, last4: 'abcd', createdAt: AT }, 10);
      return id;
    }
    const isRevoked = async () => (await store.keys.list(wallet))[0]?.revokedAt === AT;

    it('has an unknown outcome if it was interrupted', async () => {
      const id = await addKey();
      await fail(1, ['update'], { errorCode: INTERRUPTED });
      expect(await failureOf(store.keys.revoke(id, AT))).to.equal('unknown');
      expect(await isRevoked()).to.equal(false);
    });

    it('has an unknown outcome if it is not confirmed, and is not retried', async () => {
      const id = await addKey();
      await fail(1, ['update'], UNCONFIRMED);
      expect(await failureOf(store.keys.revoke(id, AT))).to.equal('unknown');
      // Reads see it once a majority has the write.
      await until(isRevoked);
    });

    it('has not happened if it was refused', async () => {
      const id = await addKey();
      await fail(1, ['update'], { errorCode: BAD_VALUE });
      expect(await failureOf(store.keys.revoke(id, AT))).to.equal('no');
      expect(await isRevoked()).to.equal(false);
    });

    it('is retried only if another process created its row at the same time', async () => {
      const attempt = () => store.sessions.count('name', { now: AT, since: AT - 1000, waitsMs: [0] });
      await fail(1, ['findAndModify'], TAKEN);
      expect(await attempt()).to.equal(0);
      await fail('alwaysOn', ['findAndModify'], TAKEN);
      expect(await failureOf(attempt())).to.equal('no');
      await fail(1, ['findAndModify'], { errorCode: BAD_VALUE });
      expect(await failureOf(attempt())).to.equal('no');
      expect(await attempt()).to.equal(0);
      expect(await store.sessions.attempts('name')).to.include({ count: 2 });
    });

    it('counts no hit twice, and counts one whose window was opened concurrently', async () => {
      const hit = () => store.limits.hit('bucket', 60_000, AT);
      await fail(1, ['findAndModify'], TAKEN);
      expect(await hit()).to.include({ count: 1 });
      await fail(1, ['findAndModify'], UNCONFIRMED);
      expect(await failureOf(hit())).to.equal('unknown');
      expect(await hit()).to.include({ count: 3 });
    });

    const others: Readonly<Record<string, readonly [command: string, work: () => Promise<unknown>]>> = {
      'that adds a user': ['insert', () => store.users.add(makeUser())],
      'that changes a user': ['update', () => store.users.change(user)],
      'that changes alerts': ['insert', () => store.alerts.change(wishes)],
      'that ends a session': ['delete', () => store.sessions.remove(user.id)],
      'that takes a link': ['findAndModify', () => store.sessions.takeLink(user.id)],
      'that takes an attempt back': ['update', () => store.sessions.uncount(user.id)],
    };
    const user = makeUser();
    const wishes = { account: user.id, balanceBelow: null, budgets: true, webhook: null, version: 0 };
    for (const [what, [command, work]] of Object.entries(others)) {
      it(`${what} has an unknown outcome if it is not confirmed, and is not attributed to another caller`, async () => {
        await store.users.add(user);
        await fail(1, [command], UNCONFIRMED);
        expect(await failureOf(work())).to.equal('unknown');
      });
    }

    it('is retried if that changes nothing more', async () => {
      await fail(2, ['update'], UNCONFIRMED);
      const wish = { enabled: true, amount: 5n, threshold: 1n };
      expect(await store.accounts.setAutoTopup(wallet, wish)).to.equal(true);
      expect((await store.accounts.get(wallet))?.autoTopup).to.deep.equal(wish);
    });
  });

  describe('a single write that changes nothing more when it is repeated', () => {
    const person = makeUser();
    const { id, email, createdAt } = person;
    const line = { at: AT, user: person.id, action: 'key.issue', account: 'acc', target: 'k', detail: '{}' };
    const audited = { ...line, address: '192.0.2.1' };
    const member = { user: person.id, account: 'acc', role: 'owner' } as const;
    const rate = { currency: 'USD', rub: 90n * RUB, from: '2026-01-01', at: AT };
    const writes: Readonly<Record<string, readonly [command: string, work: () => Promise<unknown>]>> = {
      'of a setting': ['update', () => store.settings.set('name', 'value')],
      'of a membership': ['update', () => store.users.join(member)],
      'of a former user': ['update', () => store.users.putFormer([{ id, email, createdAt, removedAt: AT }])],
      'of a line of the audit log': ['update', () => store.auditLog.append(audited)],
      'of an attempt': ['update', () => store.attempts.put(toAttemptRows({ charge: 'req_1', wallet }, [newAttempt()]))],
      'of a rate': ['insert', () => store.rates.record([rate])],
      'of the lease of an owner': ['update', () => store.owners.renew({ id: 'own_1', leaseMs: 60_000, alone: false })],
      'of the end of an owner': ['delete', () => store.owners.remove('own_1')],
    };
    for (const [what, [command, work]] of Object.entries(writes)) {
      it(`${what} is sent again if it is not confirmed`, async () => {
        await fail(1, [command], UNCONFIRMED);
        await work();
      });
    }
  });

  for (const [what, command] of [
    ['begun or continued', 'insert'],
    ['ended', 'update'],
  ] as const) {
    it(`writes a media file once even if the answer that it is ${what} was lost`, async () => {
      await fail(1, [command], UNCONFIRMED);
      const media = newMedia();
      expect(await store.media.write(media, piecesOf(PNG))).to.deep.equal({ ...media, bytes: PNG.length });
      expect((await bytesOf(store, media.id)).equals(PNG)).to.equal(true);
    });
  }
});
