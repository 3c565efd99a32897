// The collections of the management API.
import { type CollectionSchema, fields, name, orNull, text, time } from './fields.ts';

export const MANAGEMENT_KEYS: CollectionSchema = {
  name: 'management_keys',
  validator: fields({
    _id: name,
    name: text,
    hash: name,
    last4: text,
    scopes: { bsonType: 'array', items: name },
    account: orNull(name),
    addresses: { bsonType: ['null', 'array'], items: name },
    createdBy: name,
    createdAt: time,
    expiresAt: orNull(time),
    revokedAt: orNull(time),
    lastUsedAt: orNull(time),
  }),
  indexes: [
    { key: { hash: 1 }, name: 'hash', unique: true },
    { key: { account: 1 }, name: 'of_account' },
  ],
};

export const MANAGEMENT_REPLIES: CollectionSchema = {
  name: 'management_replies',
  validator: fields({ _id: name, body: name, reply: orNull(text), lease: time, expiresAt: time }),
  indexes: [{ key: { expiresAt: 1 }, name: 'by_end' }],
};
