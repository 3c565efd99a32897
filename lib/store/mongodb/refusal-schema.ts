// The collection of refused requests.
import { type CollectionSchema, count, fields, name, text, time } from './fields.ts';

export const REFUSALS: CollectionSchema = {
  name: 'refusals',
  validator: fields({
    _id: name,
    account: name,
    hour: time,
    key: name,
    code: name,
    count: { ...count, minimum: 1 },
    lastAt: time,
    status: count,
    message: text,
  }),
  indexes: [
    { key: { account: 1, hour: -1, lastAt: -1 }, name: 'of_account' },
    { key: { hour: 1 }, name: 'by_hour' },
  ],
};
