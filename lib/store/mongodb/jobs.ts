// Jobs in the MongoDB store: every change applies only to the version that it was decided on.
import type { Document } from 'mongodb';
import type { Attempt } from '../../money/attempt.ts';
import { decideJob, type Job } from '../../money/job-rules.ts';
import { IMPLAUSIBLE_WAIT_MS } from '../claim.ts';
import type { JobStore } from '../ports/jobs.ts';
import { listWrongMarks, markRow } from '../row-mark.ts';
import { putAttempts } from './attempts.ts';
import { call, MAJORITY, read, send } from './call.ts';
import { buildVersionedReplacement, type Claimable, createClaims, replaceRows } from './claim.ts';
import type { Connection } from './connection.ts';
import { type Row, readPlainDocument } from './rows.ts';
import { repeatUnknown, type Step, type Transactions } from './transaction.ts';

const JOBS: Claimable<Job> = {
  collection: 'jobs',
  implausibleMs: IMPLAUSIBLE_WAIT_MS.jobs,
  toDocument: toJobDocument,
  read: readJobDocument,
};

/** Jobs that have not ended; the index covers only these. */
const OPEN = { dueAt: { $gt: 0 } };

export function jobStore(connection: Connection, transactions: Transactions): JobStore {
  const { db } = connection;
  const jobs = db.collection<Row>('jobs');
  const rows = createClaims(connection, transactions, JOBS);

  async function get(id: string): Promise<Job | undefined> {
    const row = await read((signal) => jobs.findOne({ _id: id }, { signal }));
    return row ? readJobDocument(row) : undefined;
  }

  async function write(update: Document): Promise<boolean> {
    const { n } = await call({ repeatable: true }, (signal) => send(db, { ...update, ...MAJORITY }, { signal }));
    return n === 1;
  }

  function writeWith(update: Document, attempts: readonly Attempt[]): Promise<boolean> {
    const steps = async (step: Step) => {
      const { n } = await step(update);
      if (n === 1) await step(putAttempts(attempts));
      return n === 1;
    };
    return repeatUnknown(() => transactions.run({ steps }));
  }

  return {
    get,
    claim: rows.claim,
    async change(change, known, attempts = []) {
      for (let job = known ?? (await get(change.id)); ; job = await get(change.id)) {
        const outcome = decideJob(job, change);
        if (outcome.status !== 'done' || !outcome.job) return outcome;
        const update = { update: 'jobs', updates: [buildVersionedReplacement(JOBS, outcome.job, change.version)] };
        const isWritten = await (attempts.length > 0 ? writeWith(update, attempts) : write(update));
        // Another process was faster, or an earlier attempt succeeded: the next read will show.
        if (isWritten) return outcome;
      }
    },
    renew: rows.renew,
    open: () => read((signal) => jobs.countDocuments(OPEN, { signal })),
    async page({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => jobs.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map(readJobDocument);
    },
    async findWrongMarks({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => jobs.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return listWrongMarks(
        rows.map((row) => ({ row: readJobDocument(row), mark: row.mark })),
        limit,
      );
    },
    async put(list) {
      if (list.length === 0) return;
      const updates = list.map((job) => ({ q: { _id: job.id }, u: toJobDocument(job), upsert: true }));
      await call({ repeatable: true }, (signal) => send(db, { update: 'jobs', updates, ...MAJORITY }, { signal }));
    },
  };
}

/** Changes jobs in a transaction, each from the version it was loaded with. */
export function replaceJobs(step: Step, jobs: readonly Job[], loaded: ReadonlyMap<string, Job>): Promise<void> {
  return replaceRows(step, JOBS, jobs, loaded);
}

export function toJobDocument(whole: Job): Document {
  const { id: _id, ...job } = whole;
  return { _id, ...job, mark: markRow(whole) };
}

export function readJobDocument({ mark: _mark, ...row }: Document): Job {
  return readPlainDocument<Job>(row);
}
