// Copies a store into another, of whatever kind: the journal is replayed through the rules of the ledger, so that the
// copy has every entry and charge as it was, or is refused. Every step can be repeated: a copy that broke off goes on.
import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../config.ts';
import type { Charge, Entry, Operation } from '../money/decide.ts';
import { type Account, type Store, StoreError, type Submission, type WalletAudit } from './store.ts';

type CopySource = Omit<Store, 'close'>;

export interface CopyOptions {
  readonly from: CopySource;
  /** Empty, or the target of a copy that broke off. */
  readonly to: Store;
  /** The source is in use: each wallet is copied as it is at one moment, and may be further on afterwards. */
  readonly live: boolean;
  readonly onProgress?: (progress: CopyProgress) => void;
}

export interface CopyProgress {
  /** Entries of the journal, of all wallets. */
  readonly done: number;
  readonly total: number;
}

export interface CopyReport {
  readonly accounts: number;
  readonly keys: number;
  readonly entries: number;
  readonly settings: number;
  /** The target was that of a copy that broke off. */
  readonly resumed: boolean;
}

/** The setting that says whether the store is a copy that is whole. */
export const COPY_SETTING = 'store.copy';
export const COPY_UNFINISHED = 'unfinished';

const WALLETS_PER_PAGE = 100;
const WALLETS_AT_ONCE = 4;
const CHARGES_AT_ONCE = 16;
const TRIES = 5;
const TRY_AGAIN_MS = 500;

/** Rejects with `OperatorError` when the copy cannot be made or is not like the source. */
export async function copyStore(options: CopyOptions): Promise<CopyReport> {
  const { from, to, live } = options;
  const resumed = await claimTarget(to);
  const accounts = await from.accounts.list();
  await copyAccounts(to, accounts);
  const entries = await copyWallets(options, accounts);
  let keys = 0;
  for (const account of accounts) keys += await copyKeys(from, to, account.id);
  const settings = await copySettings(from, to);
  if (!live) await refuseChanges(from, to);
  await to.settings.set(COPY_SETTING, `finished ${new Date().toISOString()}`);
  return { accounts: accounts.length, keys, entries, settings, resumed };
}

/** Resolves to whether a copy had begun. */
async function claimTarget(to: Store): Promise<boolean> {
  if ((await to.settings.get(COPY_SETTING)) === COPY_UNFINISHED) return true;
  const [accounts, settings] = [await to.accounts.list(), await to.settings.list()];
  if (accounts.length > 0 || settings.length > 0) {
    const counts = `${accounts.length} accounts and ${settings.length} settings`;
    throw new OperatorError(`The target is not empty, it has ${counts}: name an empty one.`);
  }
  await to.settings.set(COPY_SETTING, COPY_UNFINISHED);
  return false;
}

async function copyAccounts(to: Store, accounts: readonly Account[]): Promise<void> {
  const existing = new Map((await to.accounts.list()).map((account) => [account.id, account]));
  for (const account of accounts) {
    const { id, name, createdAt } = account;
    const found = existing.get(id);
    existing.delete(id);
    if (!found) await to.accounts.create({ id, name, createdAt });
    const made = found ?? (await to.accounts.get(id));
    if (!isDeepStrictEqual({ ...made, status: account.status }, account)) throw differs(`the account ${id}`);
  }
  const [stranger] = existing.keys();
  if (stranger !== undefined) throw new OperatorError(`The target has an account ${stranger} that the source has not.`);
}

/** Resolves to the number of entries. */
async function copyWallets({ from, to, onProgress }: CopyOptions, accounts: readonly Account[]): Promise<number> {
  const wanted = new Set(accounts.map((account) => account.id));
  const progress = { done: 0, total: 0 };
  for await (const page of auditPages(from)) for (const row of page) progress.total += row.entries;
  const onEntries = (entries: number) => {
    progress.done += entries;
    onProgress?.(progress);
  };
  let after = '';
  for await (const page of auditPages(from)) {
    // The rest are of accounts that were made after the copy began.
    const rows = page.filter((row) => wanted.has(row.wallet.id));
    await forEach(rows, WALLETS_AT_ONCE, (row) => copyWallet({ from, to, row, onEntries }));
    await compare(to, rows, after);
    after = rows.at(-1)?.wallet.id ?? after;
  }
  return progress.done;
}

async function* auditPages(store: CopySource): AsyncGenerator<readonly WalletAudit[]> {
  let after = '';
  while (true) {
    const page = await store.ledger.audit({ after, limit: WALLETS_PER_PAGE });
    yield page;
    const last = page.at(-1);
    if (!last || page.length < WALLETS_PER_PAGE) return;
    after = last.wallet.id;
  }
}

interface WalletCopy extends Pick<CopyOptions, 'from' | 'to'> {
  /** The wallet as it is to be. */
  readonly row: WalletAudit;
  readonly onEntries: (entries: number) => void;
}

async function copyWallet({ from, to, row, onEntries }: WalletCopy): Promise<void> {
  const { id, seq: seqEnd, status } = row.wallet;
  const begun = await to.ledger.wallet(id);
  let seq = begun?.seq ?? 0;
  if (seq > seqEnd) throw differs(`the wallet ${id}`);
  onEntries(seq);
  // A suspended wallet would not take its own past.
  if (begun?.status === 'suspended' && seq < seqEnd) await to.accounts.setStatus(id, 'active');
  while (seq < seqEnd) {
    const limit = Math.min(to.ledger.batchMax, seqEnd - seq);
    const page = { before: seq + limit + 1, limit };
    const entries = await from.ledger.entries(id, page);
    await replay(from, to, entries.toReversed());
    if (!isDeepStrictEqual(await to.ledger.entries(id, page), entries)) throw differs(`the wallet ${id}`);
    seq += limit;
    onEntries(limit);
  }
  await to.accounts.setStatus(id, status);
}

/** Sums, counts and balances of the copies, which are the next in the target after this id. */
async function compare(to: Store, rows: readonly WalletAudit[], after: string): Promise<void> {
  if (rows.length === 0) return;
  const copies = await to.ledger.audit({ after, limit: rows.length });
  for (const [index, row] of rows.entries()) {
    if (!isDeepStrictEqual(copies[index], row)) throw differs(`the wallet ${row.wallet.id}`);
  }
}

async function replay(from: CopySource, to: Store, entries: readonly Entry[]): Promise<void> {
  const charges = new Map<string, Charge>();
  const ids = new Set(entries.flatMap(({ charge }) => charge ?? []));
  await forEach([...ids], CHARGES_AT_ONCE, async (id) => {
    const charge = await from.ledger.charge(id);
    if (charge) charges.set(id, charge);
  });
  const batch = entries.map((entry) => {
    const op = operationOf(entry, charges.get(entry.charge ?? ''));
    return { op, tried: false, abandoned: false } satisfies Submission;
  });
  const outcomes = await applyPatiently(to, batch);
  for (const [index, entry] of entries.entries()) {
    const outcome = outcomes[index];
    const charge = charges.get(entry.charge ?? '');
    const same = outcome?.charge?.state !== charge?.state || isDeepStrictEqual(outcome?.charge, charge);
    if (!same || (outcome?.status !== 'done' && outcome?.status !== 'exists')) {
      throw new OperatorError(`The ledger does not take entry ${entry.seq} of ${entry.wallet}: ${outcome?.status}.`);
    }
  }
}

/** Operations are idempotent: whatever became of a batch, it can be sent again. */
async function applyPatiently(to: Store, batch: readonly Submission[]) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await to.ledger.apply(batch);
    } catch (error) {
      if (!(error instanceof StoreError) || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

/** The operation that made an entry. */
function operationOf(entry: Entry, charge: Charge | undefined): Operation {
  const { wallet, at, kind, note } = entry;
  const id = entry.opId.slice(kind.length + 1);
  switch (kind) {
    case 'topup':
      return { kind, wallet, at, amount: entry.avail, paymentId: id };
    case 'adjust':
      return { kind, wallet, at, amount: entry.avail, reason: note ?? '', adjustId: id };
  }
  if (!charge) throw new OperatorError(`The source has no charge ${id}, of entry ${entry.seq} of ${wallet}.`);
  switch (kind) {
    case 'reserve':
    case 'charge': {
      const { key, kind: chargeKind, model, prices, owner, lease } = charge;
      const start = { wallet, at, chargeId: id, key, chargeKind, model, prices, amount: -entry.avail };
      // A hold that has ended has none of its own any more.
      return kind === 'charge' ? { kind, ...start } : { kind, ...start, owner: owner ?? 'copied', lease: lease ?? at };
    }
    case 'settle': {
      return { kind, wallet, at, chargeId: id, amount: entry.charged, usage: charge.usage };
    }
    default:
      return { kind, wallet, at, chargeId: id };
  }
}

/** Resolves to the number of keys. */
async function copyKeys(from: CopySource, to: Store, account: string): Promise<number> {
  const rows = await from.keys.list(account);
  const copied = new Map((await to.keys.list(account)).map((row) => [row.id, row]));
  for (const row of rows) {
    const { id, revokedAt, requestsCount, lastUsedAt } = row;
    const found = copied.get(id);
    if (!found) await to.keys.add(row, Number.MAX_SAFE_INTEGER);
    if (revokedAt !== null) await to.keys.revoke(id, revokedAt);
    const count = requestsCount - (found?.requestsCount ?? 0);
    if (lastUsedAt !== null && (count !== 0 || found?.lastUsedAt !== lastUsedAt)) {
      await to.keys.use([{ id, count, lastUsedAt }]);
    }
  }
  if (!isDeepStrictEqual(await to.keys.list(account), rows)) throw differs(`the list of keys of ${account}`);
  return rows.length;
}

async function copySettings(from: CopySource, to: Store): Promise<number> {
  const settings = (await from.settings.list()).filter(({ name }) => name !== COPY_SETTING);
  for (const { name, value } of settings) await to.settings.set(name, value);
  return settings.length;
}

/** What was written to the source meanwhile is missing in the copy. */
async function refuseChanges(from: CopySource, to: Store): Promise<void> {
  let after = '';
  for await (const page of auditPages(from)) {
    const copies = await to.ledger.audit({ after, limit: WALLETS_PER_PAGE });
    for (const [index, row] of page.entries()) {
      if (isDeepStrictEqual(copies[index], row)) continue;
      throw new OperatorError(
        `The source changed while it was copied (wallet ${row.wallet.id}): stop every gateway on it and copy again, ` +
          'which goes on from here.',
      );
    }
    after = page.at(-1)?.wallet.id ?? after;
  }
}

function differs(what: string): OperatorError {
  return new OperatorError(`The copy of ${what} is not like the source: start again with an empty target.`);
}

async function forEach<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
