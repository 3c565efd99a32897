// The collections of promo codes.
import { type CollectionSchema, count, fields, name, orNull, time } from './fields.ts';

export const PROMO_COLLECTIONS: readonly CollectionSchema[] = [
  {
    name: 'promo_codes',
    validator: fields(
      {
        _id: name,
        amount: { bsonType: 'long', minimum: 1 },
        uses: { ...count, minimum: 1 },
        used: count,
        until: orNull(time),
        days: { bsonType: ['null', ...count.bsonType], minimum: 1, multipleOf: 1 },
        opens: { bsonType: 'bool' },
        reason: name,
        createdAt: time,
        endedAt: orNull(time),
      },
      { $expr: { $lte: ['$used', '$uses'] } },
    ),
  },
  {
    name: 'promo_uses',
    validator: fields({ _id: name, code: name, account: name, at: time }),
    indexes: [{ key: { code: 1, account: 1 }, name: 'of_code' }],
  },
];
