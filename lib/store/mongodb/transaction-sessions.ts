// The sessions that transactions run on. A transaction of a killed process would lock its wallet until the server gives
// up, after a minute or more. So each process records its sessions under a short lease, and any process that finds an
// expired lease kills the sessions. Killing those of a live process only costs it an attempt.
import { randomBytes } from 'node:crypto';
import type { ClientSession, Document, MongoClient } from 'mongodb';
import { ATTEMPT_MS, read, send, withDeadline } from './call.ts';
import type { Connection } from './connection.ts';

export interface TransactionSessions {
  /** Waits for a free session. */
  takeSession(): Promise<ClientSession>;
  /** Returns a session; a broken one is killed, with the transaction that runs on it. */
  returnSession(session: ClientSession, state: 'idle' | 'broken'): void;
  /** Kills the sessions of dead processes; at most every `REAP_EVERY_MS`. */
  reap(): Promise<void>;
  close(): Promise<void>;
}

/** The maximum of concurrent transactions; further connections are for reads. */
const SESSIONS_MAX = 48;
const LEASE_MS = 2000;
/** Tolerance for the clocks of two members. */
const GRACE_MS = 500;
/** The time of the server: with a wrong own clock, a process would lock wallets after its death or lose its sessions. */
const SERVER_NOW = { $toDouble: '$$NOW' };
const REAP_EVERY_MS = 250;

export function createSessions({ client, db }: Connection): TransactionSessions {
  const id = `ses_${randomBytes(12).toString('hex')}`;
  const idle: ClientSession[] = [];
  const queue: (() => void)[] = [];
  const open = new Map<ClientSession, { recorded: boolean }>();
  /** Broken sessions that the server has not confirmed as killed: a transaction on them may lock a wallet. */
  const doomed = new Set<ClientSession>();
  let leasedUntil = 0;
  let writing: Promise<void> | undefined;
  let reaping: Promise<void> | undefined;
  let reapedAt = 0;

  async function takeSession(): Promise<ClientSession> {
    while (idle.length === 0 && open.size >= SESSIONS_MAX) await new Promise<void>((resolve) => queue.push(resolve));
    const session = idle.pop() ?? startSession();
    try {
      await ensureLease(session);
      return session;
    } catch (error) {
      returnSession(session, 'idle');
      throw error;
    }
  }

  function startSession(): ClientSession {
    const session = client.startSession();
    open.set(session, { recorded: false });
    return session;
  }

  async function ensureLease(session: ClientSession): Promise<void> {
    const left = () => leasedUntil - performance.now();
    while (!open.get(session)?.recorded || left() < LEASE_MS / 3) await recordLease();
    if (left() < (LEASE_MS * 2) / 3) recordLease().catch(() => undefined);
  }

  function recordLease(): Promise<void> {
    writing ??= writeLease().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  async function writeLease(): Promise<void> {
    const from = performance.now();
    const states = [...open.values()];
    const sessions = [...open.keys(), ...doomed].map(getSessionId);
    const $set = { until: { $add: [SERVER_NOW, LEASE_MS] }, sessions: { $literal: sessions } };
    const updates = [{ q: { _id: id }, u: [{ $set }], upsert: true }];
    // No majority is needed: a failover ends every transaction anyway.
    await withDeadline(ATTEMPT_MS, (signal) =>
      send(db, { update: 'sessions', updates, writeConcern: { w: 1 } }, { signal }),
    );
    for (const state of states) state.recorded = true;
    leasedUntil = from + LEASE_MS;
  }

  function returnSession(session: ClientSession, state: 'idle' | 'broken'): void {
    if (state === 'idle') idle.push(session);
    else discard(session);
    queue.shift()?.();
  }

  function discard(session: ClientSession): void {
    open.delete(session);
    doomed.add(session);
    killDoomed().catch(() => undefined);
  }

  /** If the server is frozen or unreachable, the next `reap` retries. */
  async function killDoomed(): Promise<void> {
    const found = [...doomed];
    if (found.length === 0) return;
    await killSessions(client, found.map(getSessionId));
    for (const session of found) {
      // The driver forgets the id of an ended session.
      if (doomed.delete(session)) session.endSession().catch(() => undefined);
    }
  }

  function reap(): Promise<void> {
    if (performance.now() - reapedAt > REAP_EVERY_MS) {
      reaping ??= reapNow().finally(() => {
        reaping = undefined;
        reapedAt = performance.now();
      });
    }
    return reaping ?? Promise.resolve();
  }

  async function reapNow(): Promise<void> {
    await killDoomed();
    const isOver = { $expr: { $lt: ['$until', { $subtract: [SERVER_NOW, GRACE_MS] }] } };
    const rows = await read((signal) => db.collection<SessionRow>('sessions').find(isOver, { signal }).toArray());
    for (const row of rows) {
      if (row.sessions.length > 0) await killSessions(client, row.sessions);
      const deletes = [{ q: { _id: row._id, until: row.until }, limit: 1 }];
      await withDeadline(ATTEMPT_MS, (signal) => send(db, { delete: 'sessions', deletes }, { signal }));
    }
  }

  async function close(): Promise<void> {
    await writing?.catch(() => undefined);
    await killDoomed().catch(() => undefined);
    // Another process finds the remaining sessions in the row of this process and kills them.
    if (leasedUntil === 0 || doomed.size > 0) return;
    const deletes = [{ q: { _id: id }, limit: 1 }];
    await withDeadline(ATTEMPT_MS, (signal) => send(db, { delete: 'sessions', deletes }, { signal })).catch(
      () => undefined,
    );
  }

  return { takeSession, returnSession, reap, close };
}

interface SessionRow {
  readonly _id: string;
  readonly until: number;
  readonly sessions: readonly Document[];
}

function getSessionId(session: ClientSession): Document {
  const { id } = session.id ?? {};
  if (id === undefined) throw new Error('the session has ended');
  return { id };
}

async function killSessions(client: MongoClient, sessions: readonly Document[]): Promise<void> {
  await withDeadline(ATTEMPT_MS, (signal) => client.db('admin').command({ killSessions: sessions }, { signal }));
}
