// Sign-in sessions, one-time links and failed attempts in the MongoDB store.
import type { Db, Document } from 'mongodb';
import { getAttemptWaitMs } from '../attempt-wait.ts';
import type { AttemptRule, Attempts, Device, Link, MembershipOffer, Session, SessionStore } from '../ports/sessions.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';
import { type Row, readPlainDocument, toLong } from './rows.ts';

export function signinStore({ db }: Connection): SessionStore {
  const signins = db.collection<Row>('signins');
  const write: Write = (command, repeatable = true) =>
    call({ repeatable }, (signal) => send(db, { ...command, ...MAJORITY }, { signal }));

  return {
    async add({ hash, ...session }) {
      await write({ update: 'signins', updates: [{ q: { _id: hash }, u: { $setOnInsert: session }, upsert: true }] });
    },
    async get(hash) {
      const row = await read((signal) => signins.findOne({ _id: hash }, { signal }));
      return row ? readSessionDocument(row) : undefined;
    },
    async list(user) {
      const rows = await read((signal) => signins.find({ user }, { signal }).sort({ createdAt: -1, _id: 1 }).toArray());
      return rows.map(readSessionDocument);
    },
    async touch(hash, { seenAt, provenAt }) {
      const { n } = await write({
        update: 'signins',
        updates: [{ q: { _id: hash }, u: { $set: { seenAt, provenAt } } }],
      });
      return n === 1;
    },
    async remove(hash) {
      const { n } = await write({ delete: 'signins', deletes: [{ q: { _id: hash }, limit: 1 }] }, false);
      return n === 1;
    },
    async removeUserSessions(user, except = '') {
      await write({ delete: 'signins', deletes: [{ q: { user, _id: { $ne: except } }, limit: 0 }] });
    },
    ...linkCalls(db, write),
    ...attemptCalls(db, write),
    ...deviceCalls(db, write),
    async clean({ now, since }) {
      const idle = { $expr: { $lte: [{ $add: ['$seenAt', '$idleMs'] }, now] } };
      await write({ delete: 'signins', deletes: [{ q: { $or: [{ expiresAt: { $lte: now } }, idle] }, limit: 0 }] });
      await write({ delete: 'links', deletes: [{ q: { expiresAt: { $lte: now } }, limit: 0 }] });
      await write({ delete: 'devices', deletes: [{ q: { expiresAt: { $lte: now } }, limit: 0 }] });
      await write({ delete: 'attempts', deletes: [{ q: { lastAt: { $lt: since } }, limit: 0 }] });
    },
  };
}

type Write = (command: Document, repeatable?: boolean) => Promise<Document>;

function linkCalls(
  db: Db,
  write: Write,
): Pick<SessionStore, 'addLink' | 'link' | 'takeLink' | 'listInvitations' | 'removeLinks'> {
  const links = db.collection<Row>('links');
  return {
    async addLink({ hash, offer, ...link }) {
      const u = { $setOnInsert: { ...link, ...(offer && { offer: toOfferDocument(offer) }) } };
      await write({ update: 'links', updates: [{ q: { _id: hash }, u, upsert: true }] });
    },
    async link(hash) {
      const row = await read((signal) => links.findOne({ _id: hash }, { signal }));
      return row ? readLinkDocument(row) : undefined;
    },
    async takeLink(hash) {
      // Not repeatable: if the answer was lost, the link counts as used.
      const { value } = await write({ findAndModify: 'links', query: { _id: hash }, remove: true }, false);
      return value ? readLinkDocument(value) : undefined;
    },
    async listInvitations(account) {
      const sort = { email: 1, _id: 1 } as const;
      const filter = { account, purpose: 'invite' };
      return (await read((signal) => links.find(filter, { signal }).sort(sort).toArray())).map(readLinkDocument);
    },
    async removeLinks({ purpose, user, account, email }) {
      const q = { purpose, user: user ?? null, account: account ?? null, email: email ?? null };
      await write({ delete: 'links', deletes: [{ q, limit: 0 }] });
    },
  };
}

function attemptCalls(db: Db, write: Write): Pick<SessionStore, 'count' | 'uncount' | 'attempts' | 'forget'> {
  const attempts = db.collection<Row>('attempts');
  return {
    async count(name, rule) {
      const command = {
        findAndModify: 'attempts',
        query: { _id: name },
        update: countUnlessWaiting(rule),
        upsert: true,
        ...MAJORITY,
      };
      const { value } = await call({ repeatable: true }, (signal) =>
        // If two processes insert at once, the second one finds the row on its retry.
        send(db, command, { signal }).catch((error) =>
          error.code === DUPLICATE_KEY ? send(db, command, { signal }) : Promise.reject(error),
        ),
      );
      // `value` is the row before the update, by which the server has decided in the same way.
      return getAttemptWaitMs(value ? readAttemptsDocument(value) : undefined, rule);
    },
    async uncount(name) {
      const updates = [{ q: { _id: name, count: { $gt: 1 } }, u: { $inc: { count: -1 } } }];
      const { n } = await write({ update: 'attempts', updates }, false);
      if (n === 0) await write({ delete: 'attempts', deletes: [{ q: { _id: name, count: 1 }, limit: 1 }] });
    },
    async attempts(name) {
      const row = await read((signal) => attempts.findOne({ _id: name }, { signal }));
      return row ? readAttemptsDocument(row) : undefined;
    },
    async forget(name) {
      await write({ delete: 'attempts', deletes: [{ q: { _id: name }, limit: 1 }] });
    },
  };
}

/** `getAttemptWaitMs` as an expression of the server. */
function countUnlessWaiting({ now, since, waitsMs }: AttemptRule): Document[] {
  const isOld = { $lt: [{ $ifNull: ['$lastAt', 0] }, since] };
  const waitMs = { $arrayElemAt: [waitsMs, { $min: [{ $ifNull: ['$count', 0] }, waitsMs.length - 1] }] };
  const waits = { $and: [{ $gt: [waitMs, 0] }, { $gt: [{ $add: ['$lastAt', waitMs] }, now] }, { $not: [isOld] }] };
  const count = { $cond: [isOld, 1, { $add: [{ $ifNull: ['$count', 0] }, 1] }] };
  return [{ $set: { count: { $cond: [waits, '$count', count] }, lastAt: { $cond: [waits, '$lastAt', now] } } }];
}

function deviceCalls(db: Db, write: Write): Pick<SessionStore, 'putDevice' | 'device'> {
  const devices = db.collection<Row>('devices');
  return {
    async putDevice({ hash, ...device }) {
      await write({ update: 'devices', updates: [{ q: { _id: hash }, u: { $set: device }, upsert: true }] });
    },
    async device(hash) {
      const row = await read((signal) => devices.findOne({ _id: hash }, { signal }));
      return row ? readDeviceDocument(row) : undefined;
    },
  };
}

function readDeviceDocument(row: Document): Device {
  const { id: hash, ...device } = readPlainDocument<Device & { id: string }>(row);
  return { ...device, hash };
}

function readSessionDocument(row: Document): Session {
  const { id: hash, ...session } = readPlainDocument<Session & { id: string }>(row);
  return { ...session, hash };
}

function readLinkDocument({ offer, ...row }: Document): Link {
  const { id: hash, ...link } = readPlainDocument<Link & { id: string }>(row);
  return { ...link, hash, ...(offer && { offer: readOfferDocument(offer) }) };
}

function toOfferDocument({ role, cap }: MembershipOffer): Document {
  return cap ? { role, cap: { ...cap, limit: toLong(cap.limit) } } : { role };
}

function readOfferDocument({ role, cap }: Document): MembershipOffer {
  return cap ? { role, cap: { limit: BigInt(cap.limit), reset: cap.reset } } : { role };
}

function readAttemptsDocument(row: Document): Attempts {
  return { count: Number(row.count), lastAt: Number(row.lastAt) };
}
