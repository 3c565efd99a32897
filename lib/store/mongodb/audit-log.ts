// The audit log in the MongoDB store.
import type { Db, Document } from 'mongodb';
import type { AuditLogStore, AuditRow } from '../ports/audit-log.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';

const COUNTER = 'audit';

/** A unique number; a lost write leaves a gap. */
export async function takeAuditSeq(db: Db): Promise<number> {
  const command = {
    findAndModify: 'counters',
    query: { _id: COUNTER },
    update: { $inc: { value: 1 } },
    upsert: true,
    new: true,
    ...MAJORITY,
  };
  const { value } = await call({ repeatable: true }, (signal) => send(db, command, { signal }));
  return Number(value.value);
}

export function auditLogStore({ db }: Connection): AuditLogStore {
  const log = db.collection<{ _id: number }>('audit_log');
  return {
    async append(line) {
      const command = { ...buildAuditInsert({ ...line, seq: await takeAuditSeq(db) }), ...MAJORITY };
      await call({ repeatable: true }, (signal) => send(db, command, { signal }));
    },
    async put(rows) {
      if (rows.length === 0) return;
      const updates = rows.map(buildAuditUpsert);
      await call({ repeatable: true }, (signal) => send(db, { update: 'audit_log', updates, ...MAJORITY }, { signal }));
      const value = Math.max(...rows.map(({ seq }) => seq));
      const counter = { q: { _id: COUNTER }, u: { $max: { value } }, upsert: true };
      await call({ repeatable: true }, (signal) =>
        send(db, { update: 'counters', updates: [counter], ...MAJORITY }, { signal }),
      );
    },
    async page({ before, limit, account }) {
      const filter = {
        ...(before !== undefined && { _id: { $lt: before } }),
        ...(account !== undefined && { account }),
      };
      const rows = await read((signal) => log.find(filter, { signal }).sort({ _id: -1 }).limit(limit).toArray());
      return rows.map(readAuditDocument);
    },
  };
}

export function buildAuditInsert(row: AuditRow): Document {
  return { update: 'audit_log', updates: [buildAuditUpsert(row)] };
}

/** Existing rows stay, so that a retry changes nothing. */
function buildAuditUpsert({ seq, ...row }: AuditRow): Document {
  return { q: { _id: seq }, u: { $setOnInsert: row }, upsert: true };
}

function readAuditDocument(row: Document): AuditRow {
  const { _id: seq, at, user, action, account, target, detail, address } = row;
  return { seq: Number(seq), at: Number(at), user, action, account, target, detail, address };
}
