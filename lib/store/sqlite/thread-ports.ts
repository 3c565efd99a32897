// The calls that the threads of a SQLite store answer: those of the ports, and a few that only this store has.
import { READS, WRITES } from '../port-calls.ts';
import type { LedgerStore } from '../ports/ledger.ts';
import type { MediaStore, StoredMedia } from '../ports/media.ts';
import type { Store, StorePorts } from '../store.ts';

/** Ports for which the calling thread does more than pass a call on. */
interface OwnPorts {
  readonly ledger: Omit<LedgerStore, 'lane' | 'batchMax'>;
  readonly media: MediaRows;
  readonly file: Pick<Store, 'ping' | 'gateways'> & {
    /** `pages` is shared memory: pages copied, and total pages. */
    backup(file: string, pages: Int32Array): Promise<void>;
  };
}

/** The rows of media files, one for each complete file. */
export interface MediaRows extends Pick<MediaStore, 'get' | 'latest' | 'page'> {
  expired(now: number, limit: number): Promise<readonly string[]>;
  /** The given ids that have a row. */
  known(ids: readonly string[]): Promise<readonly string[]>;
  add(media: StoredMedia): Promise<void>;
  /** Resolves to how many there were. */
  drop(ids: readonly string[]): Promise<number>;
}

export type ThreadPorts = Omit<StorePorts, keyof OwnPorts> & OwnPorts;

export const THREAD_READS = {
  ...READS,
  media: ['get', 'latest', 'page', 'expired', 'known'],
  file: ['ping', 'gateways', 'backup'],
} as const satisfies Calls;

export const THREAD_WRITES = { ...WRITES, media: ['add', 'drop'], file: [] } as const satisfies Calls;

/** Reads that may take long run in their own thread, so that no other call waits for them. */
export const SCANS: Partial<Calls> = {
  ledger: ['charges', 'budgetPage', 'grantsCharged', 'paymentSums', 'correctionSum', 'transfers'],
  journal: READS.journal,
  attempts: ['page', 'search', 'sums', 'unknownCharges'],
  checkpoints: READS.checkpoints,
  archives: ['openings', 'findWrongMarks'],
  accounts: ['list', 'summaries', 'countCreated', 'page', 'findWrongMarks'],
  keys: ['findAccountsByEnd', 'lastUses', 'owners', 'findWrongMarks'],
  jobs: ['page', 'findWrongMarks'],
  papers: ['page'],
  payments: ['list', 'webhooks', 'page', 'findWrongMarks'],
  media: ['latest', 'page', 'expired', 'known'],
  usage: READS.usage,
  users: ['page', 'formerPage', 'memberships', 'findWrongMarks'],
  auditLog: ['page'],
  alerts: ['page'],
  idempotency: ['page'],
  management: ['replyPage'],
  refusals: ['page'],
  file: ['backup'],
};

type Calls = { readonly [Name in keyof ThreadPorts]: readonly (keyof ThreadPorts[Name])[] };

type ReadName<Name extends keyof ThreadPorts> = Extract<(typeof THREAD_READS)[Name][number], keyof ThreadPorts[Name]>;
type WriteName<Name extends keyof ThreadPorts> = Extract<(typeof THREAD_WRITES)[Name][number], keyof ThreadPorts[Name]>;

/** All listed calls: the compiler reports a call of a port that is not listed. */
export type ListedPorts = {
  readonly [Name in keyof ThreadPorts]: Pick<ThreadPorts[Name], ReadName<Name> | WriteName<Name>>;
};

/** The calls of a port as the thread with the database answers them: synchronously. */
export type PortReads<Name extends keyof ThreadPorts> = Answers<Pick<ThreadPorts[Name], ReadName<Name>>>;
export type PortWrites<Name extends keyof ThreadPorts> = Answers<Omit<ThreadPorts[Name], ReadName<Name>>>;

type Answers<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never;
};
