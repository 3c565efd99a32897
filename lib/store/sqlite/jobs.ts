// Jobs in the SQLite store: claimed, changed and renewed in write transactions, which the file takes one at a time.
import type { DatabaseSync } from 'node:sqlite';
import { decideJob, type Job, type JobOutcome } from '../../jobs/decide.ts';
import { canTellTheDead } from '../claim.ts';
import type { FreeJobChange, JobClaim, JobRenewal, JobStore } from '../ports/jobs.ts';
import type { Connection } from './connection.ts';
import { ALIVE } from './owners.ts';

/** The columns, in the order of the values of `valuesOf`. */
const COLUMNS = `id, wallet, charge, model, upstream, phase, shown, progress, ref, facts, result, error, owner, lease,
  due_at, deadline, created_at, ended_at, version`;
const SELECT = `SELECT ${COLUMNS} FROM jobs`;

/** Jobs that nobody works on. */
const FREE = `(:working IS NULL OR jobs.id NOT IN (SELECT value FROM json_each(:working)))
  AND (owner IS NULL OR (:unowned = 0 AND (lease < :now OR lease > :now + 2 * :leaseMs)
  AND (NOT EXISTS (SELECT 1 FROM owners WHERE owners.id = jobs.owner AND ${ALIVE})
    OR (owner = :owner AND :working IS NOT NULL))))`;

export function jobWrites({ db, write }: Connection) {
  const claim = db.prepare(
    `UPDATE jobs SET owner = :owner, lease = :now + :leaseMs, version = version + 1 WHERE id IN (
      SELECT id FROM jobs WHERE due_at <= :now AND ${FREE} ORDER BY due_at, id LIMIT :limit
    ) RETURNING ${COLUMNS}`,
  );
  const renew = db.prepare('UPDATE jobs SET lease = ? WHERE id = ? AND version = ? AND owner = ?');
  const load = createLoadJob(db);
  const save = createSaveJob(db);
  return {
    claimJobs: (asked: JobClaim, now: number): Job[] =>
      write(() => {
        const { owner, leaseMs, limit, working } = asked;
        const unowned = Number(!canTellTheDead(asked, now));
        const list = working ? JSON.stringify(working) : null;
        const claimed = claim.all({ owner, leaseMs, limit, working: list, unowned, now }).map(jobOf);
        // The rows of an update come in any order.
        return claimed.sort(byTurn);
      }),
    changeJob: (change: FreeJobChange): JobOutcome =>
      write(() => {
        const outcome = decideJob(load(change.id), change);
        if (outcome.status === 'done' && outcome.job) save(outcome.job);
        return outcome;
      }),
    renewJob: ({ id, version, owner, leaseMs }: JobRenewal, now: number): boolean =>
      write(() => renew.run(now + leaseMs, id, version, owner).changes === 1),
    putJobs: (jobs: readonly Job[]): void =>
      write(() => {
        for (const job of jobs) save(job);
      }),
  };
}

export function jobReads(db: DatabaseSync) {
  const count = db.prepare('SELECT count(*) AS open FROM jobs WHERE due_at IS NOT NULL');
  const page = db.prepare(`${SELECT} WHERE id > ? ORDER BY id LIMIT ?`);
  return {
    job: createLoadJob(db),
    openJobs: (): number => count.get()?.open as number,
    jobPage: ({ after = '', limit }: Parameters<JobStore['page']>[0]): Job[] => page.all(after, limit).map(jobOf),
  };
}

/** Reads one job, in a transaction if one is under way. */
export function createLoadJob(db: DatabaseSync): (id: string) => Job | undefined {
  const select = db.prepare(`${SELECT} WHERE id = ?`);
  return (id) => {
    const row = select.get(id);
    return row && jobOf(row);
  };
}

/** Writes a job that is new, or has changed since it was loaded in the same transaction. */
export function createSaveJob(db: DatabaseSync): (job: Job) => void {
  const replace = db.prepare(
    `INSERT OR REPLACE INTO jobs (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (job) => void replace.run(...valuesOf(job));
}

function valuesOf(job: Job) {
  const { id, wallet, charge, model, upstream, phase, shown, progress, ref, facts, result, error } = job;
  const { owner, lease, dueAt, deadline, createdAt, endedAt, version } = job;
  const texts = [id, wallet, charge, model, upstream, phase, shown, progress, ref, facts, result, error] as const;
  return [...texts, owner, lease, dueAt, deadline, createdAt, endedAt, version] as const;
}

function jobOf(row: Record<string, unknown>): Job {
  const { due_at: dueAt, created_at: createdAt, ended_at: endedAt, ...rest } = row;
  return { ...rest, dueAt, createdAt, endedAt } as unknown as Job;
}

function byTurn(a: Job, b: Job): number {
  return (a.dueAt ?? 0) - (b.dueAt ?? 0) || (a.id < b.id ? -1 : 1);
}
