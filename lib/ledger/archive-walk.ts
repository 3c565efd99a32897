// Selects the calls of a wallet to archive: those that ended before a date, from a journal that adds up. Payments and
// corrections stay in the store, and so do open holds and calls that paid for a job.

import { OperatorError } from '../base/operator-error.ts';
import { isClosedRun } from '../money/budget.ts';
import type { Entry } from '../money/decide.ts';
import { CHARGELESS } from '../money/operations.ts';
import { getEntryChargeId } from '../money/replay.ts';
import type { Opening, WholeCall } from '../store/ports/archives.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import type { Store } from '../store/store.ts';
import type { ArchiveLine } from './archive-file.ts';
import { checkCharges } from './audit.ts';
import { addToPeriodSums, type PeriodSum } from './audit-budgets.ts';
import type { ReportProblem } from './audit-rules.ts';
import { createWalletAudit } from './audit-wallet.ts';
import { addEntriesAfter, addEntry, type ColumnSums, SUM_COLUMNS, ZERO_SUMS } from './column-sums.ts';

type Parts = Pick<Store, 'journal' | 'ledger' | 'archives' | 'attempts'>;

const ENTRIES_PER_PAGE = 500;

/** Yields the archive lines of a wallet; none if no call can be archived. */
export async function* walkArchivableCalls(store: Parts, wallet: string, before: number): AsyncGenerator<ArchiveLine> {
  const opening = await store.archives.opening(wallet);
  const walk = createArchiveWalk(wallet, opening, await loadKeptCall(store, opening));
  for (let seq = opening?.seq ?? 0; ; ) {
    const page = await store.journal.walletPage(wallet, seq, ENTRIES_PER_PAGE);
    checkCharges(page, rejectUnbalanced);
    const late = page.entries.findIndex(({ at }) => at >= before);
    const entries = late < 0 ? page.entries : page.entries.slice(0, late);
    const wholes = groupWholeCalls(page);
    for (const entry of entries) yield* walk.add(entry, wholes.get(getEntryChargeId(entry) ?? ''));
    const last = entries.at(-1);
    if (!page.next || !last || late >= 0) break;
    seq = last.seq;
  }
  yield* walk.end();
}

/** A ledger that does not add up is not archived. */
const rejectUnbalanced: ReportProblem = (wallet, problem) => {
  throw new OperatorError(`The ledger does not add up: wallet ${wallet}, ${problem}. See "ledger verify".`);
};

async function loadKeptCall({ ledger, attempts }: Parts, opening: Opening | undefined): Promise<WholeCall | undefined> {
  if (!opening?.kept) return undefined;
  const charge = await ledger.charge(opening.kept);
  if (!charge) return undefined;
  const { id } = charge;
  return { charge, entries: await ledger.listChargeEntries(id), attempts: await attempts.list([id]) };
}

function groupWholeCalls(page: JournalPage): ReadonlyMap<string, WholeCall> {
  const groups = Map.groupBy([...page.entries, ...page.others], getEntryChargeId);
  const attempts = Map.groupBy(page.attempts, ({ charge }) => charge);
  return new Map(
    page.charges.map((charge) => {
      const entries = (groups.get(charge.id) ?? []).toSorted((a, b) => a.seq - b.seq);
      return [charge.id, { charge, entries, attempts: attempts.get(charge.id) ?? [] }];
    }),
  );
}

function createArchiveWalk(wallet: string, from: Opening | undefined, keptBefore: WholeCall | undefined) {
  const audit = createWalletAudit(wallet, rejectUnbalanced);
  if (from) audit.openAt(from);
  const budgets = new Map<string, PeriodSum>(from?.budgets.map(({ key, ...sum }) => [key, sum]));
  const stays: ColumnSums = { ...ZERO_SUMS };
  let lasting = from?.lasting ?? 0;
  let calls = 0;
  let kept = keptBefore;

  function* add(entry: Entry, whole: WholeCall | undefined): Generator<ArchiveLine> {
    audit.add(entry);
    addEntry(stays, entry);
    if (CHARGELESS.includes(entry.kind)) lasting += 1;
    if (!whole) return;
    addToPeriodSums(budgets, whole.charge, entry);
    if (whole.entries.at(-1)?.seq !== entry.seq || !isArchivable(whole)) return;
    if (!wasCharged(whole)) return yield* archiveCall(whole);
    const [earlier, later] = !kept || isLater(whole, kept) ? [kept, whole] : [whole, kept];
    kept = later;
    if (earlier) yield* archiveCall(earlier);
  }

  function* archiveCall(whole: WholeCall): Generator<ArchiveLine> {
    if (calls === 0) yield { start: { wallet, from: from ?? null } };
    calls += 1;
    const moved: ColumnSums = { ...ZERO_SUMS };
    addEntriesAfter(moved, whole.entries, from?.seq ?? 0);
    for (const name of SUM_COLUMNS) stays[name] -= moved[name];
    yield { call: whole };
  }

  function* end(): Generator<ArchiveLine> {
    if (calls === 0) return;
    const sums = [...budgets].map(([key, sum]) => ({ key, ...sum })).filter((sum) => !isClosedRun(sum, Date.now()));
    const periods = sums.sort((a, b) => (a.key < b.key ? -1 : 1));
    const to = { ...audit.checkpoint(), lasting, budgets: periods, kept: kept?.charge.id ?? null };
    yield { stop: { to, calls, stays } };
  }

  return { add, end };
}

/** A call that was charged without a hold paid for a job, which still refers to its charge. */
function isArchivable({ charge, entries }: WholeCall): boolean {
  return charge.state !== 'held' && entries[0]?.kind === 'reserve';
}

/** The journal's number of its last entry that was charged or refunded; 0 if there is none. */
function findLastCharging({ entries }: WholeCall): number {
  return Math.max(0, ...entries.filter(({ charged }) => charged !== 0n).map(({ seq }) => seq));
}

const wasCharged = (whole: WholeCall) => findLastCharging(whole) > 0;

/** The same order in which a store looks up what a wallet had been charged at a time. */
function isLater(one: WholeCall, other: WholeCall): boolean {
  return findLastCharging(one) > findLastCharging(other);
}
