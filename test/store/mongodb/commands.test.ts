// Every call of the store as the driver gets it: a read has a deadline, a write waits for a majority.
import { expect } from 'chai';
import { type ClientSession, Collection, Db, type Document, MongoClient } from 'mongodb';
import { NO_LIMITS } from '../../../lib/money/key-limits.ts';
import { type PortName, READS } from '../../../lib/store/port-calls.ts';
import { NO_USAGE } from '../../../lib/store/usage-totals.ts';
import { MONGODB } from '../../../testkit/stores.ts';
import { AT, applied, charge, newId, newWallet, type StoreContext, useStore } from '../../contract/store/context.ts';
import { bytesOf, newMedia, piecesOf } from '../../contract/store/media.ts';
import { newAuto, newMethod, newOrder, newWebhook } from '../../contract/store/payments.ts';
import { makeUser } from '../../contract/store/people.ts';

type Method = (...args: never[]) => unknown;

/** Calls `see` with the arguments of every call of a method of the driver. */
function watch(of: object, name: string, see: (args: readonly unknown[]) => void): () => void {
  const methods = of as Record<string, Method>;
  const method = methods[name] as Method;
  methods[name] = function (this: unknown, ...args: never[]) {
    see(args);
    return method.apply(this, args);
  };
  return () => {
    methods[name] = method;
  };
}

describe('calls of the MongoDB store', () => {
  const context = useStore(MONGODB);
  const page = { limit: 5 };
  const query = { by: 'day', from: 0, to: 1 } as const;

  /** The arguments of every read; without an entry it has none. */
  const ARGUMENTS: { readonly [Name in PortName]?: Readonly<Record<string, readonly unknown[]>> } = {
    refusals: { list: ['w', page], page: [page] },
    ledger: {
      wallet: ['w'],
      charge: ['c'],
      charges: ['w', { ...page, before: 'c' }],
      entry: ['e'],
      entries: ['w', page],
      listChargeEntries: ['c'],
      chargedAt: ['w', AT],
      movements: ['w', { from: 0, to: AT, ...page }],
      movedSince: ['w', AT],
      paidBefore: ['w', AT],
      hadGrants: ['w'],
      grantsCharged: ['w', { from: AT, to: AT + 1 }],
      paymentSums: [{ from: 0, to: AT }],
      correctionSum: [{ from: 0, to: AT }],
      transfers: [{ from: 0, to: AT, limit: 5, before: { at: AT, opId: 'pay:1' } }],
      budgets: [['k']],
      budgetPage: [{ after: 'a', before: 'b', ...page }],
      grantsDue: [{ now: AT, after: '', limit: 1 }],
      orphans: [{ now: AT, leaseMs: 1000, ...page }],
    },
    journal: {
      page: [undefined, 5],
      rows: [undefined, 5],
      walletPage: ['w', 0, 5],
      usedEntries: ['w', 0, 5],
      unknownCharges: ['', 5],
      keys: ['', 5],
    },
    attempts: { list: [['c']], page: [{ from: 0, ...page }], search: [page], sums: [query], unknownCharges: ['', 5] },
    checkpoints: { changes: ['', 5], page: ['', 5] },
    archives: { opening: ['w'], openings: [{ after: '', ...page }], findWrongMarks: ['openings', page] },
    accounts: {
      get: ['a'],
      names: [['a']],
      countCreated: [{ from: 0, to: AT }],
      page: [page],
      findWrongMarks: [page],
    },
    keys: {
      find: ['h'],
      get: ['k'],
      list: ['a'],
      findAccountsByEnd: ['abcd', 5],
      lastUses: [['a']],
      owners: [page],
      findWrongMarks: [page],
    },
    settings: { get: ['s'] },
    catalogVersions: { get: [1], last: [], page: [{ before: 1, ...page }] },
    management: { findKey: ['h'], getKey: ['k'], listKeys: ['a'], replyPage: [page] },
    papers: { get: ['act', 'a'], find: ['act', 1], list: [{ kind: 'act', ...page }], page: [page] },
    promos: { get: ['c'], page: [{ after: '', ...page }], uses: [page] },
    jobs: { get: ['j'], page: [page], findWrongMarks: [page] },
    payments: {
      get: ['p'],
      find: ['p', 'r'],
      list: [page],
      method: ['m'],
      methods: ['w'],
      consents: ['w'],
      autoTopup: ['w'],
      webhook: ['n'],
      webhooks: [page],
      page: ['notices', page],
      hasUnknownRefs: ['p', AT],
      findWrongMarks: ['payments', page],
    },
    media: { get: ['m'], latest: ['a', { now: AT, from: 0, limit: 1 }], page: [page] },
    usage: {
      progress: ['w'],
      sums: ['w', query],
      slots: ['w', { by: 'model', starts: [0], to: AT }],
      readAll: ['w'],
      findBehind: ['', 5],
      serviceSums: [{ subject: 'model', from: 0, to: AT, by: 'name' }],
      serviceDay: [0],
      serviceWeek: [0],
    },
    users: {
      get: ['u'],
      find: ['e'],
      page: [page],
      former: ['u'],
      formerPage: [page],
      listUserMemberships: ['u'],
      listAccountMembers: ['a'],
      listOwnerEmails: [['a']],
      memberships: [page],
      findWrongMarks: [page],
    },
    sessions: { get: ['h'], list: ['u'], link: ['h'], listInvitations: ['a'], attempts: ['n'] },
    auditLog: { page: [page] },
    alerts: { get: ['a'], page: [page], alarms: ['a'] },
    idempotency: { get: ['r'], page: [page] },
  };

  it('end every query at its deadline', async () => {
    const wallet = await newWallet(context.store);
    await applied(context.store, charge(wallet));
    const media = newMedia();
    await context.store.media.write(media, piecesOf(Buffer.from('abc')));
    const open: string[] = [];
    let [current, queries] = ['', 0];
    /** Methods with options take them last. */
    const see = (args: readonly unknown[]) => {
      queries += 1;
      if (!((args.at(-1) as Document | undefined)?.signal instanceof AbortSignal)) open.push(current);
    };
    const names = ['find', 'findOne', 'aggregate', 'countDocuments'];
    const restore = [
      ...names.map((name) => watch(Collection.prototype, name, see)),
      ...['command', 'listCollections'].map((name) => watch(Db.prototype, name, see)),
    ];
    try {
      for (const [port, calls] of Object.entries(READS)) {
        for (const name of calls.filter((call) => call !== 'read')) {
          [current, queries] = [`${port}.${name}`, 0];
          await callOf(context, port as PortName, name, ARGUMENTS[port as PortName]?.[name] ?? []);
          expect(queries, current).to.be.above(0);
        }
      }
      for (const [name, work] of Object.entries(others(media.id))) {
        [current, queries] = [name, 0];
        await work();
        expect(queries, current).to.be.above(0);
      }
    } finally {
      for (const each of restore) each();
    }
    expect(open).to.deep.equal([]);
  });

  /** Reads that are not in a port's list, and reads made by writes. */
  function others(media: string): Readonly<Record<string, () => Promise<unknown>>> {
    const { store } = context;
    const claim = { owner: 'own_1', leaseMs: 1000, limit: 1, at: Date.now() };
    return {
      ping: () => store.ping(),
      gateways: () => store.gateways(),
      'media.read': () => bytesOf(store, media),
      'media.clean': () => store.media.clean(0, 1),
      'limits.open': () => store.limits.open(AT),
      'jobs.claim': () => store.jobs.claim(claim),
      'payments.claim': () => store.payments.claim(claim),
      'owners.renew': () => store.owners.renew({ id: 'own_1', leaseMs: 1000, alone: false }),
      'keys.revoke': () => store.keys.revoke('none', AT),
      'idempotency.clean': () => store.idempotency.clean(0, 1),
      'archives.begin': () => store.archives.begin(anArchive()),
    };
  }

  it('end the session of every snapshot', async () => {
    const { startSession } = MongoClient.prototype;
    const sessions: ClientSession[] = [];
    MongoClient.prototype.startSession = function (this: MongoClient, options) {
      const session = startSession.call(this, options);
      if (options?.snapshot) sessions.push(session);
      return session;
    };
    try {
      await context.store.journal.rows(undefined, 5);
      await context.store.journal.unknownCharges('', 5);
      await context.store.attempts.unknownCharges('', 5);
      await context.store.usage.readAll('none');
    } finally {
      MongoClient.prototype.startSession = startSession;
    }
    expect(sessions.map(({ hasEnded }) => hasEnded)).to.deep.equal([true, true, true, true]);
  });

  it('wait for a majority with every write, except for counts that may be lost', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const strong = new Set<string>();
    const weak = new Set<string>();
    const restore = watch(Db.prototype, 'command', ([command, options]) => {
      const { writeConcern, ...rest } = command as Document;
      const [[name, collection] = []] = Object.entries(rest);
      const isWrite = ['insert', 'update', 'delete', 'findAndModify'].includes(name ?? '');
      if (!isWrite || (options as Document).session !== undefined) return;
      (writeConcern?.w === 'majority' ? strong : weak).add(`${name} ${collection}`);
    });
    try {
      for (const work of writes(wallet)) await work();
    } finally {
      restore();
    }
    // Leases of a moment are written from time to time.
    weak.delete('update sessions');
    // Windows of a minute, and rows of gateways long gone.
    expect([...weak]).to.have.members(['findAndModify limits', 'delete limits', 'delete owners']);
    expect(strong.size).to.be.above(25);
  });

  function writes(wallet: string): readonly (() => Promise<unknown>)[] {
    const { store } = context;
    const id = newId('key');
    const user = makeUser();
    const webhook = newWebhook();
    const method = newMethod(wallet);
    const key = { id, account: wallet, name: 'n', hash: id, last4: 'abcd', createdAt: AT };
    const session = { hash: newId('hash'), user: 'u', createdAt: AT, seenAt: AT, expiresAt: AT, idleMs: 1 };
    const link = {
      hash: newId('hash'),
      purpose: 'reset',
      user: 'u',
      account: null,
      email: null,
      expiresAt: AT,
    } as const;
    const row = { at: AT, user: 'u', action: 'a', account: null, target: '', detail: '', address: '' };
    const alerts = { account: wallet, balanceBelow: null, budgets: true, webhook: null, version: 0 };
    const sums = { avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n, overshoot: 0n };
    const usage = { ...NO_USAGE, calls: 1, charged: 1n };
    const hour = { hour: 0, key: 'k', model: 'm', kind: 'text' as const, ...usage };
    return [
      () => applied(store, charge(wallet)),
      () => store.accounts.setStatus(wallet, 'suspended'),
      () => store.accounts.setAutoTopup(wallet, { enabled: false, amount: 0n, threshold: 0n }),
      () => store.keys.add(key, 10),
      () => store.keys.put(id, NO_LIMITS),
      () => store.keys.revoke(id, AT),
      () => store.settings.set('a', 'b'),
      () => store.users.add(user),
      () => store.users.change(user),
      () => store.users.join({ user: user.id, account: wallet, role: 'owner' }),
      () => store.users.setMembership({ user: user.id, account: wallet, role: 'member' }, AT),
      () => store.users.handOver({ account: wallet, from: user.id, to: 'usr_other', at: AT }),
      () => store.users.leave({ user: user.id, account: wallet, at: AT, isForced: true }),
      () => store.users.addFirstOperator(makeUser({ operator: true })),
      () => store.users.suspend({ ...user, version: 2 }, AT),
      () => store.users.remove({ ...user, version: 3 }, AT),
      () => store.users.putFormer([{ id: 'u', email: 'e', createdAt: AT, removedAt: AT }]),
      () => store.sessions.add({ ...session, provenAt: null, address: '', agent: '' }),
      () => store.sessions.touch(session.hash, { seenAt: AT, provenAt: null }),
      () => store.sessions.count('name', { now: AT, since: AT, waitsMs: [0] }),
      () => store.sessions.uncount('name'),
      () => store.sessions.putDevice({ hash: newId('hash'), user: 'u', expiresAt: AT }),
      () => store.sessions.forget('name'),
      () => store.sessions.addLink(link),
      () => store.sessions.takeLink(link.hash),
      () => store.sessions.clean({ now: AT, since: AT }),
      () => store.auditLog.append(row),
      () => store.alerts.change(alerts),
      () => store.alerts.change({ ...alerts, version: 1 }),
      () => store.alerts.put({ ...alerts, version: 2 }, [{ account: wallet, subject: 's', state: '', version: 1 }]),
      () => store.idempotency.storeReply({ id: 'r', charge: 'c' }, null),
      () => store.usage.put(wallet, { cursor: 1, hours: [hour], routes: [], jobs: [], isPartial: false }),
      () => store.checkpoints.put([{ wallet, seq: 1, ...sums }]),
      () => store.archives.put({ ...anArchive(), state: 'done', sha256: 'x' }),
      () => store.archives.drop('none'),
      () => store.payments.put('payments', []),
      () => store.payments.create(newOrder(wallet)),
      () => store.payments.saveMethod(method),
      () => store.payments.addWebhook(webhook),
      () => store.payments.setWebhookVerdict(webhook.id, { verdict: 'done', detail: '' }),
      () => store.payments.removeOldWebhooks(0),
      () => store.payments.put('autoTopups', [newAuto(wallet, { version: 1 })]),
      () => store.payments.renew({ id: 'p', version: 1, owner: 'o', leaseMs: 1 }),
      () => store.jobs.renew({ id: 'j', version: 1, owner: 'o', leaseMs: 1 }),
      () => store.owners.renew({ id: 'own_1', leaseMs: 1, alone: false }),
      () => store.owners.remove('own_1'),
      () => store.limits.hit('b', 1000, AT),
      () => store.limits.merge([], AT),
      () => store.media.write(newMedia(), piecesOf(Buffer.from('abc'))),
    ];
  }
});

function anArchive() {
  const none = { sha256: null, calls: 0, entries: 0, charged: 0n, first: null, last: null };
  return { id: newId('arc'), file: '/a', before: AT, state: 'writing', startedAt: AT, ...none } as const;
}

function callOf({ store }: StoreContext, port: PortName, name: string, args: readonly unknown[]): Promise<unknown> {
  const calls = store[port] as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
  const call = calls[name];
  if (!call) throw new Error(`no call ${port}.${name}`);
  return call(...args);
}
