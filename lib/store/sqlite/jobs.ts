// Jobs in the SQLite store: claimed, changed and renewed in write transactions, which the file takes one at a time.
import type { DatabaseSync } from 'node:sqlite';
import { decideJob, type Job, type JobOutcome } from '../../money/job-rules.ts';
import { byTurn } from '../claim.ts';
import type { FreeJobChange, JobClaim, JobRenewal, JobStore } from '../ports/jobs.ts';
import type { MarkedPage } from '../ports/marked.ts';
import { findUnmarked, markRow } from '../row-mark.ts';
import { createClaim, createRenew } from './claim.ts';
import type { Connection } from './connection.ts';
import type { ReadsOf, WritesOf } from './thread-ports.ts';

/** The columns, in the order of the values of `valuesOf`. */
const COLUMNS = `id, wallet, charge, model, upstream, phase, shown, progress, ref, facts, result, error, owner, lease,
  due_at, deadline, created_at, ended_at, version`;
const SELECT = `SELECT ${COLUMNS} FROM jobs`;

export function jobWrites({ db, write }: Connection): WritesOf<'jobs'> {
  const claim = createClaim(db, 'jobs', COLUMNS);
  const renew = createRenew(db, 'jobs');
  const load = createLoadJob(db);
  const save = createSaveJob(db);
  return {
    claim: (asked: JobClaim): Job[] => write(() => claim(asked, Date.now()).map(jobOf).sort(byTurn)),
    change: (change: FreeJobChange): JobOutcome =>
      write(() => {
        const outcome = decideJob(load(change.id), change);
        if (outcome.status === 'done' && outcome.job) save(outcome.job);
        return outcome;
      }),
    renew: (renewal: JobRenewal): boolean => write(() => renew(renewal, Date.now())),
    put: (jobs: readonly Job[]): void =>
      write(() => {
        for (const job of jobs) save(job);
      }),
  };
}

export function jobReads(db: DatabaseSync): ReadsOf<'jobs'> {
  const count = db.prepare('SELECT count(*) AS open FROM jobs WHERE due_at IS NOT NULL');
  const page = db.prepare(`${SELECT} WHERE id > ? ORDER BY id LIMIT ?`);
  const marked = db.prepare(`SELECT ${COLUMNS}, mark FROM jobs WHERE id > ? ORDER BY id LIMIT ?`);
  return {
    unmarked: ({ after = '', limit }: Parameters<JobStore['page']>[0]): MarkedPage => {
      const rows = marked.all(after, limit).map(({ mark, ...row }) => ({ row: jobOf(row), mark }));
      return findUnmarked(rows, limit);
    },
    get: createLoadJob(db),
    open: (): number => count.get()?.open as number,
    page: ({ after = '', limit }: Parameters<JobStore['page']>[0]): Job[] => page.all(after, limit).map(jobOf),
  };
}

/** Reads one job, inside the current transaction if there is one. */
export function createLoadJob(db: DatabaseSync): (id: string) => Job | undefined {
  const select = db.prepare(`${SELECT} WHERE id = ?`);
  return (id) => {
    const row = select.get(id);
    return row && jobOf(row);
  };
}

/** Writes a job that is new, or that changed since it was loaded in the same transaction. */
export function createSaveJob(db: DatabaseSync): (job: Job) => void {
  const replace = db.prepare(
    `INSERT OR REPLACE INTO jobs (${COLUMNS}, mark) VALUES (${COLUMNS.replace(/\w+/g, '?')}, ?)`,
  );
  return (job) => void replace.run(...valuesOf(job), markRow(job));
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
