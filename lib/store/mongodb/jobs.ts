// Jobs in the MongoDB store: every change applies to the version it was decided on, whoever else is working on it.
import type { Document } from 'mongodb';
import { decideJob, type Job } from '../../jobs/decide.ts';
import { canTellTheDead } from '../claim.ts';
import type { JobClaim, JobStore } from '../ports/jobs.ts';
import { call, MAJORITY, read, send } from './call.ts';
import { NOW, readNow } from './clock.ts';
import type { Connection } from './connection.ts';
import { StaleRead } from './failure.ts';
import { aliveOwners } from './owners.ts';
import { plainOf, type Row } from './rows.ts';
import type { Step, Transactions } from './transaction.ts';

/** Those that have not ended: the index has only them. */
const OPEN = { dueAt: { $gt: 0 } };

export function jobStore({ db, client }: Connection, transactions: Transactions): JobStore {
  const jobs = db.collection<Row>('jobs');

  async function get(id: string): Promise<Job | undefined> {
    const row = await read((signal) => jobs.findOne({ _id: id }, { signal }));
    return row ? jobOf(row) : undefined;
  }

  return {
    get,
    async claim(claim) {
      const now = await readNow(client);
      const isFull = canTellTheDead(claim, now);
      const filter = isFull ? isFree(claim, now, await aliveOwners(db, now)) : dueAt(claim, now, { owner: null });
      // Most of the time there is none, and a transaction for each look would be wasted.
      if (!(await read((signal) => jobs.findOne(filter, { signal, projection: { _id: 1 } })))) return [];
      return transactions.run({ steps: (step) => take(step, filter, { ...claim, now }) });
    },
    async change(change, known) {
      for (let job = known ?? (await get(change.id)); ; job = await get(change.id)) {
        const outcome = decideJob(job, change);
        if (outcome.status !== 'done' || !outcome.job) return outcome;
        const updates = [replacement(outcome.job, change.version)];
        const { n } = await call({ repeatable: true }, (signal) =>
          send(db, { update: 'jobs', updates, ...MAJORITY }, { signal }),
        );
        // Another was faster, or an earlier attempt did it: the next look will tell.
        if (n === 1) return outcome;
      }
    },
    async renew({ id, version, owner, leaseMs }) {
      const updates = [{ q: { _id: id, version, owner }, u: [{ $set: { lease: { $add: [NOW, leaseMs] } } }] }];
      const { n } = await call({ repeatable: true }, (signal) =>
        send(db, { update: 'jobs', updates, ...MAJORITY }, { signal }),
      );
      return n === 1;
    },
    open: () => read((signal) => jobs.countDocuments(OPEN, { signal })),
    async page({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => jobs.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map(jobOf);
    },
    async put(list) {
      if (list.length === 0) return;
      const updates = list.map((job) => ({ q: { _id: job.id }, u: jobRow(job), upsert: true }));
      await call({ repeatable: true }, (signal) => send(db, { update: 'jobs', updates, ...MAJORITY }, { signal }));
    },
  };
}

/** A condition on jobs that are due and that nobody works on. */
function isFree(claim: JobClaim, now: number, alive: readonly string[]): Document {
  const { owner, leaseMs, working } = claim;
  const isOver = { $or: [{ lease: { $lt: now } }, { lease: { $gt: now + 2 * leaseMs } }] };
  const left = { $or: [{ owner: { $nin: alive } }, ...(working ? [{ owner }] : [])] };
  return dueAt(claim, now, { $or: [{ owner: null }, { $and: [isOver, left] }] });
}

function dueAt({ working = [] }: JobClaim, now: number, more: Document): Document {
  return { dueAt: { $gt: 0, $lte: now }, _id: { $nin: working }, ...more };
}

/** All or none: what half of a claim had taken would be nobody's until its owner is gone. */
async function take(step: Step, filter: Document, { owner, leaseMs, limit, now }: JobClaim & { now: number }) {
  const find = { find: 'jobs', filter, sort: { dueAt: 1, _id: 1 }, limit, batchSize: limit, singleBatch: true };
  const { cursor } = await step(find);
  const found = (cursor.firstBatch as Document[]).map(jobOf);
  if (found.length === 0) return [];
  const taken = found.map((job) => ({ ...job, owner, lease: now + leaseMs, version: job.version + 1 }));
  await replaceJobs(step, taken, new Map(found.map((job) => [job.id, job])));
  return taken;
}

/** Changes jobs in a transaction, each from the version it was loaded with. */
export async function replaceJobs(step: Step, jobs: readonly Job[], loaded: ReadonlyMap<string, Job>): Promise<void> {
  const updates = jobs.map((job) => replacement(job, loaded.get(job.id)?.version));
  if (updates.length === 0) return;
  const { n } = await step({ update: 'jobs', updates });
  if (n !== updates.length) throw new StaleRead(`${updates.length - n} jobs have changed`);
}

function replacement(job: Job, version: number | undefined): Document {
  return { q: { _id: job.id, version }, u: jobRow(job) };
}

export function jobRow({ id: _id, ...job }: Job): Document {
  return { _id, ...job };
}

export function jobOf(row: Document): Job {
  return plainOf<Job>(row);
}
