// Copies wallets whose old calls are archived: the rows before the opening are written unchanged, and the wallet continues
// from the opening.
import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../base/operator-error.ts';
import type { Entry } from '../money/decide.ts';
import { readFlagsFromMark } from '../money/mark.ts';
import { getEntryChargeId, replayCharge } from '../money/replay.ts';
import type { JournalPage } from './ports/journal.ts';
import type { Store } from './store.ts';
import { walkRows } from './walks.ts';

type Parts = Pick<Store, 'archives' | 'usage'>;

const OPENINGS_PER_PAGE = 500;
/** Rows per transaction. */
const ROWS_PER_WRITE = 250;

/** An unfinished archive may have removed only half of its calls, so it is refused. */
export async function refuseUnfinishedArchive({ archives }: Pick<Store, 'archives'>): Promise<void> {
  const unfinished = (await archives.list()).find(({ state }) => state !== 'done');
  if (!unfinished) return;
  const options = `--before ${new Date(unfinished.before).toISOString()} --to ${unfinished.file}`;
  throw new OperatorError(
    `The source has an unfinished archive: run "tollgate ledger archive ${options}" on it first.`,
  );
}

export async function copyArchives(from: Pick<Store, 'archives'>, to: Pick<Store, 'archives'>): Promise<void> {
  for (const archive of await from.archives.list()) await to.archives.put(archive);
}

/** Without the archived calls, the sums cannot be computed from the journal, so they are copied. */
export async function copyOpeningUsage(from: Parts, to: Parts): Promise<void> {
  for await (const { wallet } of walkRows(OPENINGS_PER_PAGE, from.archives.openings, (opening) => opening.wallet))
    await to.usage.put(wallet, await from.usage.readAll(wallet));
}

/** The part of a page that belongs to one wallet. */
interface OpeningPart {
  readonly id: string;
  readonly entries: readonly Entry[];
  /** Whether the page contains the last entries of the wallet. */
  readonly isLast: boolean;
}

/** Writes the rows up to the opening, and once all of them are written, the opening. */
export async function copyRowsBeforeOpening(
  to: Store,
  { id, entries, isLast }: OpeningPart,
  page: JournalPage,
): Promise<void> {
  const opening = page.openings.find(({ wallet }) => wallet === id);
  if (!opening) return;
  const begun = (await to.ledger.wallet(id))?.seq ?? 0;
  if (begun > 0 && !isDeepStrictEqual(await to.archives.opening(id), opening)) {
    throw new OperatorError(`An archive took calls of ${id} during the copy: copy again into an empty store.`);
  }
  if (begun > 0) return;
  const earlier = entries.filter(({ seq }) => seq <= opening.seq);
  for (let from = 0; from < earlier.length; from += ROWS_PER_WRITE) {
    const some = earlier.slice(from, from + ROWS_PER_WRITE);
    await to.archives.restoreRows({ entries: some, charges: rebuildChargesAt(opening.seq, some, page) });
  }
  // Later payments and calls may depend on it.
  if (earlier.some(opensWallet)) await to.accounts.setWalletFlags(id, { opened: true });
  if (isLast || earlier.length < entries.length) await to.archives.restore(opening);
}

function opensWallet(entry: Entry): boolean {
  const { movesIn, opens } = readFlagsFromMark(entry);
  return movesIn === true || opens === true;
}

/** Rebuilds the charges of the entries as they were at the opening. */
function rebuildChargesAt(opened: number, entries: readonly Entry[], page: JournalPage) {
  const ids = new Set(entries.flatMap((entry) => getEntryChargeId(entry) ?? []));
  const all = Map.groupBy([...page.entries, ...page.others], getEntryChargeId);
  return page.charges
    .filter(({ id }) => ids.has(id))
    .map((charge) => {
      const before = (all.get(charge.id) ?? []).filter(({ seq }) => seq <= opened).toSorted((a, b) => a.seq - b.seq);
      const made = replayCharge(before, charge);
      if (!made) throw new OperatorError(`The source has no entry that creates the call ${charge.id}.`);
      return made;
    });
}
