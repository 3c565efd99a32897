// Jobs in the SQLite store: claimed, changed and renewed in write transactions, of which SQLite runs one at a time.
import type { DatabaseSync } from 'node:sqlite';
import type { Attempt } from '../../money/attempt.ts';
import { decideJob, type Job, type JobOutcome } from '../../money/job-rules.ts';
import { compareDue } from '../claim.ts';
import type { FreeJobChange, JobClaim, JobRenewal, JobStore } from '../ports/jobs.ts';
import type { WrongMarks } from '../ports/wrong-marks.ts';
import { listWrongMarks, markRow } from '../row-mark.ts';
import { createSaveAttempt } from './attempts.ts';
import { createClaim, createRenew } from './claim.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

/** The columns, in the order of the values of `toJobCells`. */
const COLUMNS = `id, wallet, charge, model, upstream, phase, shown, progress, ref, facts, result, error, owner, lease,
  due_at, deadline, created_at, ended_at, version`;
const SELECT = `SELECT ${COLUMNS} FROM jobs`;

export function jobWrites({ db, write }: Connection): PortWrites<'jobs'> {
  const claim = createClaim(db, 'jobs', COLUMNS);
  const renew = createRenew(db, 'jobs');
  const load = createLoadJob(db);
  const save = createSaveJob(db);
  const saveAttempt = createSaveAttempt(db);
  return {
    claim: (asked: JobClaim): Job[] => write(() => claim(asked, Date.now()).map(readJobRow).sort(compareDue)),
    change: (change: FreeJobChange, _known?: Job, attempts: readonly Attempt[] = []): JobOutcome =>
      write(() => {
        const outcome = decideJob(load(change.id), change);
        if (outcome.status !== 'done' || !outcome.job) return outcome;
        save(outcome.job);
        for (const attempt of attempts) saveAttempt(attempt);
        return outcome;
      }),
    renew: (renewal: JobRenewal): boolean => write(() => renew(renewal, Date.now())),
    put: (jobs: readonly Job[]): void =>
      write(() => {
        for (const job of jobs) save(job);
      }),
  };
}

export function jobReads(db: DatabaseSync): PortReads<'jobs'> {
  const count = db.prepare('SELECT count(*) AS open FROM jobs WHERE due_at IS NOT NULL');
  const page = db.prepare(`${SELECT} WHERE id > ? ORDER BY id LIMIT ?`);
  const marked = db.prepare(`SELECT ${COLUMNS}, mark FROM jobs WHERE id > ? ORDER BY id LIMIT ?`);
  return {
    findWrongMarks: ({ after = '', limit }: Parameters<JobStore['page']>[0]): WrongMarks => {
      const rows = marked.all(after, limit).map(({ mark, ...row }) => ({ row: readJobRow(row), mark }));
      return listWrongMarks(rows, limit);
    },
    get: createLoadJob(db),
    open: (): number => count.get()?.open as number,
    page: ({ after = '', limit }: Parameters<JobStore['page']>[0]): Job[] => page.all(after, limit).map(readJobRow),
  };
}

/** Reads one job, inside the current transaction if there is one. */
export function createLoadJob(db: DatabaseSync): (id: string) => Job | undefined {
  const select = db.prepare(`${SELECT} WHERE id = ?`);
  return (id) => {
    const row = select.get(id);
    return row && readJobRow(row);
  };
}

/** Writes a new job, or one that was loaded in the same transaction. */
export function createSaveJob(db: DatabaseSync): (job: Job) => void {
  const replace = db.prepare(
    `INSERT OR REPLACE INTO jobs (${COLUMNS}, mark) VALUES (${COLUMNS.replace(/\w+/g, '?')}, ?)`,
  );
  return (job) => void replace.run(...toJobCells(job), markRow(job));
}

function toJobCells(job: Job) {
  const { id, wallet, charge, model, upstream, phase, shown, progress, ref, facts, result, error } = job;
  const { owner, lease, dueAt, deadline, createdAt, endedAt, version } = job;
  const texts = [id, wallet, charge, model, upstream, phase, shown, progress, ref, facts, result, error] as const;
  return [...texts, owner, lease, dueAt, deadline, createdAt, endedAt, version] as const;
}

function readJobRow(row: Record<string, unknown>): Job {
  const { due_at: dueAt, created_at: createdAt, ended_at: endedAt, ...rest } = row;
  return { ...rest, dueAt, createdAt, endedAt } as unknown as Job;
}
