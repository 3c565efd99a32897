// Copies the journal: page by page, its entries become operations again, which the ledger of the target applies in
// batches; then the rows of the target are compared with the page.
import { isDeepStrictEqual } from 'node:util';
import { eachConcurrently } from '../base/each-concurrently.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Charge, Entry, Operation, Wallet } from '../money/decide.ts';
import { rebuildMarkedOperation } from '../money/replay.ts';
import { copyRowsBeforeOpening } from './copy-archives.ts';
import { copyAttempts } from './copy-attempts.ts';
import { mismatchError } from './copy-mismatch.ts';
import { journalPages } from './journal.ts';
import type { JournalPage, JournalPosition, JournalRows } from './ports/journal.ts';
import { type OnProgress, type Store, StoreError } from './store.ts';
import { accountIds, createIdLookup } from './walks.ts';

type Source = Pick<Store, 'journal' | 'accounts'>;

interface JournalCopy {
  readonly from: Source;
  /** The target must already have the accounts. */
  readonly to: Store;
  /** Whether the target may already have a part of the journal. */
  readonly resumed: boolean;
  readonly onProgress?: OnProgress | undefined;
}

const ROWS_PER_PAGE = 1000;
/** Larger batches save little, and a failed batch is sent again entirely. */
const OPERATIONS_PER_BATCH = 256;
const BATCHES_AT_ONCE = 4;
const READS_AT_ONCE = 8;
const TRIES = 5;
const RETRY_MS = 500;

/** Resolves to the number of entries. */
export async function copyJournal({ from, to, resumed, onProgress }: JournalCopy): Promise<number> {
  const lookUpAccounts = createIdLookup(accountIds(to));
  const { entries: total } = await from.journal.size();
  let done = 0;
  let position: JournalPosition | undefined;
  for await (const page of journalPages(from.journal, ROWS_PER_PAGE)) {
    const parts = splitByWallet(page);
    const wanted = await lookUpAccounts(parts.map(({ id }) => id));
    const known = parts.filter(({ id }) => wanted.has(id));
    for (const { id } of parts) if (!wanted.has(id)) await refuseUnknownAccount(from, id);
    await addMissing(to, known, page, resumed);
    await compareWallets(to, known, page, await to.journal.rows(position, ROWS_PER_PAGE));
    await copyPageAttempts(to, known, page);
    position = page.next;
    done += known.reduce((sum, { entries }) => sum + entries.length, 0);
    onProgress?.({ done, total, unit: 'entries' });
  }
  return done;
}

/** The part of a page that belongs to one wallet. */
interface WalletPart {
  readonly id: string;
  readonly entries: readonly Entry[];
  /** The wallet as it should be, with its last entries. */
  readonly wallet: Wallet | undefined;
}

function splitByWallet({ entries, wallets }: JournalPage): readonly WalletPart[] {
  const groups = Map.groupBy(entries, (entry) => entry.wallet);
  const ends = new Map(wallets.map((wallet) => [wallet.id, wallet]));
  const ids = new Set([...groups.keys(), ...ends.keys()]);
  return [...ids].map((id) => ({ id, entries: groups.get(id) ?? [], wallet: ends.get(id) }));
}

async function addMissing(to: Store, parts: readonly WalletPart[], page: JournalPage, resumed: boolean): Promise<void> {
  const missing: (readonly Entry[])[] = [];
  await eachConcurrently(parts, READS_AT_ONCE, async (part) => {
    missing.push(await findMissingEntries(to, part, page, resumed));
  });
  const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
  const batchMax = Math.min(to.ledger.batchMax, OPERATIONS_PER_BATCH);
  await eachConcurrently(packBatches(missing, batchMax), BATCHES_AT_ONCE, async (entries) => {
    for (let done = 0; done < entries.length; done += batchMax) {
      await replayInto(to, entries.slice(done, done + batchMax), charges);
    }
  });
}

async function findMissingEntries(
  to: Store,
  { id, entries, wallet }: WalletPart,
  page: JournalPage,
  resumed: boolean,
): Promise<readonly Entry[]> {
  await copyRowsBeforeOpening(to, { id, entries, isLast: wallet !== undefined }, page);
  const opened = page.openings.find((opening) => opening.wallet === id)?.seq ?? 0;
  const begun = resumed ? await to.ledger.wallet(id) : undefined;
  return entries.filter(({ seq }) => seq > Math.max(begun?.seq ?? 0, opened));
}

/** Packs short lists into batches. The entries of one wallet stay together, in order; a long list may exceed a batch. */
function packBatches(lists: readonly (readonly Entry[])[], batchMax: number): readonly (readonly Entry[])[] {
  const packs: Entry[][] = [];
  for (const list of lists) {
    const last = packs.at(-1);
    if (last && last.length + list.length <= batchMax) last.push(...list);
    else packs.push([...list]);
  }
  return packs;
}

async function replayInto(to: Store, entries: readonly Entry[], charges: ReadonlyMap<string, Charge>): Promise<void> {
  const operations = entries.map((entry) => {
    const op = rebuildMarkedOperation(entry, charges.get(entry.charge ?? ''));
    if (!op) throw new OperatorError(`The source has no charge for entry ${entry.seq} of ${entry.wallet}.`);
    return op;
  });
  const outcomes = await applyWithRetries(to, operations);
  for (const [index, entry] of entries.entries()) {
    const outcome = outcomes[index];
    const charge = charges.get(entry.charge ?? '');
    const same = outcome?.charge?.state !== charge?.state || isDeepStrictEqual(outcome?.charge, charge);
    if (!same || (outcome?.status !== 'done' && outcome?.status !== 'exists')) {
      throw new OperatorError(`The ledger rejects entry ${entry.seq} of ${entry.wallet}: ${outcome?.status}.`);
    }
  }
}

/** Operations are idempotent, so a batch can be sent again after any failure. */
async function applyWithRetries(to: Store, operations: readonly Operation[]) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await to.ledger.apply(operations);
    } catch (error) {
      if (!(error instanceof StoreError) || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** The page of the target reaches at least as far as that of the source, so it contains every row to compare. */
async function compareWallets(
  to: Store,
  parts: readonly WalletPart[],
  { budgets }: JournalPage,
  copy: JournalRows,
): Promise<void> {
  const entries = Map.groupBy(copy.entries, (entry) => entry.wallet);
  const wallets = new Map(copy.wallets.map((wallet) => [wallet.id, wallet]));
  const sums = Map.groupBy(budgets, (budget) => budget.wallet);
  const copies = new Map(copy.budgets.map((budget) => [budget.key, budget]));
  for (const part of parts) {
    const { id, wallet } = part;
    const last = part.entries.at(-1)?.seq ?? 0;
    const copied = (entries.get(id) ?? []).filter(({ seq }) => seq <= last);
    if (!isDeepStrictEqual(copied, part.entries)) throw mismatchError(`the wallet ${id}`);
    if (!wallet) continue;
    const { playMoney, opened } = wallet;
    const { playMoney: isPlay, opened: isOpen, ...found } = wallets.get(id) ?? ({} as Partial<Wallet>);
    // Entries of earlier versions do not record play money, and archived ones are not replayed.
    const isFlagged = isPlay === playMoney && isOpen === opened;
    const isMarked = isFlagged || (await to.accounts.setWalletFlags(id, { playMoney, opened }));
    const made = { ...found, ...(playMoney && { playMoney }), ...(opened && { opened }) };
    if (!isMarked || !isDeepStrictEqual(made, wallet)) throw mismatchError(`the wallet ${id}`);
    const wrong = (sums.get(id) ?? []).find((budget) => !isDeepStrictEqual(copies.get(budget.key), budget));
    if (wrong) throw mismatchError(`the budget of the key ${wrong.key}`);
  }
}

/** After the entries, so that a copy that was interrupted has no attempts of unknown calls. */
async function copyPageAttempts(to: Store, parts: readonly WalletPart[], page: JournalPage): Promise<void> {
  const ids = new Set(parts.map(({ id }) => id));
  const charges = page.charges.filter(({ wallet }) => ids.has(wallet)).map(({ id }) => id);
  const wanted = new Set(charges);
  await copyAttempts(
    page.attempts.filter(({ charge }) => wanted.has(charge)),
    { charges, to },
  );
}

/** An account created after the copy started is left out; rows without any account are refused. */
async function refuseUnknownAccount(from: Source, id: string): Promise<void> {
  if (await from.accounts.get(id)) return;
  throw new OperatorError(`The source has a wallet or entries of ${id}, but no such account: see "ledger verify".`);
}
