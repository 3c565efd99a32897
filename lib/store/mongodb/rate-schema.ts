// The collection of exchange rates.
import { type CollectionSchema, count, fields, name, time } from './fields.ts';

export const RATES: CollectionSchema = {
  name: 'rates',
  validator: fields({
    _id: name,
    currency: name,
    seq: { ...count, minimum: 1 },
    rub: { bsonType: 'long', minimum: 1 },
    from: name,
    at: time,
  }),
  indexes: [{ key: { currency: 1, seq: 1 }, name: 'of_currency' }],
};
