// The collection of the catalog's part that operators write on pages. The id of a row is its number.
import { type CollectionSchema, count, fields, name, text, time } from './fields.ts';

export const CATALOG_VERSIONS: CollectionSchema = {
  name: 'catalog_versions',
  validator: fields({ _id: { ...count, minimum: 1 }, at: time, user: name, note: text, text: name }),
};
