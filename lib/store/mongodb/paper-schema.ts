// The collection of papers for companies. The id of a row is its kind and its id.
import { PAPER_KINDS } from '../ports/papers.ts';
import { allowOnly, type CollectionSchema, count, fields, name, orNull, time } from './fields.ts';

export const PAPERS: CollectionSchema = {
  name: 'papers',
  validator: fields({
    _id: name,
    kind: allowOnly(...PAPER_KINDS),
    id: name,
    number: { ...orNull(count), minimum: 1 },
    account: orNull(name),
    state: name,
    at: time,
    version: { ...count, minimum: 1 },
    content: name,
  }),
  indexes: [
    {
      key: { kind: 1, number: 1 },
      name: 'by_number',
      unique: true,
      partialFilterExpression: { number: { $type: 'number' } },
    },
    { key: { kind: 1, at: -1, id: -1 }, name: 'by_time' },
    { key: { account: 1, kind: 1, at: -1, id: -1 }, name: 'of_account' },
    { key: { kind: 1, state: 1, at: -1, id: -1 }, name: 'by_state' },
  ],
};
