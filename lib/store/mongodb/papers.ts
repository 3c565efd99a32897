// Papers for companies in the MongoDB store.
import type { Document } from 'mongodb';
import type { PaperKind, PaperRow, PaperStore } from '../ports/papers.ts';
import { buildAuditInsert, takeAuditSeq } from './audit-log.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import type { Row } from './rows.ts';
import { readFirstBatch, type Step, type Transactions } from './transaction.ts';

export function paperStore({ db }: Connection, transactions: Transactions): PaperStore {
  const papers = db.collection<Row>('papers');
  return {
    async get(kind, id) {
      const row = await read((signal) => papers.findOne({ _id: toId({ kind, id }) }, { signal }));
      return row ? readRow(row) : undefined;
    },
    async find(kind, number) {
      const row = await read((signal) => papers.findOne({ kind, number }, { signal }));
      return row ? readRow(row) : undefined;
    },
    async list({ kind, account, state, before, limit }) {
      const filter = {
        kind,
        ...(account !== undefined && { account }),
        ...(state !== undefined && { state }),
        ...(before && { $or: [{ at: { $lt: before.at } }, { at: before.at, id: { $lt: before.id } }] }),
      };
      const query = { sort: { at: -1, id: -1 }, limit } as const;
      return (await read((signal) => papers.find(filter, { ...query, signal }).toArray())).map(readRow);
    },
    issue: (paper) =>
      transactions.run({
        async steps(step) {
          const known = await findRow(step, paper);
          if (known) return known;
          const query = { filter: { kind: paper.kind, number: { $gt: 0 } }, sort: { number: -1 }, limit: 1 };
          const [last] = await readFirstBatch(step({ find: 'papers', ...query }));
          const issued = { ...paper, number: Number(last?.number ?? 0) + 1, version: 1 };
          // Another process that takes the number at the same time is a conflict: the work begins again.
          await step({ insert: 'papers', documents: [toDocument(issued)] });
          return issued;
        },
      }),
    async change(rows, line) {
      const logged = line && { ...line, seq: await takeAuditSeq(db) };
      return transactions.run({
        async steps(step) {
          const found = await findVersions(step, rows);
          if (rows.some((row) => (found.get(toId(row)) ?? 0) !== row.version - 1)) return false;
          const documents = rows.filter(({ version }) => version === 1).map(toDocument);
          const changed = rows.filter(({ version }) => version > 1).map(toDocument);
          const updates = changed.map(({ _id, ...u }) => ({ q: { _id }, u }));
          if (documents.length > 0) await step({ insert: 'papers', documents });
          if (updates.length > 0) await step({ update: 'papers', updates });
          if (logged) await step(buildAuditInsert(logged));
          return true;
        },
      });
    },
    async page({ after, limit }) {
      const filter = after ? { _id: { $gt: toId(after) } } : {};
      const query = { sort: { _id: 1 }, limit } as const;
      return (await read((signal) => papers.find(filter, { ...query, signal }).toArray())).map(readRow);
    },
    async put(rows) {
      if (rows.length === 0) return;
      const updates = rows.map(toDocument).map(({ _id, ...u }) => ({ q: { _id }, u, upsert: true }));
      const command = { update: 'papers', updates, ...MAJORITY };
      await call({ repeatable: true }, (signal) => send(db, command, { signal }));
    },
  };
}

async function findVersions(step: Step, rows: readonly PaperRow[]): Promise<ReadonlyMap<string, number>> {
  const query = { filter: { _id: { $in: rows.map(toId) } }, projection: { version: 1 }, batchSize: rows.length };
  const found = await readFirstBatch(step({ find: 'papers', ...query, singleBatch: true }));
  return new Map(found.map(({ _id, version }) => [_id, Number(version)]));
}

async function findRow(step: Step, { kind, id }: { kind: PaperKind; id: string }): Promise<PaperRow | undefined> {
  const command = { find: 'papers', filter: { _id: toId({ kind, id }) }, limit: 1 };
  const [row] = await readFirstBatch(step(command));
  return row && readRow(row);
}

/** In order of kind and id: no kind is the beginning of another. */
function toId({ kind, id }: { readonly kind: PaperKind; readonly id: string }): string {
  return `${kind} ${id}`;
}

function toDocument({ kind, id, number, account, state, at, version, content }: PaperRow) {
  return { _id: toId({ kind, id }), kind, id, number, account, state, at, version, content };
}

function readRow({ kind, id, number, account, state, at, version, content }: Document): PaperRow {
  const numbers = { number: number === null ? null : Number(number), at: Number(at), version: Number(version) };
  return { kind, id, account, state, ...numbers, content };
}
