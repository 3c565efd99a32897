// Rules of the database itself: validators refuse what the ledger would never write, and queries use indexes.
import { expect } from 'chai';
import { type Document, Long, MongoClient } from 'mongodb';
import { isExactly } from '../../../lib/store/mongodb/fields.ts';
import { CHARGING, MOVES_MONEY } from '../../../lib/store/mongodb/schema.ts';
import { PAYMENTS } from '../../../lib/store/mongodb/usage-schema.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMongoDatabase, type MongoDatabase } from '../../../testkit/mongod.ts';
import { expectRecorded } from '../../../testkit/recorded.ts';
import { AT, applied, newWallet, rejection, reserve, settle } from '../../contract/store/context.ts';

const INVALID = 121;
const DUPLICATE = 11_000;

/** Those that are unique have once what can be there once, whoever writes it. */
const INDEXES: Readonly<Record<string, Document>> = {
  'keys hash': { key: { hash: 1 }, unique: true },
  'keys of_account': { key: { account: 1, createdAt: 1 } },
  'charges of_wallet': { key: { wallet: 1, createdAt: 1, _id: 1 } },
  'charges exposed': { key: { wallet: 1 }, partialFilterExpression: { state: 'held', excess: { $gt: 0 } } },
  'charges held': { key: { lease: 1 }, partialFilterExpression: { state: 'held' } },
  'call_attempts of_call': { key: { charge: 1, number: 1 } },
  'call_attempts by_time': { key: { at: 1, _id: 1 } },
  'budgets of_wallet': { key: { wallet: 1 } },
  'entries journal': { key: { wallet: 1, seq: 1 }, unique: true },
  'entries of_payments': { key: { at: 1 }, partialFilterExpression: PAYMENTS },
  'entries of_money': { key: { wallet: 1, at: 1, seq: 1 }, partialFilterExpression: MOVES_MONEY },
  'entries charged_by_time': {
    key: { wallet: 1, at: -1, seq: -1 },
    partialFilterExpression: { kind: { $in: ['charge', 'refund', 'settle'] } },
  },
  'jobs due': { key: { dueAt: 1, _id: 1 }, partialFilterExpression: { dueAt: { $gt: 0 } } },
  'payments by_ref': {
    key: { provider: 1, ref: 1 },
    unique: true,
    partialFilterExpression: { ref: { $type: 'string' } },
  },
  'payments due': { key: { dueAt: 1, _id: 1 }, partialFilterExpression: { dueAt: { $gt: 0 } } },
  'payments of_wallet': { key: { wallet: 1, createdAt: -1, _id: -1 } },
  'payments by_time': { key: { createdAt: -1, _id: -1 } },
  'payments by_phase': { key: { provider: 1, phase: 1, createdAt: -1 } },
  'saved_methods by_ref': { key: { provider: 1, ref: 1 }, unique: true },
  'saved_methods of_wallet': { key: { wallet: 1, createdAt: -1, _id: -1 } },
  'consents of_wallet': { key: { wallet: 1, at: -1, _id: -1 } },
  'auto_topups by_method': { key: { method: 1 }, partialFilterExpression: { method: { $type: 'string' } } },
  'notices by_time': { key: { at: 1 } },
  'notices by_verdict': { key: { verdict: 1, _id: -1 } },
  'media.files whole': {
    key: { filename: 1 },
    unique: true,
    partialFilterExpression: { 'metadata.whole': true },
  },
  'media.files by_end': {
    key: { 'metadata.expiresAt': 1 },
    partialFilterExpression: { 'metadata.whole': true },
  },
  'media.files unfinished': { key: { uploadDate: 1 }, partialFilterExpression: { 'metadata.whole': false } },
  'management_keys hash': { key: { hash: 1 }, unique: true },
  'management_keys of_account': { key: { account: 1 } },
  'management_replies by_end': { key: { expiresAt: 1 } },
  'media.chunks of_file': { key: { files_id: 1, n: 1 }, unique: true },
  'limits by_end': { key: { endsAt: 1 } },
  'usage_hours of_wallet': { key: { wallet: 1, hour: 1 } },
  'usage_hours by_time': { key: { hour: 1 } },
  'usage_days of_wallet': { key: { wallet: 1, day: 1 } },
  'usage_weeks of_wallet': { key: { wallet: 1, week: 1 } },
  'route_hours of_wallet': { key: { wallet: 1, hour: 1 } },
  'route_hours by_time': { key: { hour: 1 } },
  'service_sums by_charge': { key: { subject: 1, grain: 1, at: 1, name: 1, charged: 1, calls: 1 } },
  'archives unfinished': { key: { open: 1 }, unique: true, partialFilterExpression: { open: true } },
  'papers by_number': {
    key: { kind: 1, number: 1 },
    unique: true,
    partialFilterExpression: { number: { $type: 'number' } },
  },
  'papers by_time': { key: { kind: 1, at: -1, id: -1 } },
  'papers of_account': { key: { account: 1, kind: 1, at: -1, id: -1 } },
  'papers by_state': { key: { kind: 1, state: 1, at: -1, id: -1 } },
  'promo_uses of_code': { key: { code: 1, account: 1 } },
  'wallets by_grants_due': { key: { grantsDue: 1 }, partialFilterExpression: { grantsDue: { $gt: 0 } } },
  'users email': { key: { email: 1 }, unique: true },
  'memberships of_user': { key: { user: 1, account: 1 }, unique: true },
  'memberships of_account': { key: { account: 1, user: 1 } },
  'signins of_user': { key: { user: 1 } },
  'audit_log of_account': { key: { account: 1, _id: -1 } },
  'alarms of_account': { key: { account: 1, subject: 1 } },
  'rates of_currency': { key: { currency: 1, seq: 1 } },
  'refusals by_hour': { key: { hour: 1 } },
  'refusals of_account': { key: { account: 1, hour: -1, lastAt: -1 } },
  'links of_account': { key: { account: 1 }, partialFilterExpression: { account: { $type: 'string' } } },
  'accounts by_price_list': { key: { priceList: 1 }, partialFilterExpression: { priceList: { $type: 'string' } } },
  'accounts by_allowance': { key: { allowance: 1 }, partialFilterExpression: { allowance: { $gt: 0 } } },
  'repeats by_end': { key: { expiresAt: 1 } },
};

describe('MongoDB: schema', () => {
  let database: MongoDatabase;
  let client: MongoClient;
  let store: Store;
  let wallet: string;
  before(async () => {
    database = await createMongoDatabase();
    store = await openStore(database.url);
    wallet = await newWallet(store);
    const held = reserve(wallet, { chargeId: 'held' });
    await applied(store, held, reserve(wallet, { chargeId: 'ended' }), settle(wallet, 'ended'));
    client = await MongoClient.connect(database.url, { promoteLongs: false });
  });
  after(async () => {
    await client.close();
    await store.close();
    await database.remove();
  });

  const rows = (name: string) => client.db().collection<{ _id: string } & Document>(name);

  /** The error code with which the server refuses a change of a valid row. */
  async function codeOf(name: string, id: string, change: Document): Promise<unknown> {
    return rejection(rows(name).updateOne({ _id: id }, { $set: change })).then((error) => (error as Document).code);
  }

  it('stores every amount as int64', async () => {
    const money = {
      wallets: ['avail', 'held', 'charged', 'topped', 'adjusted'],
      charges: ['reserved', 'charged'],
      entries: ['avail', 'held', 'charged', 'topped', 'adjusted', 'overshoot', 'chargedAfter'],
    };
    for (const [name, columns] of Object.entries(money)) {
      const found = await rows(name).find().toArray();
      expect(found.length).to.be.greaterThan(0);
      for (const row of found) for (const column of columns) expect(row[column], column).to.be.instanceOf(Long);
    }
  });

  it('refuses an amount that is an int or a double', async () => {
    expect(await codeOf('wallets', wallet, { avail: 1000 })).to.equal(INVALID);
    expect(await codeOf('charges', 'held', { reserved: 1.5 })).to.equal(INVALID);
    expect(await codeOf('entries', 'reserve:held', { chargedAfter: 0 })).to.equal(INVALID);
  });

  it('refuses a wallet and an entry that do not balance', async () => {
    expect(await codeOf('wallets', wallet, { avail: Long.fromNumber(5) })).to.equal(INVALID);
    expect(await codeOf('entries', 'reserve:held', { avail: Long.fromNumber(5) })).to.equal(INVALID);
  });

  it('refuses negative amounts where they are impossible', async () => {
    const balanced = { held: Long.fromNumber(-1), avail: Long.fromNumber(1_000_000_001), charged: Long.ZERO };
    expect(await codeOf('wallets', wallet, balanced)).to.equal(INVALID);
    expect(await codeOf('charges', 'held', { reserved: Long.ZERO })).to.equal(INVALID);
    for (const excess of [Long.ZERO, 5, null]) expect(await codeOf('charges', 'held', { excess })).to.equal(INVALID);
  });

  it('refuses unknown states', async () => {
    expect(await codeOf('charges', 'held', { state: 'lost' })).to.equal(INVALID);
    expect(await codeOf('charges', 'held', { owner: null })).to.equal(INVALID);
    expect(await codeOf('charges', 'held', { endedAt: AT })).to.equal(INVALID);
    expect(await codeOf('charges', 'ended', { state: 'released' }), 'it is charged').to.equal(INVALID);
    expect(await codeOf('wallets', wallet, { status: 'closed' })).to.equal(INVALID);
    expect(await codeOf('wallets', wallet, { colour: 'red' })).to.equal(INVALID);
  });

  it('refuses a duplicate journal number', async () => {
    const entry = (await rows('entries').findOne({ _id: 'reserve:held' })) as Document;
    const error = await rejection(rows('entries').insertOne({ ...entry, _id: 'reserve:other' }));
    expect((error as Document).code).to.equal(DUPLICATE);
  });

  it('has each index exactly as a start of this version creates it', async () => {
    const found = await Promise.all(
      (await client.db().listCollections({}, { nameOnly: true }).toArray()).map(async ({ name: collection }) =>
        (await rows(collection).indexes())
          .filter(({ name }) => name !== '_id_')
          .map(({ v: _, name, ...spec }) => [`${collection} ${name}`, spec]),
      ),
    );
    expect(Object.fromEntries(found.flat())).to.deep.equal(INDEXES);
  });

  it('has the validators that are recorded', async () => {
    const found = (await client.db().listCollections().toArray()) as readonly Document[];
    const texts = found
      .map(({ name, options }) => `===== ${name}\n${JSON.stringify(options?.validator, null, 1)}`)
      .sort()
      .map((text) => text.replaceAll(/\n */g, (gap) => (gap.length > 5 ? ' ' : gap)));
    expectRecorded(new URL('validators.txt', import.meta.url), texts);
  });

  it('has an index for every query', async () => {
    const over = { $or: [{ lease: { $lt: AT } }, { lease: { $gt: AT + 30_000 } }] };
    const questions: readonly [string, Document, Document, string][] = [
      ['entries', { wallet, at: { $lte: AT }, ...CHARGING }, { at: -1, seq: -1 }, 'charged_by_time'],
      ['entries', { wallet, seq: { $lt: 9 } }, { seq: -1 }, 'journal'],
      ['charges', { state: 'held', owner: { $nin: ['a'] }, $and: [over] }, { lease: 1 }, 'held'],
      ['charges', { wallet: { $in: [wallet] }, state: 'held', excess: { $gt: 0 } }, {}, 'exposed'],
      ['charges', { wallet }, { createdAt: -1, _id: -1 }, 'of_wallet'],
      ['keys', { hash: 'a' }, {}, 'hash'],
      ['keys', { account: wallet, revokedAt: null }, {}, 'of_account'],
      ['limits', { endsAt: { $gt: AT } }, {}, 'by_end'],
      ['budgets', { wallet: { $in: [wallet] } }, {}, 'of_wallet'],
      ['jobs', { dueAt: { $gt: 0, $lte: AT } }, { dueAt: 1, _id: 1 }, 'due'],
      ['payments', { dueAt: { $gt: 0, $lte: AT } }, { dueAt: 1, _id: 1 }, 'due'],
      ['payments', { provider: 'till', ref: isExactly('a') }, {}, 'by_ref'],
      ['payments', { provider: 'till', ref: null, phase: 'created' }, {}, 'by_phase'],
      ['payments', { wallet }, { createdAt: -1, _id: -1 }, 'of_wallet'],
      ['payments', {}, { createdAt: -1, _id: -1 }, 'by_time'],
      ['saved_methods', { provider: 'till', ref: 'a' }, {}, 'by_ref'],
      ['saved_methods', { wallet }, { createdAt: -1, _id: -1 }, 'of_wallet'],
      ['consents', { wallet }, { at: -1, _id: -1 }, 'of_wallet'],
      ['auto_topups', { method: isExactly('pm_1') }, {}, 'by_method'],
      ['notices', { at: { $lt: AT } }, {}, 'by_time'],
      ['notices', { verdict: { $in: ['rejected', 'foreign'] } }, { _id: -1 }, 'by_verdict'],
      ['media.files', { filename: 'a', 'metadata.whole': true }, {}, 'whole'],
      ['media.files', { 'metadata.whole': true, 'metadata.expiresAt': { $lte: AT } }, {}, 'by_end'],
      ['media.files', { 'metadata.whole': false, uploadDate: { $lt: new Date(AT) } }, {}, 'unfinished'],
      ['media.chunks', { files_id: 'a', n: 3 }, {}, 'of_file'],
      ['usage_hours', { wallet, hour: { $gte: 0, $lt: AT } }, {}, 'of_wallet'],
      ['usage_hours', { hour: { $gte: 0, $lt: AT } }, {}, 'by_time'],
      ['usage_days', { wallet, day: { $gte: 0, $lt: AT } }, {}, 'of_wallet'],
      ['usage_weeks', { wallet, week: { $gte: 0, $lt: AT } }, {}, 'of_wallet'],
      ['route_hours', { wallet }, {}, 'of_wallet'],
      ['route_hours', { hour: { $gte: 0, $lt: AT } }, {}, 'by_time'],
      ['service_sums', { subject: 'model', grain: 'day', at: { $gte: 0, $lt: AT } }, {}, 'by_charge'],
      ['entries', { ...PAYMENTS, at: { $gte: 0, $lt: AT } }, {}, 'of_payments'],
      ['entries', { _id: { $gte: 'adjust:', $lt: 'adjust;' }, at: { $gte: 0, $lt: AT } }, {}, '_id_'],
      ['entries', { wallet, ...MOVES_MONEY, at: { $gte: 0, $lt: AT } }, { at: 1, seq: 1 }, 'of_money'],
      ['archives', { open: true }, {}, 'unfinished'],
      ['users', { email: 'ann@example.com' }, {}, 'email'],
      ['memberships', { user: 'a' }, { account: 1 }, 'of_user'],
      ['memberships', { account: 'a' }, { user: 1 }, 'of_account'],
      ['signins', { user: 'a' }, {}, 'of_user'],
      ['audit_log', { account: 'a' }, { _id: -1 }, 'of_account'],
      ['alarms', { account: 'a' }, { subject: 1 }, 'of_account'],
      ['repeats', { expiresAt: { $lte: AT } }, { expiresAt: 1 }, 'by_end'],
    ];
    for (const [name, filter, sort, index] of questions) {
      const { queryPlanner } = await rows(name).find(filter).sort(sort).explain('queryPlanner');
      const plan = JSON.stringify(queryPlanner.winningPlan);
      expect(plan, index)
        .to.include(`"indexName":"${index}"`)
        .and.to.not.match(/"stage":"(COLLSCAN|SORT)"/);
    }
  });

  it('ranks accounts without reading documents', async () => {
    const filter = { subject: 'account', grain: 'week', at: { $gte: 0, $lt: AT } };
    const projection = { _id: 0, name: 1, charged: 1, calls: 1 };
    const { queryPlanner } = await rows('service_sums').find(filter, { projection }).explain('queryPlanner');
    expect(JSON.stringify(queryPlanner.winningPlan))
      .to.include('"indexName":"by_charge"')
      .and.to.not.include('"FETCH"');
  });
});
