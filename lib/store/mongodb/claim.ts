// Claims rows that are due, by lease, in the MongoDB store, and changes them by version.
import type { Document } from 'mongodb';
import { canJudgeOwners } from '../claim.ts';
import type { JobClaim, JobRenewal } from '../ports/jobs.ts';
import { call, MAJORITY, read, send } from './call.ts';
import { NOW, readNow } from './clock.ts';
import type { Connection } from './connection.ts';
import { StaleRead } from './failure.ts';
import { listAliveOwners } from './owners.ts';
import type { Row } from './rows.ts';
import type { Step, Transactions } from './transaction.ts';

/** A kind of row that can be claimed. */
export interface Claimable<T> {
  readonly collection: string;
  /** See `IMPLAUSIBLE_WAIT_MS`. */
  readonly implausibleMs: number;
  readonly toDocument: (item: T) => Document;
  readonly read: (row: Document) => T;
}

interface Item {
  readonly id: string;
  readonly version: number;
}

interface Claims<T> {
  claim(claim: JobClaim): Promise<readonly T[]>;
  renew(renewal: JobRenewal): Promise<boolean>;
}

export function createClaims<T extends Item>(
  { db, client }: Connection,
  transactions: Transactions,
  sort: Claimable<T>,
): Claims<T> {
  const rows = db.collection<Row>(sort.collection);
  return {
    async claim(claim) {
      const now = await readNow(client);
      const { implausibleMs } = sort;
      const isFull = canJudgeOwners(claim, now);
      const filter = isFull
        ? buildFreeFilter(claim, await listAliveOwners(db, now), { now, implausibleMs })
        : buildDueFilter(claim, { owner: null }, { now, implausibleMs });
      // Usually nothing is due, so the transaction is saved.
      if (!(await read((signal) => rows.findOne(filter, { signal, projection: { _id: 1 } })))) return [];
      return transactions.run({ steps: (step) => takeRows(step, sort, filter, { ...claim, now }) });
    },
    async renew({ id, version, owner, leaseMs }) {
      const updates = [{ q: { _id: id, version, owner }, u: [{ $set: { lease: { $add: [NOW, leaseMs] } } }] }];
      const { n } = await call({ repeatable: true }, (signal) =>
        send(db, { update: sort.collection, updates, ...MAJORITY }, { signal }),
      );
      return n === 1;
    },
  };
}

/** Matches rows that are due and that no live process works on. */
function buildFreeFilter(claim: JobClaim, alive: readonly string[], time: ClaimTime): Document {
  const { now } = time;
  const { owner, leaseMs, working } = claim;
  const isOver = { $or: [{ lease: { $lt: now } }, { lease: { $gt: now + 2 * leaseMs } }] };
  const orphaned = { $or: [{ owner: { $nin: alive } }, ...(working ? [{ owner }] : [])] };
  return buildDueFilter(claim, { $or: [{ owner: null }, { $and: [isOver, orphaned] }] }, time);
}

interface ClaimTime {
  readonly now: number;
  readonly implausibleMs: number;
}

function buildDueFilter({ working = [] }: JobClaim, condition: Document, { now, implausibleMs }: ClaimTime): Document {
  const isDue = { $or: [{ dueAt: { $gt: 0, $lte: now } }, { dueAt: { $gt: now + implausibleMs } }] };
  return { _id: { $nin: working }, $and: [isDue, condition] };
}

/** All or nothing: no process would work on the rows of a half-failed claim until their owner is dead. */
async function takeRows<T extends Item>(
  step: Step,
  sort: Claimable<T>,
  filter: Document,
  { owner, leaseMs, limit, now }: JobClaim & { now: number },
): Promise<readonly T[]> {
  const find = {
    find: sort.collection,
    filter,
    sort: { dueAt: 1, _id: 1 },
    limit,
    batchSize: limit,
    singleBatch: true,
  };
  const { cursor } = await step(find);
  const found = (cursor.firstBatch as Document[]).map(sort.read);
  if (found.length === 0) return [];
  const taken = found.map((item) => ({ ...item, owner, lease: now + leaseMs, version: item.version + 1 }));
  await replaceRows(step, sort, taken, new Map(found.map((item) => [item.id, item])));
  return taken;
}

/** Changes rows in a transaction, each from the version it was loaded with. */
export async function replaceRows<T extends Item>(
  step: Step,
  sort: Claimable<T>,
  items: readonly T[],
  loaded: ReadonlyMap<string, T>,
): Promise<void> {
  const updates = items.map((item) => buildVersionedReplacement(sort, item, loaded.get(item.id)?.version));
  if (updates.length === 0) return;
  const { n } = await step({ update: sort.collection, updates });
  if (n !== updates.length) throw new StaleRead(`${updates.length - n} of ${sort.collection} have changed`);
}

export function buildVersionedReplacement<T extends Item>(
  { toDocument }: Claimable<T>,
  item: T,
  version: number | undefined,
): Document {
  return { q: { _id: item.id, version }, u: toDocument(item) };
}
