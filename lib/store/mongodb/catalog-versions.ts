// The catalog's part that operators write on pages, in the MongoDB store.
import { isDeepStrictEqual } from 'node:util';
import type { CatalogVersion, CatalogVersionStore } from '../ports/catalog-versions.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';

interface VersionDocument extends Omit<CatalogVersion, 'seq'> {
  readonly _id: number;
}

export function catalogVersionStore({ db }: Connection): CatalogVersionStore {
  const versions = db.collection<VersionDocument>('catalog_versions');

  async function get(seq: number): Promise<CatalogVersion | undefined> {
    const row = await read((signal) => versions.findOne({ _id: seq }, { signal }));
    return row ? readDocument(row) : undefined;
  }

  return {
    async add(version) {
      const command = { insert: 'catalog_versions', documents: [toDocument(version)], ...MAJORITY };
      const { n } = await call({ repeatable: true }, (signal) => send(db, command, { signal, ignored: DUPLICATE_KEY }));
      // If the answer to an earlier attempt was lost, the version with this number may be this one.
      return n === 1 || isDeepStrictEqual(await get(version.seq), version);
    },
    get,
    async last() {
      const query = { sort: { _id: -1 }, projection: { _id: 1 } } as const;
      const row = await read((signal) => versions.findOne({}, { ...query, signal }));
      return Number(row?._id ?? 0);
    },
    async page({ before, limit }) {
      const filter = before === undefined ? {} : { _id: { $lt: before } };
      const query = { sort: { _id: -1 }, limit } as const;
      return (await read((signal) => versions.find(filter, { ...query, signal }).toArray())).map(readDocument);
    },
    async put(rows) {
      if (rows.length === 0) return;
      const updates = rows.map(toDocument).map(({ _id, ...u }) => ({ q: { _id }, u, upsert: true }));
      const command = { update: 'catalog_versions', updates, ...MAJORITY };
      await call({ repeatable: true }, (signal) => send(db, command, { signal }));
    },
  };
}

function toDocument({ seq, at, user, note, text }: CatalogVersion): VersionDocument {
  return { _id: seq, at, user, note, text };
}

function readDocument({ _id, at, user, note, text }: VersionDocument): CatalogVersion {
  return { seq: Number(_id), at: Number(at), user, note, text };
}
