// The collections of the MongoDB store: indexes, and validators that repeat the rules of the ledger.
import type { Document } from 'mongodb';
import { RESETS } from '../../money/key-limits.ts';
import { ARCHIVE_STATES } from '../ports/archives.ts';
import { ROLES } from '../ports/users.ts';
import {
  allowOnly,
  amount,
  type CollectionSchema,
  count,
  fields,
  integer,
  isAmount,
  isMoney,
  isText,
  isTime,
  money,
  name,
  orNull,
  text,
  time,
  withOptional,
} from './fields.ts';
import { PAYMENT_COLLECTIONS } from './payment-schema.ts';

const balanced = {
  $expr: { $eq: [{ $add: ['$avail', '$held', '$charged'] }, { $add: ['$topped', '$adjusted'] }] },
};

/** A later version adds `granted`, which is absent in older rows. */
const BALANCED_WITH_GRANTS = {
  $expr: {
    $eq: [{ $add: ['$avail', '$held', '$charged'] }, { $add: ['$topped', '$adjusted', { $ifNull: ['$granted', 0] }] }],
  },
};

const GRANT_FIELDS = { granted: money, grants: orNull(text) };

/** A later version of everything that adds up money has grants. */
export function addGrantFields(
  collection: 'wallets' | 'entries' | 'openings' | 'checkpoints',
  validator: Document,
): Document {
  if (collection === 'entries') {
    const { $expr: _, kind, ...entry } = validator;
    const kinds = new Set([...kind.$in, 'grant', 'grant_end']);
    return { ...entry, kind: { $in: [...kinds] }, ...BALANCED_WITH_GRANTS };
  }
  const added = { ...GRANT_FIELDS, ...(collection === 'wallets' && { grantsDue: orNull(time) }) };
  const { $and: rules } = withOptional(added, validator);
  return { $and: rules.map((rule: Document) => ('$expr' in rule ? BALANCED_WITH_GRANTS : rule)) };
}

const CHARGE: Document = {
  wallet: isText,
  key: isText,
  kind: { $in: ['text', 'image', 'edit', 'video'] },
  prices: isText,
  reserved: { $type: 'long', $gt: 0 },
  charged: isAmount,
  createdAt: isTime,
  // A held charge has an owner and a lease but no end; any other has only an end.
  $or: [
    { state: 'held', owner: isText, lease: isTime, endedAt: null, charged: 0 },
    { state: { $in: ['settled', 'refunded'] }, owner: null, lease: null, endedAt: isTime },
    { state: { $in: ['released', 'expired'] }, owner: null, lease: null, endedAt: isTime, charged: 0 },
  ],
};

/** A later version adds `excess`: absent, or above zero. */
export const CHARGE_WITH_EXCESS: Document = {
  $and: [CHARGE, { $or: [{ excess: { $exists: false } }, { excess: { $type: 'long', $gt: 0 } }] }],
};

/** A later version adds `caps`: the further budgets that a call counts in. */
export const CHARGE_WITH_CAPS: Document = { $or: [{ caps: { $exists: false } }, { 'caps.0.id': isText }] };

const END_USER_LIMIT = fields({ cap: { bsonType: 'long', minimum: 1 }, reset: allowOnly(...RESETS) }).$jsonSchema;

const REQUEST_LIMITS = {
  bsonType: ['null', 'object'],
  additionalProperties: false,
  properties: { perMinute: count, atOnce: count, waitSeconds: count, addresses: { bsonType: 'array', items: name } },
};

/** A later version of accounts may limit their requests, and one of keys, too. */
export function addRequestLimits(collection: 'accounts' | 'keys', validator: Document): Document {
  if (collection === 'keys') return addToLimits(validator, { requests: REQUEST_LIMITS });
  return withOptional({ requests: REQUEST_LIMITS }, validator);
}

/** A later version of accounts may have a price list. The index covers only those that do. */
export function addPriceList(validator: Document): Document {
  return withOptional({ priceList: { bsonType: ['null', 'string'] } }, validator);
}

/** A later version of accounts may get a grant each month. The index covers only those that do. */
export function addAllowance(validator: Document): Document {
  const amount = { bsonType: ['null', 'long'], minimum: 1 };
  return withOptional({ allowance: amount, allowanceReason: { bsonType: ['null', 'string'] } }, validator);
}

/** A later version of accounts and memberships has a mark, by which the audit sees a change outside the store. */
export function addTermsMark(validator: Document): Document {
  return withOptional({ mark: name }, validator);
}

export function addTelegram(validator: Document): Document {
  const chat = { bsonType: 'object', required: ['id', 'name'], properties: { id: name, name: text } };
  return withOptional({ telegram: chat }, validator);
}

export const BY_ALLOWANCE: Document = {
  key: { allowance: 1 },
  name: 'by_allowance',
  partialFilterExpression: { allowance: { $gt: 0 } },
};

export const BY_PRICE_LIST: Document = {
  key: { priceList: 1 },
  name: 'by_price_list',
  partialFilterExpression: { priceList: isText },
};

/** A later version of keys may limit each end user. */
export function addEndUserLimit(validator: Document): Document {
  return addToLimits(validator, { endUsers: END_USER_LIMIT });
}

const MEMBER_CAP = { limit: { bsonType: 'long', minimum: 1 }, reset: allowOnly(...RESETS) };
const OFFER = withOptional({ cap: fields(MEMBER_CAP).$jsonSchema }, fields({ role: allowOnly(...ROLES) })).$and[0];

/** A later version of memberships has further roles, and caps of members. */
export function addRoles(validator: Document): Document {
  return withOptional({ role: allowOnly(...ROLES), cap: fields({ ...MEMBER_CAP, zone: name }).$jsonSchema }, validator);
}

/** A later version of links says what an invitation offers. */
export function addOffer(validator: Document): Document {
  return withOptional({ offer: OFFER.$jsonSchema }, validator);
}

/** A later version of keys knows who issued them. */
export function addCreator(validator: Document): Document {
  return withOptional({ createdBy: name }, validator);
}

function addToLimits({ $and: rules }: Document, added: Document): Document {
  return {
    $and: rules.map(({ $jsonSchema: schema, ...rule }: Document) => {
      if (!schema) return rule;
      const { limits } = schema.properties;
      const properties = { ...limits.properties, ...added };
      return { $jsonSchema: { ...schema, properties: { ...schema.properties, limits: { ...limits, properties } } } };
    }),
  };
}

const KINDS = [
  'topup',
  'adjust',
  'pay',
  'payback',
  'dispute',
  'reserve',
  'charge',
  'settle',
  'release',
  'expire',
  'refund',
];

const ENTRY: Document = {
  wallet: isText,
  seq: { $type: 'number', $gte: 1 },
  at: isTime,
  kind: { $in: KINDS },
  avail: isMoney,
  held: isMoney,
  charged: isMoney,
  topped: isMoney,
  adjusted: isMoney,
  overshoot: isAmount,
  chargedAfter: isAmount,
  ...balanced,
};

/** An open job is due and has no end; any other job has an end, with a result or an error. */
const JOB: Document = {
  $or: [
    { phase: { $in: ['starting', 'running'] }, dueAt: isTime, endedAt: null, result: null, error: null },
    {
      phase: 'completed',
      dueAt: null,
      endedAt: isTime,
      result: isText,
      error: null,
      owner: null,
      lease: null,
    },
    { phase: 'failed', dueAt: null, endedAt: isTime, result: null, error: isText, owner: null, lease: null },
  ],
};

/** The kinds of entries that move money otherwise than by calls: the index is used only with this condition. */
export const MOVES_MONEY = { kind: { $in: ['topup', 'adjust', 'grant', 'grant_end', 'pay', 'payback', 'dispute'] } };

/** The kinds of entries that change `charged`: the partial index by time is used only with this condition. */
export const CHARGING = { kind: { $in: ['charge', 'refund', 'settle'] } };

const WALLET = {
  _id: name,
  avail: money,
  held: amount,
  charged: amount,
  topped: amount,
  adjusted: money,
  seq: count,
  status: allowOnly('active', 'suspended'),
};

/** A later version adds `playMoney`. */
export const WALLETS_WITH_PLAY_MONEY: CollectionSchema = {
  name: 'wallets',
  validator: withOptional({ playMoney: { bsonType: 'bool' } }, fields(WALLET, balanced)),
};

/** The validator of wallets with the flag of opened ones. */
export function addOpened(validator: Document): Document {
  return withOptional({ opened: { bsonType: 'bool' } }, validator);
}

const USAGE_HOUR = fields({
  _id: name,
  wallet: name,
  hour: time,
  key: name,
  model: name,
  kind: name,
  calls: integer,
  charged: money,
  refunded: money,
  tokensInput: integer,
  tokensOutput: integer,
  images: integer,
  seconds: integer,
});

/** A later version counts tokens of the prompt cache and of reasoning apart; earlier rows have none of these. */
export const USAGE_HOURS_WITH_CACHES: CollectionSchema = {
  name: 'usage_hours',
  validator: withOptional(
    { tokensCacheRead: integer, tokensCacheWrite: integer, tokensCacheWrite1h: integer, tokensReasoning: integer },
    USAGE_HOUR,
  ),
};

/** Version 1 of the schema. */
export const COLLECTIONS: readonly CollectionSchema[] = [
  {
    name: 'accounts',
    validator: fields({
      _id: name,
      name: text,
      createdAt: time,
      autoTopup: { bsonType: 'object', properties: { enabled: { bsonType: 'bool' }, amount, threshold: amount } },
      keysAdded: count,
    }),
  },
  { name: 'wallets', validator: fields(WALLET, balanced) },
  {
    name: 'keys',
    validator: fields({
      _id: name,
      account: name,
      name: text,
      hash: name,
      last4: text,
      createdAt: time,
      revokedAt: orNull(time),
      requestsCount: count,
      lastUsedAt: orNull(time),
      limits: fields({
        budget: { bsonType: ['null', 'long'], minimum: 1 },
        reset: allowOnly('none', 'day', 'week', 'month'),
        zone: name,
        expiresAt: orNull(time),
        models: { bsonType: ['null', 'array'], items: name },
      }).$jsonSchema,
      budgetKey: orNull(name),
    }),
    indexes: [
      { key: { hash: 1 }, name: 'hash', unique: true },
      { key: { account: 1, createdAt: 1 }, name: 'of_account' },
    ],
  },
  {
    name: 'charges',
    validator: CHARGE,
    indexes: [
      { key: { wallet: 1, createdAt: 1, _id: 1 }, name: 'of_wallet' },
      { key: { lease: 1 }, name: 'held', partialFilterExpression: { state: 'held' } },
    ],
  },
  {
    name: 'budgets',
    validator: fields({ _id: name, wallet: name, period: time, spent: money }),
    indexes: [{ key: { wallet: 1 }, name: 'of_wallet' }],
  },
  {
    name: 'entries',
    validator: ENTRY,
    indexes: [
      { key: { wallet: 1, seq: 1 }, name: 'journal', unique: true },
      { key: { wallet: 1, at: -1, seq: -1 }, name: 'charged_by_time', partialFilterExpression: CHARGING },
    ],
  },
  {
    name: 'jobs',
    validator: fields(
      {
        _id: name,
        wallet: name,
        charge: name,
        model: text,
        upstream: text,
        phase: text,
        shown: allowOnly('queued', 'processing'),
        progress: { ...count, maximum: 100 },
        ref: orNull(text),
        facts: text,
        result: orNull(text),
        error: orNull(text),
        owner: orNull(text),
        lease: orNull(time),
        dueAt: orNull(time),
        deadline: time,
        createdAt: time,
        endedAt: orNull(time),
        version: { ...count, minimum: 1 },
      },
      JOB,
      {
        $or: [
          { owner: null, lease: null },
          { owner: isText, lease: isTime },
        ],
      },
    ),
    indexes: [{ key: { dueAt: 1, _id: 1 }, name: 'due', partialFilterExpression: { dueAt: { $gt: 0 } } }],
  },
  ...PAYMENT_COLLECTIONS,
  {
    name: 'media.files',
    validator: fields({
      _id: name,
      length: count,
      chunkSize: count,
      uploadDate: { bsonType: 'date' },
      filename: name,
      metadata: {
        bsonType: 'object',
        properties: {
          account: name,
          kind: allowOnly('image', 'video'),
          mediaType: name,
          createdAt: time,
          expiresAt: time,
          whole: { bsonType: 'bool' },
        },
      },
    }),
    indexes: [
      { key: { filename: 1 }, name: 'whole', unique: true, partialFilterExpression: { 'metadata.whole': true } },
      { key: { 'metadata.expiresAt': 1 }, name: 'by_end', partialFilterExpression: { 'metadata.whole': true } },
      { key: { uploadDate: 1 }, name: 'unfinished', partialFilterExpression: { 'metadata.whole': false } },
    ],
  },
  {
    name: 'media.chunks',
    validator: fields({ _id: name, files_id: name, n: count, data: { bsonType: 'binData' } }),
    indexes: [{ key: { files_id: 1, n: 1 }, name: 'of_file', unique: true }],
  },
  {
    name: 'limits',
    validator: fields({ _id: name, endsAt: time, count: { ...count, minimum: 1 } }),
    indexes: [{ key: { endsAt: 1 }, name: 'by_end' }],
  },
  { name: 'owners', validator: fields({ _id: name, until: time, leaseMs: time, alone: { bsonType: 'bool' } }) },
  { name: 'batches', validator: fields({ _id: name, number: count, at: time }) },
  { name: 'sessions', validator: fields({ _id: name, until: time, sessions: { bsonType: 'array' } }) },
  { name: 'usage_hours', validator: USAGE_HOUR, indexes: [{ key: { wallet: 1, hour: 1 }, name: 'of_wallet' }] },
  { name: 'usage_cursors', validator: fields({ _id: name, seq: { ...count, minimum: 1 } }) },
  {
    name: 'checkpoints',
    validator: fields({
      _id: name,
      seq: { ...count, minimum: 1 },
      avail: money,
      held: money,
      charged: money,
      topped: money,
      adjusted: money,
      overshoot: money,
    }),
  },
  {
    name: 'openings',
    validator: fields(
      {
        _id: name,
        seq: { ...count, minimum: 1 },
        avail: money,
        held: amount,
        charged: amount,
        topped: amount,
        adjusted: money,
        overshoot: amount,
        lasting: count,
        kept: orNull(text),
        budgets: { bsonType: 'array', items: fields({ key: name, period: time, spent: money }).$jsonSchema },
      },
      balanced,
    ),
  },
  {
    name: 'archives',
    validator: fields({
      _id: name,
      file: name,
      before: time,
      state: allowOnly(...ARCHIVE_STATES),
      startedAt: time,
      sha256: orNull(text),
      calls: count,
      entries: count,
      charged: money,
      first: orNull(time),
      last: orNull(time),
      open: { bsonType: 'bool' },
    }),
    indexes: [{ key: { open: 1 }, name: 'unfinished', unique: true, partialFilterExpression: { open: true } }],
  },
  {
    name: 'users',
    validator: fields({
      _id: name,
      email: name,
      password: orNull(text),
      totpSecret: orNull(text),
      totpStep: integer,
      recovery: { bsonType: 'array', items: text },
      operator: { bsonType: 'bool' },
      status: allowOnly('active', 'suspended'),
      language: allowOnly('ru', 'en'),
      timeZone: text,
      createdAt: time,
      version: { ...count, minimum: 1 },
    }),
    indexes: [{ key: { email: 1 }, name: 'email', unique: true }],
  },
  {
    name: 'memberships',
    validator: fields({ _id: name, user: name, account: name, role: allowOnly('owner') }),
    indexes: [
      { key: { user: 1, account: 1 }, name: 'of_user', unique: true },
      { key: { account: 1, user: 1 }, name: 'of_account' },
    ],
  },
  {
    name: 'signins',
    validator: fields({
      _id: name,
      user: name,
      createdAt: time,
      seenAt: time,
      expiresAt: time,
      idleMs: time,
      provenAt: orNull(time),
      address: text,
      agent: text,
    }),
    indexes: [{ key: { user: 1 }, name: 'of_user' }],
  },
  {
    name: 'links',
    validator: fields({
      _id: name,
      purpose: name,
      user: orNull(text),
      account: orNull(text),
      email: orNull(text),
      expiresAt: time,
    }),
  },
  { name: 'attempts', validator: fields({ _id: name, count: { ...count, minimum: 1 }, lastAt: time }) },
  {
    name: 'audit_log',
    validator: fields({
      _id: count,
      at: time,
      user: name,
      action: name,
      account: orNull(text),
      target: text,
      detail: text,
      address: text,
    }),
    indexes: [{ key: { account: 1, _id: -1 }, name: 'of_account' }],
  },
  {
    name: 'alerts',
    validator: fields({
      _id: name,
      balanceBelow: { bsonType: ['null', 'long'], minimum: 1 },
      version: { ...count, minimum: 1 },
      budgets: { bsonType: 'bool' },
      webhook: { bsonType: ['null', 'object'], required: ['url', 'secret'], properties: { url: name, secret: name } },
    }),
  },
  {
    name: 'alarms',
    validator: fields({ _id: name, account: name, subject: name, state: text, version: { ...count, minimum: 1 } }),
    indexes: [{ key: { account: 1, subject: 1 }, name: 'of_account' }],
  },
  {
    name: 'repeats',
    validator: fields({
      _id: name,
      wallet: name,
      charge: name,
      body: name,
      awaited: { bsonType: 'bool' },
      reply: orNull(text),
      expiresAt: time,
    }),
    indexes: [{ key: { expiresAt: 1 }, name: 'by_end' }],
  },
  { name: 'counters', validator: fields({ _id: name, value: count }) },
  { name: 'settings', validator: fields({ _id: text, value: text }) },
];

/** Added by version 2. */
export const DEVICES: CollectionSchema = {
  name: 'devices',
  validator: fields({ _id: name, user: name, expiresAt: time }),
};

/** Added by version 3. */
export const FORMER_USERS: CollectionSchema = {
  name: 'former_users',
  validator: fields({ _id: name, email: name, createdAt: time, removedAt: time }),
};
