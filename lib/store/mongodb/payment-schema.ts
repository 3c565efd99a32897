// The payment collections of the MongoDB store; validators repeat the rules of payments.
import type { Document } from 'mongodb';
import { PAYMENT_PHASES } from '../../money/payment-rules.ts';
import { PAYMENT_FIELDS, type PaymentTable, type Value } from '../payment-rows.ts';
import {
  allowOnly,
  amount,
  type CollectionSchema,
  count,
  fields,
  integer,
  isText,
  isTime,
  name,
  orNull,
  text,
} from './fields.ts';

export const COLLECTION_NAMES: { readonly [Sort in PaymentTable]: string } = {
  payments: 'payments',
  methods: 'saved_methods',
  consents: 'consents',
  autoTopups: 'auto_topups',
  notices: 'notices',
};

const FIELD_TYPES: { readonly [Sort in Value]: Document } = {
  text: orNull(text),
  number: orNull(integer),
  micro: amount,
  flag: { bsonType: 'bool' },
};

/** The fields of a row by type, with extra conditions on some. */
function buildRowProperties(sort: PaymentTable, extra: Document): Document {
  const plain = Object.entries<Value>(PAYMENT_FIELDS[sort]).map(([field, value]) => [field, FIELD_TYPES[value]]);
  const { id: _id, ...rest } = Object.fromEntries(plain);
  return { _id: name, ...rest, ...extra };
}

const CREDITED = ['credited', 'partly_refunded', 'refunded', 'disputed', 'reversed', 'kept'];

/** A credited payment has a provider id, and at most the credited amount is taken back. */
const PAYMENT: readonly Document[] = [
  {
    $or: [
      { phase: { $in: CREDITED }, credited: { $gt: 0 }, ref: isText },
      { phase: { $nin: CREDITED }, credited: 0 },
    ],
  },
  {
    $expr: { $and: [{ $lte: ['$refunded', '$credited'] }, { $lte: ['$shortfall', '$refunded'] }] },
  },
  { $or: [{ dueAt: isTime }, { phase: { $nin: ['created', 'succeeded'] } }] },
  {
    $or: [
      { owner: null, lease: null },
      { owner: isText, lease: isTime },
    ],
  },
];

const version = { ...count, minimum: 1 };

export const PAYMENT_COLLECTIONS: readonly CollectionSchema[] = [
  {
    name: COLLECTION_NAMES.payments,
    validator: fields(
      buildRowProperties('payments', {
        wallet: name,
        provider: name,
        phase: allowOnly(...PAYMENT_PHASES),
        origin: allowOnly('manual', 'auto'),
        amount: { bsonType: 'long', minimum: 1 },
        facts: text,
        refunds: text,
        version,
      }),
      ...PAYMENT,
    ),
    indexes: [
      {
        key: { provider: 1, ref: 1 },
        name: 'by_ref',
        unique: true,
        partialFilterExpression: { ref: { $type: 'string' } },
      },
      { key: { dueAt: 1, _id: 1 }, name: 'due', partialFilterExpression: { dueAt: { $gt: 0 } } },
      { key: { wallet: 1, createdAt: -1, _id: -1 }, name: 'of_wallet' },
      { key: { createdAt: -1, _id: -1 }, name: 'by_time' },
    ],
  },
  {
    name: COLLECTION_NAMES.methods,
    validator: fields(buildRowProperties('methods', { wallet: name, provider: name, ref: name, kind: name })),
    indexes: [
      { key: { provider: 1, ref: 1 }, name: 'by_ref', unique: true },
      { key: { wallet: 1, createdAt: -1, _id: -1 }, name: 'of_wallet' },
    ],
  },
  {
    name: COLLECTION_NAMES.consents,
    validator: fields(buildRowProperties('consents', { wallet: name, user: name, kind: name, text })),
    indexes: [{ key: { wallet: 1, at: -1, _id: -1 }, name: 'of_wallet' }],
  },
  {
    name: COLLECTION_NAMES.autoTopups,
    validator: fields(
      buildRowProperties('autoTopups', { day: text, month: text, dayCount: count, declines: count, version }),
      {
        $or: [{ enabled: false }, { method: isText }],
      },
    ),
    indexes: [{ key: { method: 1 }, name: 'by_method', partialFilterExpression: { method: { $type: 'string' } } }],
  },
  {
    name: COLLECTION_NAMES.notices,
    validator: fields(buildRowProperties('notices', { provider: name, verdict: name, detail: text })),
    indexes: [{ key: { at: 1 }, name: 'by_time' }],
  },
];
