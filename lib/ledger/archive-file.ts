// The file of an archive: gzipped lines of JSON with every archived call, and for each wallet the sums of its journal
// before and after them. The file can be verified without the store.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { OperatorError } from '../base/operator-error.ts';
import type { Micro } from '../money/money.ts';
import type { Opening, WholeCall } from '../store/ports/archives.ts';
import { listAttemptProblems } from './audit-attempts.ts';
import { checkCharge } from './audit-charge.ts';
import { addEntriesAfter, type ColumnSums, SUM_COLUMNS, ZERO_SUMS } from './column-sums.ts';

/** The first line of the file. */
interface ArchiveHead {
  readonly tollgate: 'ledger archive';
  readonly version: 1;
  readonly id: string;
  /** All calls ended before this time, ms since the epoch. */
  readonly before: number;
}

/** The line before the calls of a wallet. */
interface WalletStart {
  readonly wallet: string;
  /** Null if no call of the wallet was archived before. */
  readonly from: Opening | null;
}

/** The line after the calls of a wallet. */
interface WalletEnd {
  readonly to: Opening;
  readonly calls: number;
  /** The sums of the entries between the two openings that stay in the store. */
  readonly stays: ColumnSums;
}

export interface ArchiveTotals {
  readonly wallets: number;
  readonly calls: number;
  readonly entries: number;
  /** Charges less refunds. */
  readonly charged: Micro;
  /** When the first and the last archived call started. */
  readonly first: number | null;
  readonly last: number | null;
}

export type ArchiveLine =
  | { readonly head: ArchiveHead }
  | { readonly start: WalletStart }
  | { readonly call: WholeCall }
  | { readonly stop: WalletEnd }
  | { readonly end: ArchiveTotals };

interface ArchiveWriter {
  add(line: ArchiveLine): Promise<void>;
  /** Writes the last line; resolves when the file is complete, though maybe not yet synced to disk. */
  end(): Promise<ArchiveTotals>;
  /** Stops writing after a failure. */
  abort(): Promise<void>;
}

/** Starts a new file, readable by its owner only. */
export function writeArchive(path: string, head: ArchiveHead): ArchiveWriter {
  const zip = createGzip();
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  const written = pipeline(zip, file);
  // The next write, or the end, reports this error.
  written.catch(() => undefined);
  const totals = createTotals();

  async function write(line: ArchiveLine): Promise<void> {
    if (zip.destroyed) await written;
    if (!zip.write(`${JSON.stringify(line, encodeBigint)}\n`)) await Promise.race([once(zip, 'drain'), written]);
  }

  write({ head }).catch(() => undefined);
  return {
    async add(line) {
      totals.add(line);
      await write(line);
    },
    async end() {
      const end = totals.read();
      await write({ end });
      zip.end();
      await written;
      return end;
    },
    async abort() {
      zip.destroy();
      await finished(file).catch(() => undefined);
    },
  };
}

function encodeBigint(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

const AMOUNT_FIELDS: ReadonlySet<string> = new Set([
  ...SUM_COLUMNS,
  'chargedAfter',
  'reserved',
  'excess',
  'spent',
  'rate',
  'cost',
  'costRub',
]);

function decodeAmount(name: string, value: unknown): unknown {
  return AMOUNT_FIELDS.has(name) && typeof value === 'string' ? BigInt(value) : value;
}

/** Yields the lines of a file in order. Throws `OperatorError` if the file is incomplete. */
export async function* readArchive(path: string, onBytes?: (bytes: Buffer) => void): AsyncGenerator<ArchiveLine> {
  const source = createReadStream(path);
  if (onBytes) source.on('data', (bytes) => onBytes(bytes as Buffer));
  const text = createGunzip();
  // Its errors reach the reader of the lines.
  pipeline(source, text).catch(() => undefined);
  let ended = false;
  try {
    for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (ended) throw new Error('it has lines behind its end');
      const parsed: ArchiveLine = JSON.parse(line, decodeAmount);
      ended = 'end' in parsed;
      yield 'call' in parsed ? { call: fillMissingFields(parsed.call) } : parsed;
    }
    if (!ended) throw new Error('its end is missing');
  } catch (error) {
    throw new OperatorError(`The archive ${path} cannot be read: ${error instanceof Error ? error.message : error}.`);
  } finally {
    source.destroy();
    text.destroy();
  }
}

/** Files of earlier versions have entries without `status` and `mark`, and no attempts. */
function fillMissingFields({ charge, entries, attempts }: Omit<WholeCall, 'attempts'> & Partial<WholeCall>): WholeCall {
  return {
    charge,
    attempts: attempts ?? [],
    entries: entries.map((entry) => ({ ...entry, status: entry.status ?? null, mark: entry.mark ?? null })),
  };
}

export interface VerifiedArchive {
  readonly head: ArchiveHead;
  readonly totals: ArchiveTotals;
  /** The hash of the bytes of the file. */
  readonly sha256: string;
}

/** Reads a whole file and checks every sum. Throws `OperatorError` with the first problem. */
export async function verifyArchive(path: string): Promise<VerifiedArchive> {
  const hash = createHash('sha256');
  const totals = createTotals();
  const wallet = createWalletCheck();
  let head: ArchiveHead | undefined;
  let end: ArchiveTotals | undefined;
  const wrong = (text: string) => new OperatorError(`The archive ${path} is damaged: ${text}.`);
  for await (const line of readArchive(path, (bytes) => hash.update(bytes))) {
    if ('head' in line) head = line.head;
    else if (!isHead(head)) throw wrong('it does not begin like an archive of this version');
    else {
      if ('end' in line) end = line.end;
      else totals.add(line);
      const problem = wallet.add(line);
      if (problem !== undefined) throw wrong(problem);
    }
  }
  if (!head || !end || JSON.stringify(end, encodeBigint) !== JSON.stringify(totals.read(), encodeBigint)) {
    throw wrong('its totals are not those of its calls');
  }
  return { head, totals: end, sha256: hash.digest('hex') };
}

function isHead(head: ArchiveHead | undefined): head is ArchiveHead {
  return head?.tollgate === 'ledger archive' && head.version === 1;
}

/** Checks the wallets one after the other; returns the first problem of a line, if any. */
function createWalletCheck() {
  const ids = new Set<string>();
  let open: (WalletStart & { readonly sums: ColumnSums; last: number }) | undefined;

  function add(line: Exclude<ArchiveLine, { head: ArchiveHead }>): string | undefined {
    if ('call' in line) return addCall(line.call);
    if ('stop' in line) return stop(line.stop);
    if (open) return `the calls of ${open.wallet} do not end`;
    if ('end' in line) return undefined;
    ids.clear();
    open = { ...line.start, sums: { ...ZERO_SUMS }, last: 0 };
    return undefined;
  }

  function addCall({ charge, entries, attempts }: WholeCall): string | undefined {
    const { id, wallet } = charge;
    if (open?.wallet !== wallet) return `the call ${id} is not among those of ${wallet}`;
    if (ids.has(id)) return `the call ${id} is there twice`;
    ids.add(id);
    if (entries.some((entry) => entry.wallet !== wallet)) return `an entry of the call ${id} is not of ${wallet}`;
    addEntriesAfter(open.sums, entries, open.from?.seq ?? 0);
    open.last = Math.max(open.last, ...entries.map(({ seq }) => seq));
    const [finding] = checkCharge({ wallet, charge, entries });
    const problem = finding?.problem ?? listAttemptProblems(charge, attempts)[0];
    return problem && `call ${id}: ${problem}`;
  }

  function stop({ to, calls, stays }: WalletEnd): string | undefined {
    if (to.wallet !== open?.wallet) return `the calls of ${to.wallet} do not begin`;
    const { wallet, sums, last, from } = open;
    open = undefined;
    if (ids.size !== calls) return `${ids.size} calls of ${wallet} instead of ${calls}`;
    if (last > to.seq) return `entry ${last} of ${wallet} is behind its opening at ${to.seq}`;
    const before = from ?? ZERO_SUMS;
    // Files of earlier versions have no grants.
    const wanted = (name: keyof ColumnSums) => (before[name] ?? 0n) + sums[name] + (stays[name] ?? 0n);
    const column = SUM_COLUMNS.find((name) => wanted(name) !== (to[name] ?? 0n));
    return column && `${column} of ${wallet} is ${to[column]} instead of ${wanted(column)}`;
  }

  return { add };
}

function createTotals() {
  const totals = { wallets: 0, calls: 0, entries: 0, charged: 0n };
  let first: number | null = null;
  let last: number | null = null;
  return {
    add(line: ArchiveLine): void {
      if ('start' in line) totals.wallets += 1;
      if (!('call' in line)) return;
      const { charge, entries } = line.call;
      totals.calls += 1;
      totals.entries += entries.length;
      totals.charged += entries.reduce((sum, { charged }) => sum + charged, 0n);
      first = Math.min(first ?? charge.createdAt, charge.createdAt);
      last = Math.max(last ?? charge.createdAt, charge.createdAt);
      assert(Number.isSafeInteger(totals.entries));
    },
    read: (): ArchiveTotals => ({ ...totals, first, last }),
  };
}
