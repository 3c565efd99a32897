// What the validator of each collection accepts, field by field: it is the last to refuse a row.
import { expect } from 'chai';
import { type Document, Int32, Long, MongoBulkWriteError, MongoClient } from 'mongodb';
import { ATTEMPT_ENDINGS, CERTAINTIES } from '../../../lib/money/attempt.ts';
import { CHARGE_KINDS, ENTRY_KINDS } from '../../../lib/money/operations.ts';
import { CALL_ATTEMPTS_COLLECTION } from '../../../lib/store/mongodb/attempt-schema.ts';
import { COLLECTIONS, DEVICES, FORMER_USERS } from '../../../lib/store/mongodb/schema.ts';
import { TIME_FIELDS } from '../../../lib/store/mongodb/service-upsert.ts';
import { ROUTE_HOURS, SERVICE_SUMS, USAGE_DAYS, USAGE_WEEKS } from '../../../lib/store/mongodb/usage-schema.ts';
import { openStore } from '../../../lib/store/open.ts';
import { createBareMongoDatabase, type MongoDatabase } from '../../../testkit/mongod.ts';
import { AT, rejection } from '../../contract/store/context.ts';
import { changed, without } from './changed-row.ts';

const long = (value: number) => Long.fromNumber(value);
const int = (value: number) => new Int32(value);

/** The values that a field takes, the first of which is in the row, and some that it does not. */
interface Values {
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
  /** The field may be missing. */
  readonly optional?: boolean;
}

const orNull = ({ good, bad }: Values): Values => ({ good: [null, ...good], bad: bad.filter((one) => one !== null) });
const oneOf = (...good: readonly string[]): Values => ({ good, bad: ['other', null] });
const optional = (values: Values): Values => ({ ...values, optional: true });

const ANY: Values = { good: ['x'], bad: [], optional: true };
const NAME: Values = { good: ['x'], bad: ['', null, 5] };
const TEXT: Values = { good: ['x', ''], bad: [null, 5] };
const FLAG: Values = { good: [true, false], bad: [null, 1] };
const TIME: Values = { good: [AT, 0], bad: [-1, null, '1'] };
const COUNT: Values = { good: [0, 1], bad: [-1, 0.5, null, '1'] };
const INTEGER: Values = { good: [0, 1, -1], bad: [0.5, null, '1'] };
const VERSION: Values = { good: [1, 2], bad: [0, 1.5, null] };
const MONEY: Values = { good: [long(0), long(-1)], bad: [int(0), 0.5, null] };
const AMOUNT: Values = { good: [long(0), long(1)], bad: [long(-1), int(0), null] };
const PRICE: Values = { good: [long(1)], bad: [long(0), int(1), null] };
const TEXT_OR_NULL = orNull(TEXT);
const TIME_OR_NULL = orNull(TIME);
const INTEGER_OR_NULL = orNull(INTEGER);
/** A column of a balance, which changes only with another. */
const PART: Values = { good: [long(0)], bad: [int(0), null, long(5)] };

const PLACE_OR_NULL: Values = { good: [null, 0, 1], bad: [-1, '1'] };
type Fields = Readonly<Record<string, Values>>;

/** The times to the first fragment. */
const TIMES: Fields = Object.fromEntries(TIME_FIELDS.map((name) => [name, INTEGER]));
const OPTIONAL_TIMES: Fields = Object.fromEntries(TIME_FIELDS.map((name) => [name, optional(INTEGER)]));
const COST = { currency: 'USD', prices: '{}', rate: long(1), cost: long(1), costRub: long(1) };

interface Rules {
  /** A dot in a name leads into an object. */
  readonly fields: Fields;
  /** Further fields are accepted. */
  readonly open?: boolean;
  /** Accepted changes of the row. */
  readonly takes?: readonly Document[];
  readonly refuses?: readonly Document[];
}

const LEASES = {
  takes: [{ owner: 'own', lease: 0 }],
  refuses: [{ owner: 'own' }, { lease: AT }, { owner: 5, lease: AT }, { owner: 'own', lease: -1 }],
};
const NOTHING: Values = { good: [long(0)], bad: [int(0), long(1), long(-1), null] };
const HALF: Values = { good: [null], bad: [] };

const BALANCES = {
  takes: [
    { avail: long(5), topped: long(5) },
    { avail: long(-5), adjusted: long(-5) },
    { held: long(5), topped: long(5) },
    { charged: long(5), adjusted: long(5) },
  ],
  refuses: [
    { held: long(-1), avail: long(1) },
    { charged: long(-1), avail: long(1) },
    { topped: long(-1), adjusted: long(1) },
  ],
};
const PARTS = { avail: PART, held: PART, charged: PART, topped: PART, adjusted: PART };

const ENDED = { owner: null, lease: null, endedAt: AT };
const BUDGET = { key: 'k', period: AT, spent: long(-5) };

/** Sums of usage by the day or the week. */
const describeCoarser = (grain: string): Rules => ({
  fields: {
    _id: NAME,
    wallet: NAME,
    [grain]: TIME,
    key: NAME,
    model: NAME,
    kind: NAME,
    calls: INTEGER,
    charged: MONEY,
    refunded: MONEY,
    tokensInput: INTEGER,
    tokensAudio: optional(INTEGER),
    tokensCacheRead: INTEGER,
    tokensCacheWrite: INTEGER,
    tokensCacheWrite1h: INTEGER,
    tokensOutput: INTEGER,
    tokensReasoning: INTEGER,
    images: INTEGER,
    seconds: INTEGER,
    failed: INTEGER,
    cost: MONEY,
    unpriced: INTEGER,
  },
});

const MONEY_ROWS: Readonly<Record<string, Rules>> = {
  accounts: {
    fields: {
      _id: NAME,
      name: TEXT,
      createdAt: TIME,
      keysAdded: COUNT,
      autoTopup: { good: [{ enabled: true, amount: long(1), threshold: long(0) }], bad: ['x', null] },
      'autoTopup.enabled': optional(FLAG),
      'autoTopup.amount': optional(AMOUNT),
      'autoTopup.threshold': optional(AMOUNT),
    },
  },
  wallets: { fields: { _id: NAME, ...PARTS, seq: COUNT, status: oneOf('active', 'suspended') }, ...BALANCES },
  keys: {
    fields: {
      _id: NAME,
      account: NAME,
      name: TEXT,
      hash: NAME,
      last4: TEXT,
      createdAt: TIME,
      revokedAt: TIME_OR_NULL,
      requestsCount: COUNT,
      lastUsedAt: TIME_OR_NULL,
      budgetKey: orNull(NAME),
      'limits.budget': orNull(PRICE),
      'limits.reset': oneOf('none', 'day', 'week', 'month'),
      'limits.zone': NAME,
      'limits.expiresAt': TIME_OR_NULL,
      'limits.models': { good: [null, [], ['m']], bad: ['m', [''], [5]] },
    },
    takes: [{ createdBy: 'usr_1' }],
    refuses: [{ 'limits.more': 1 }, { limits: 'x' }, { createdBy: '' }],
  },
  charges: {
    open: true,
    fields: {
      _id: ANY,
      wallet: TEXT,
      key: TEXT,
      kind: oneOf(...CHARGE_KINDS),
      prices: TEXT,
      state: { good: ['held'], bad: ['settled', 'lost', null] },
      reserved: PRICE,
      createdAt: TIME,
      charged: NOTHING,
      owner: TEXT,
      lease: TIME,
      endedAt: { good: [null], bad: [AT], optional: true },
    },
    takes: [
      ...['settled', 'refunded'].flatMap((state) => [
        { state, ...ENDED, charged: long(5) },
        { state, ...ENDED, charged: long(0) },
      ]),
      ...['released', 'expired'].map((state) => ({ state, ...ENDED })),
    ],
    refuses: [
      ...['settled', 'refunded', 'released', 'expired'].flatMap((state) => [
        { state, ...ENDED, owner: 'own' },
        { state, ...ENDED, lease: AT },
        { state, ...ENDED, endedAt: null },
      ]),
      ...['released', 'expired', 'lost'].map((state) => ({ state, ...ENDED, charged: long(5) })),
      { state: 'lost', ...ENDED },
    ],
  },
  budgets: { fields: { _id: NAME, wallet: NAME, period: TIME, spent: MONEY } },
  entries: {
    open: true,
    fields: {
      _id: ANY,
      wallet: TEXT,
      at: TIME,
      kind: oneOf(...ENTRY_KINDS),
      ...PARTS,
      seq: { good: [1, 2], bad: [0, null, '1'] },
      overshoot: AMOUNT,
      chargedAfter: AMOUNT,
    },
    takes: [...BALANCES.takes, ...BALANCES.refuses],
  },
  call_attempts: {
    open: true,
    fields: {
      _id: ANY,
      charge: TEXT,
      number: { good: [1, 2], bad: [0, null, '1'] },
      wallet: TEXT,
      last: FLAG,
      model: TEXT,
      upstream: TEXT_OR_NULL,
      upstreamModel: TEXT_OR_NULL,
      keyPlace: PLACE_OR_NULL,
      requestId: TEXT_OR_NULL,
      at: TIME,
      ending: oneOf(...ATTEMPT_ENDINGS),
      firstMs: PLACE_OR_NULL,
      totalMs: TIME,
      usage: TEXT_OR_NULL,
      certainty: oneOf(...CERTAINTIES),
      cost: { good: [COST, null], bad: [5, 'x', {}] },
      mark: TEXT,
    },
    takes: [{ 'cost.cost': long(0), 'cost.costRub': long(0) }],
    refuses: [
      { 'cost.currency': null },
      { 'cost.prices': null },
      { 'cost.rate': long(0) },
      { 'cost.rate': int(1) },
      { 'cost.cost': long(-1) },
      { 'cost.cost': int(1) },
      { 'cost.costRub': long(-1) },
      { 'cost.costRub': 0.5 },
    ],
  },
  usage_hours: {
    fields: {
      _id: NAME,
      wallet: NAME,
      hour: TIME,
      key: NAME,
      model: NAME,
      kind: NAME,
      calls: INTEGER,
      charged: MONEY,
      refunded: MONEY,
      tokensInput: INTEGER,
      tokensAudio: { ...INTEGER, optional: true },
      tokensCacheRead: { ...INTEGER, optional: true },
      tokensCacheWrite: { ...INTEGER, optional: true },
      tokensCacheWrite1h: { ...INTEGER, optional: true },
      tokensOutput: INTEGER,
      tokensReasoning: { ...INTEGER, optional: true },
      images: INTEGER,
      seconds: INTEGER,
      failed: { ...INTEGER, optional: true },
      cost: { ...MONEY, optional: true },
      unpriced: { ...INTEGER, optional: true },
    },
  },
  usage_days: describeCoarser('day'),
  usage_weeks: describeCoarser('week'),
  route_hours: {
    fields: {
      _id: NAME,
      wallet: NAME,
      hour: TIME,
      upstream: TEXT,
      model: NAME,
      ending: NAME,
      reason: TEXT,
      attempts: INTEGER,
      failed: INTEGER,
      cost: MONEY,
      unpriced: INTEGER,
      ...TIMES,
    },
  },
  service_sums: {
    fields: {
      _id: NAME,
      subject: oneOf('model', 'account', 'route'),
      grain: oneOf('hour', 'day', 'week'),
      at: TIME,
      name: NAME,
      calls: INTEGER,
      charged: MONEY,
      refunded: MONEY,
      attempts: optional(INTEGER),
      failed: INTEGER,
      cost: MONEY,
      unpriced: INTEGER,
      ...OPTIONAL_TIMES,
    },
  },
  usage_cursors: {
    fields: { _id: NAME, seq: VERSION, jobs: optional(TEXT), partial: optional(FLAG) },
  },
  checkpoints: {
    fields: {
      _id: NAME,
      seq: VERSION,
      avail: MONEY,
      held: MONEY,
      charged: MONEY,
      topped: MONEY,
      adjusted: MONEY,
      overshoot: MONEY,
    },
  },
  openings: {
    fields: {
      _id: NAME,
      seq: VERSION,
      ...PARTS,
      overshoot: AMOUNT,
      lasting: COUNT,
      kept: TEXT_OR_NULL,
      budgets: { good: [[BUDGET], []], bad: ['x', null, ['x'], [{ ...BUDGET, key: '' }], [{ ...BUDGET, more: 1 }]] },
    },
    takes: BALANCES.takes,
    refuses: [
      ...BALANCES.refuses,
      ...['key', 'period', 'spent'].map((name) => ({ budgets: [without(BUDGET, name)] })),
      ...[{ period: -1 }, { spent: int(5) }].map((wrong) => ({ budgets: [{ ...BUDGET, ...wrong }] })),
    ],
  },
  archives: {
    fields: {
      _id: NAME,
      file: NAME,
      before: TIME,
      state: oneOf('writing', 'leaving', 'done'),
      startedAt: TIME,
      sha256: TEXT_OR_NULL,
      calls: COUNT,
      entries: COUNT,
      charged: MONEY,
      first: TIME_OR_NULL,
      last: TIME_OR_NULL,
      open: FLAG,
    },
  },
};
const OPEN_JOB = { phase: 'running', dueAt: AT, endedAt: null, result: null, error: null };
const DONE_JOB = { phase: 'completed', dueAt: null, endedAt: AT, result: 'r', error: null };
const FAILED_JOB = { phase: 'failed', dueAt: null, endedAt: AT, result: null, error: 'e' };

const CREDITED = ['credited', 'partly_refunded', 'refunded', 'disputed', 'reversed', 'kept'];
const PAID = { credited: long(1), ref: 'r' };

const WORK_ROWS: Readonly<Record<string, Rules>> = {
  jobs: {
    fields: {
      _id: NAME,
      wallet: NAME,
      charge: NAME,
      model: TEXT,
      upstream: TEXT,
      shown: oneOf('queued', 'processing'),
      phase: { good: ['starting', 'running'], bad: ['lost', 'completed', 'failed', null] },
      ref: TEXT_OR_NULL,
      progress: { good: [0, 100], bad: [-1, 101, 0.5, null] },
      facts: TEXT,
      deadline: TIME,
      createdAt: TIME,
      dueAt: TIME,
      endedAt: HALF,
      result: HALF,
      error: HALF,
      owner: HALF,
      lease: HALF,
      version: VERSION,
    },
    takes: [DONE_JOB, FAILED_JOB, ...LEASES.takes],
    refuses: [
      ...[{ endedAt: AT }, { result: 'r' }, { error: 'e' }].map((wrong) => ({ ...OPEN_JOB, ...wrong })),
      ...[DONE_JOB, FAILED_JOB].flatMap((job) =>
        [
          ...[{ dueAt: AT }, { endedAt: null }, { result: null, error: null }, { result: 'r', error: 'e' }],
          ...[{ phase: 'lost' }, { phase: 'running' }, { owner: 'own', lease: AT }, { owner: 5, lease: null }],
        ].map((wrong) => ({ ...job, ...wrong })),
      ),
      { ...DONE_JOB, phase: 'failed' },
      { ...FAILED_JOB, phase: 'completed' },
      ...LEASES.refuses,
    ],
  },
  payments: {
    fields: {
      _id: NAME,
      wallet: NAME,
      provider: NAME,
      amount: PRICE,
      shop: TEXT_OR_NULL,
      test: FLAG,
      facts: TEXT,
      phase: { good: ['created', 'succeeded'], bad: ['lost', null] },
      origin: oneOf('manual', 'auto'),
      ref: TEXT_OR_NULL,
      payUrl: TEXT_OR_NULL,
      expiresAt: INTEGER_OR_NULL,
      state: TEXT_OR_NULL,
      reason: TEXT_OR_NULL,
      credited: NOTHING,
      refunded: NOTHING,
      refunds: TEXT,
      shortfall: NOTHING,
      dispute: TEXT_OR_NULL,
      owner: HALF,
      lease: HALF,
      dueAt: TIME,
      createdAt: INTEGER_OR_NULL,
      changedAt: INTEGER_OR_NULL,
      version: VERSION,
    },
    takes: [
      ...LEASES.takes,
      ...CREDITED.map((phase) => ({ phase, ...PAID, dueAt: null })),
      ...['pending', 'review', 'expired', 'canceled', 'failed', 'rejected'].map((phase) => ({ phase, dueAt: null })),
      { phase: 'refunded', ...PAID, refunded: long(1), shortfall: long(1) },
    ],
    refuses: [
      ...LEASES.refuses,
      ...CREDITED.flatMap((phase) => [
        { phase, ...PAID, ref: null },
        { phase, ...PAID, credited: long(0) },
        { phase, ...PAID, refunded: long(2) },
        { phase, ...PAID, shortfall: long(1) },
      ]),
      ...['created', 'succeeded'].flatMap((phase) => [
        { phase, dueAt: null },
        { phase, ...PAID },
      ]),
    ],
  },
  saved_methods: {
    fields: {
      _id: NAME,
      wallet: NAME,
      provider: NAME,
      ref: NAME,
      kind: NAME,
      brand: TEXT_OR_NULL,
      last4: TEXT_OR_NULL,
      expiry: TEXT_OR_NULL,
      fingerprint: TEXT_OR_NULL,
      createdAt: INTEGER_OR_NULL,
      removedAt: INTEGER_OR_NULL,
    },
  },
  consents: {
    fields: {
      _id: NAME,
      wallet: NAME,
      user: NAME,
      kind: NAME,
      textVersion: TEXT_OR_NULL,
      text: TEXT,
      at: INTEGER_OR_NULL,
      address: TEXT_OR_NULL,
    },
  },
  auto_topups: {
    fields: {
      _id: NAME,
      enabled: { good: [false], bad: [true, null, 0] },
      threshold: AMOUNT,
      amount: AMOUNT,
      cap: AMOUNT,
      method: TEXT_OR_NULL,
      consent: TEXT_OR_NULL,
      order: TEXT_OR_NULL,
      nextAt: INTEGER_OR_NULL,
      declines: COUNT,
      pausedAt: INTEGER_OR_NULL,
      reason: TEXT_OR_NULL,
      day: TEXT,
      dayCount: COUNT,
      month: TEXT,
      monthSum: AMOUNT,
      version: VERSION,
    },
    takes: [{ enabled: true, method: 'm' }],
  },
  notices: {
    fields: {
      _id: NAME,
      provider: NAME,
      at: INTEGER_OR_NULL,
      address: TEXT_OR_NULL,
      headers: TEXT_OR_NULL,
      body: TEXT_OR_NULL,
      verdict: NAME,
      detail: TEXT,
    },
  },
  repeats: {
    fields: {
      _id: NAME,
      wallet: NAME,
      charge: NAME,
      body: NAME,
      awaited: FLAG,
      reply: TEXT_OR_NULL,
      expiresAt: TIME,
    },
  },
  'media.files': {
    fields: {
      _id: NAME,
      length: COUNT,
      chunkSize: COUNT,
      filename: NAME,
      uploadDate: { good: [new Date(AT)], bad: [AT, null] },
      metadata: { good: [{ kind: 'video' }], bad: ['x', null] },
      'metadata.account': optional(NAME),
      'metadata.kind': optional(oneOf('image', 'video')),
      'metadata.mediaType': optional(NAME),
      'metadata.createdAt': optional(TIME),
      'metadata.expiresAt': optional(TIME),
      'metadata.whole': optional(FLAG),
    },
  },
  'media.chunks': {
    fields: { _id: NAME, files_id: NAME, n: COUNT, data: { good: [Buffer.from('a')], bad: ['a', null] } },
  },
};

const OTHER_ROWS: Readonly<Record<string, Rules>> = {
  limits: { fields: { _id: NAME, endsAt: TIME, count: VERSION } },
  owners: { fields: { _id: NAME, until: TIME, leaseMs: TIME, alone: FLAG } },
  batches: { fields: { _id: NAME, number: COUNT, at: TIME } },
  sessions: { fields: { _id: NAME, until: TIME, sessions: { good: [[], [{ id: 1 }]], bad: ['x', null] } } },
  users: {
    fields: {
      _id: NAME,
      email: NAME,
      password: TEXT_OR_NULL,
      totpSecret: TEXT_OR_NULL,
      totpStep: INTEGER,
      recovery: { good: [['x'], []], bad: ['x', null, [5]] },
      operator: FLAG,
      timeZone: TEXT,
      createdAt: TIME,
      status: oneOf('active', 'suspended'),
      language: oneOf('ru', 'en'),
      version: VERSION,
    },
    takes: [{ telegram: { id: '5', name: '' } }],
    refuses: [{ telegram: null }, { telegram: { id: '5' } }, { telegram: { id: '', name: 'Anna' } }],
  },
  former_users: { fields: { _id: NAME, email: NAME, createdAt: TIME, removedAt: TIME } },
  memberships: {
    fields: { _id: NAME, user: NAME, account: NAME, role: oneOf('owner', 'member', 'accountant') },
    takes: [{ cap: { limit: long(1), reset: 'day', zone: 'UTC' } }, { mark: 'a' }],
    refuses: [
      { mark: 5 },
      { cap: null },
      { cap: { limit: long(1), reset: 'day' } },
      { cap: { limit: 1, reset: 'day', zone: 'UTC' } },
    ],
  },
  signins: {
    fields: {
      _id: NAME,
      user: NAME,
      createdAt: TIME,
      seenAt: TIME,
      expiresAt: TIME,
      idleMs: TIME,
      provenAt: TIME_OR_NULL,
      address: TEXT,
      agent: TEXT,
    },
  },
  links: {
    fields: {
      _id: NAME,
      purpose: NAME,
      user: TEXT_OR_NULL,
      account: TEXT_OR_NULL,
      email: TEXT_OR_NULL,
      expiresAt: TIME,
    },
    takes: [{ offer: { role: 'owner' } }, { offer: { role: 'member', cap: { limit: long(1), reset: 'none' } } }],
    refuses: [
      { offer: {} },
      { offer: { role: 'reader' } },
      { offer: { role: 'member', cap: { limit: long(0), reset: 'none' } } },
    ],
  },
  attempts: { fields: { _id: NAME, count: VERSION, lastAt: TIME } },
  devices: { fields: { _id: NAME, user: NAME, expiresAt: TIME } },
  audit_log: {
    fields: {
      _id: COUNT,
      at: TIME,
      user: NAME,
      action: NAME,
      account: TEXT_OR_NULL,
      target: TEXT,
      detail: TEXT,
      address: TEXT,
    },
  },
  alerts: {
    fields: {
      _id: NAME,
      balanceBelow: orNull(PRICE),
      version: VERSION,
      budgets: FLAG,
      webhook: { good: [{ url: 'u', secret: 's' }, null], bad: ['x'] },
      'webhook.url': NAME,
      'webhook.secret': NAME,
    },
  },
  alarms: { fields: { _id: NAME, account: NAME, subject: NAME, state: TEXT, version: VERSION } },
  counters: { fields: { _id: NAME, value: COUNT } },
  settings: { fields: { _id: TEXT, value: TEXT } },
};

const RULES = { ...MONEY_ROWS, ...WORK_ROWS, ...OTHER_ROWS };

interface Attempt {
  readonly what: string;
  readonly row: Document;
  readonly isTaken: boolean;
}

function attemptsOf({ fields, open = false, takes = [], refuses = [] }: Rules): readonly Attempt[] {
  let row: Document = {};
  for (const [path, { good }] of Object.entries(fields)) row = changed(row, path, good[0]);
  const attempts: Attempt[] = [{ what: 'one more field', row: { ...row, colour: 'red' }, isTaken: open }];
  const add = (what: string, made: Document, isTaken: boolean) => attempts.push({ what, row: made, isTaken });
  for (const [path, { good, bad, optional: may = false }] of Object.entries(fields)) {
    for (const value of good) add(`${path}: ${JSON.stringify(value)}`, changed(row, path, value), true);
    for (const value of bad) add(`${path}: ${JSON.stringify(value)}`, changed(row, path, value), false);
    // The driver would add an id.
    if (path !== '_id') add(`no ${path}`, changed(row, path), may);
  }
  for (const [list, isTaken] of [
    [takes, true],
    [refuses, false],
  ] as const) {
    for (const change of list) {
      let made = row;
      for (const [path, value] of Object.entries(change)) made = changed(made, path, value);
      add(JSON.stringify(change), made, isTaken);
    }
  }
  return attempts.map(({ row: made, ...rest }, at) => ({ ...rest, row: numbered(made, row, at) }));
}

/** Rows under test do not stand in each other's way. */
function numbered(made: Document, { _id }: Document, at: number): Document {
  if (made._id !== _id) return made;
  return { ...made, _id: typeof _id === 'number' ? 1000 + at : `row ${at}` };
}

describe('MongoDB: validators', () => {
  let database: MongoDatabase;
  let client: MongoClient;
  before(async () => {
    database = await createBareMongoDatabase();
    await (await openStore(database.url)).close();
    client = await MongoClient.connect(database.url);
  });
  after(async () => {
    await client.close();
    await database.remove();
  });

  it('exist for every collection', () => {
    const added = [DEVICES, FORMER_USERS, CALL_ATTEMPTS_COLLECTION, ROUTE_HOURS, SERVICE_SUMS, USAGE_DAYS, USAGE_WEEKS];
    expect([...COLLECTIONS, ...added].map(({ name }) => name)).to.have.members(Object.keys(RULES));
  });

  for (const [name, rules] of Object.entries(RULES)) {
    it(`accept valid rows of ${name}, and no others`, async () => {
      const collection = client.db().collection(name);
      await collection.dropIndexes();
      const attempts = attemptsOf(rules);
      const rows = attempts.map(({ row }) => row);
      const error = await rejection(collection.insertMany(rows, { ordered: false }));
      await collection.deleteMany({});
      expect(error).to.be.instanceOf(MongoBulkWriteError);
      const errors = [(error as MongoBulkWriteError).writeErrors].flat();
      expect(new Set(errors.map(({ code }) => code))).to.deep.equal(new Set([121]));
      const refused = new Set(errors.map(({ index }) => index));
      const wrong = attempts.filter(({ isTaken }, at) => isTaken === refused.has(at));
      expect(wrong.map(({ what, isTaken }) => `${what} is ${isTaken ? 'refused' : 'taken'}`)).to.deep.equal([]);
    });
  }
});
