// Which calls of a wallet leave for an archive: those that ended before a date, of a journal that adds up. Payments and
// corrections stay, and so do open holds and calls that a job was paid with.

import { OperatorError } from '../base/operator-error.ts';
import type { Charge, Entry } from '../money/decide.ts';
import { CHARGELESS } from '../money/operations.ts';
import { getEntryChargeId } from '../money/replay.ts';
import type { Opening, WholeCall } from '../store/ports/archives.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import type { Store } from '../store/store.ts';
import { type ArchiveLine, addBehind, addTo, COLUMNS, NOTHING, type Sums } from './archive-file.ts';
import { checkCharges } from './audit.ts';
import { count, type Sum } from './audit-budgets.ts';
import type { Found } from './audit-rules.ts';
import { openAccount } from './audit-wallet.ts';

type Parts = Pick<Store, 'journal' | 'ledger' | 'archives'>;

const PAGE = 500;

/** The lines of a wallet; none if no call of it leaves. */
export async function* linesOf(store: Parts, wallet: string, before: number): AsyncGenerator<ArchiveLine> {
  const opening = await store.archives.opening(wallet);
  const walk = createWalk(wallet, opening, await keptOf(store, opening));
  for (let seq = opening?.seq ?? 0; ; ) {
    const page = await store.journal.pageOf(wallet, seq, PAGE);
    checkCharges(page, refuse);
    const late = page.entries.findIndex(({ at }) => at >= before);
    const entries = late < 0 ? page.entries : page.entries.slice(0, late);
    const wholes = wholeCalls(page);
    for (const entry of entries) yield* walk.add(entry, wholes.get(getEntryChargeId(entry) ?? ''));
    const last = entries.at(-1);
    if (!page.next || !last || late >= 0) break;
    seq = last.seq;
  }
  yield* walk.end();
}

/** Nothing leaves a ledger that does not add up. */
const refuse: Found = (wallet, problem) => {
  throw new OperatorError(`The ledger does not add up: wallet ${wallet}, ${problem}. See "ledger verify".`);
};

async function keptOf({ ledger }: Parts, opening: Opening | undefined): Promise<WholeCall | undefined> {
  if (!opening?.kept) return undefined;
  const charge = await ledger.charge(opening.kept);
  return charge && { charge, entries: await ledger.entriesOfCharge(charge.id) };
}

function wholeCalls(page: JournalPage): ReadonlyMap<string, WholeCall> {
  const groups = Map.groupBy([...page.entries, ...page.others], getEntryChargeId);
  return new Map(
    page.charges.map((charge) => {
      const entries = (groups.get(charge.id) ?? []).toSorted((a, b) => a.seq - b.seq);
      return [charge.id, { charge, entries }];
    }),
  );
}

function createWalk(wallet: string, from: Opening | undefined, keptBefore: WholeCall | undefined) {
  const account = openAccount(wallet, refuse);
  if (from) account.openAt(from);
  const budgets = new Map<string, Sum>(from?.budgets.map(({ key, ...sum }) => [key, sum]));
  const stays: Sums = { ...NOTHING };
  let lasting = from?.lasting ?? 0;
  let calls = 0;
  let kept = keptBefore;

  function* add(entry: Entry, whole: WholeCall | undefined): Generator<ArchiveLine> {
    account.add(entry);
    addTo(stays, entry);
    if (CHARGELESS.includes(entry.kind)) lasting += 1;
    if (!whole) return;
    book(whole.charge, entry);
    if (whole.entries.at(-1)?.seq !== entry.seq || !hasEnded(whole)) return;
    if (!wasCharged(whole)) return yield* leave(whole);
    const [earlier, later] = !kept || isLater(whole, kept) ? [kept, whole] : [whole, kept];
    kept = later;
    if (earlier) yield* leave(earlier);
  }

  function book({ key, budgetKey, period }: Charge, { avail }: Entry): void {
    if (period !== null) count(budgets, budgetKey ?? key, { period, spent: -avail });
  }

  function* leave(whole: WholeCall): Generator<ArchiveLine> {
    if (calls === 0) yield { start: { wallet, from: from ?? null } };
    calls += 1;
    const left: Sums = { ...NOTHING };
    addBehind(left, whole.entries, from?.seq ?? 0);
    for (const name of COLUMNS) stays[name] -= left[name];
    yield { call: whole };
  }

  function* end(): Generator<ArchiveLine> {
    if (calls === 0) return;
    const periods = [...budgets].map(([key, sum]) => ({ key, ...sum })).sort((a, b) => (a.key < b.key ? -1 : 1));
    const to = { ...account.checkpoint(), lasting, budgets: periods, kept: kept?.charge.id ?? null };
    yield { stop: { to, calls, stays } };
  }

  return { add, end };
}

/** A call that began with its charge paid for a job, which has to find it. */
function hasEnded({ charge, entries }: WholeCall): boolean {
  return charge.state !== 'held' && entries[0]?.kind === 'reserve';
}

function chargings({ entries }: WholeCall): readonly Entry[] {
  return entries.filter(({ charged }) => charged !== 0n).toSorted((a, b) => a.at - b.at || a.seq - b.seq);
}

const wasCharged = (whole: WholeCall) => chargings(whole).length > 0;

/** By the order in which a store looks for what a wallet had been charged at a time. */
function isLater(one: WholeCall, other: WholeCall): boolean {
  const a = chargings(one).at(-1);
  const b = chargings(other).at(-1);
  if (!a || !b) return b === undefined;
  return a.at === b.at ? a.seq > b.seq : a.at > b.at;
}
