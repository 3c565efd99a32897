// The audit of one account: sums its entries in order and compares the result with its wallet.

import { pluralize } from '../base/pluralize.ts';
import type { Entry, Wallet } from '../money/decide.ts';
import { readFlagsFromMark } from '../money/mark.ts';
import { absMicro, computeShortfall, type Micro } from '../money/money.ts';
import { CHARGELESS } from '../money/operations.ts';
import type { Opening } from '../store/ports/archives.ts';
import type { Checkpoint } from '../store/ports/checkpoints.ts';
import type { AccountAudit } from '../store/ports/journal.ts';
import { createGrantCheck } from './audit-grants.ts';
import { decideAgain, isEntry, isWallet, listDifferences, mayLeaveDebt, type ReportProblem } from './audit-rules.ts';
import { type ColumnSums, SUM_COLUMNS, ZERO_SUMS } from './column-sums.ts';

export interface WalletAudit {
  readonly id: string;
  /** The opening valid for the next entries: its sums replace the entries up to it, archived or not. */
  openAt(opening: Opening): void;
  /** Adds the next entry. */
  add(entry: Entry): void;
  /** Called after the last entry, with the wallet and account as of that moment, if they exist. */
  end(wallet: Wallet | undefined, account: AccountAudit | undefined): void;
  /** The sums of all entries so far. */
  checkpoint(): Checkpoint;
  /** The number of archived entries before the opening, and what they charged. */
  removed(): { readonly entries: number; readonly charged: Micro };
}

const WALLET_COLUMNS = ['avail', 'held', 'charged', 'topped', 'adjusted', 'granted'] as const;
const SPENDING: ReadonlySet<Entry['kind']> = new Set(['reserve', 'charge', 'adjust']);

const EMPTY_CHECKPOINT: Omit<Checkpoint, 'wallet'> = { seq: 0, ...ZERO_SUMS };

/** With a checkpoint, the entries before it count as read. */
export function createWalletAudit(id: string, report: ReportProblem, checkpoint?: Checkpoint): WalletAudit {
  const {
    wallet: _wallet,
    seq: read,
    grants: grantsBefore,
    ...before
  } = checkpoint ?? { ...EMPTY_CHECKPOINT, wallet: id };
  const sums: ColumnSums = { ...ZERO_SUMS, ...before };
  const given = createGrantCheck(grantsBefore);
  const seqs = { count: read, first: read > 0 ? 1 : 0, last: read };
  let chargedBefore = sums.charged;
  let isBelow = false;
  /** Entries that belong to no call: all, and those up to the opening. */
  const lasting = { seen: 0, before: 0 };
  /** The entries up to the opening that are still in the store. */
  const present = { entries: 0, charged: 0n };
  let opening: Opening | undefined;
  /** Undefined while unknown: entries before a checkpoint are not read again. */
  let status: Wallet['status'] | undefined = checkpoint ? undefined : 'active';
  /** Whether the wallet holds play money; undefined while unknown, as entries of earlier versions do not say. */
  let isPlay: boolean | undefined = checkpoint ? undefined : false;
  /** Whether a balance has moved into the wallet, or a grant has opened it. */
  let isOpened: boolean | undefined = checkpoint ? undefined : false;
  const problem = (text: string, drift?: Micro) => report(id, text, drift);

  function openAt(next: Opening): void {
    // Entries read before an archive moved the opening still count.
    if (next.seq <= seqs.last) return;
    opening = next;
    for (const name of SUM_COLUMNS) sums[name] = next[name] ?? 0n;
    given.openAt(next.grants);
    Object.assign(seqs, { count: next.seq, first: 1, last: next.seq });
    chargedBefore = next.charged;
    isBelow = false;
    lasting.before = lasting.seen;
  }

  function add(entry: Entry): void {
    if (CHARGELESS.includes(entry.kind)) lasting.seen += 1;
    if (entry.status !== null) status = entry.status;
    isPlay = playMoneyAfter(isPlay, entry);
    const { movesIn, opens } = readFlagsFromMark(entry);
    if (movesIn || opens) isOpened = true;
    if (opening && entry.seq <= opening.seq) {
      addEarlier(entry);
      return;
    }
    if (seqs.count === 0) seqs.first = entry.seq;
    seqs.count += 1;
    seqs.last = entry.seq;
    if (isEntry(entry)) check(entry);
    else problem(`entry ${entry.seq}: it is not a valid entry`);
  }

  /** An entry of a call is checked with its charge instead. */
  function addEarlier(entry: Entry): void {
    present.entries += 1;
    if (typeof entry.charged === 'bigint') present.charged += entry.charged;
    if (!CHARGELESS.includes(entry.kind)) return;
    lasting.before = lasting.seen;
    if (!isEntry(entry)) problem(`entry ${entry.seq}: it is not a valid entry`);
    else for (const text of decideAgain(entry, undefined).problems) problem(`entry ${entry.seq}: ${text}`);
  }

  function check(entry: Entry): void {
    const { seq, kind, avail, held, charged, topped, adjusted, overshoot, chargedAfter, granted = 0n } = entry;
    const say = (text: string) => problem(`entry ${seq}: ${text}`);
    const mayOwe = mayLeaveDebt(entry);
    const paidBefore = sums.avail - given.sum();
    const missing = mayOwe ? computeShortfall(-avail, paidBefore) : overshoot;
    if (overshoot !== missing) say(`overshoot ${overshoot} instead of ${missing}`);
    for (const column of WALLET_COLUMNS) sums[column] += entry[column] ?? 0n;
    for (const text of given.add(entry)) say(text);
    sums.overshoot += overshoot;
    if (avail + held + charged !== topped + adjusted + granted) say('it does not balance');
    const chargedNow = chargedBefore + charged;
    if (chargedAfter !== chargedNow) say(`charged so far ${chargedAfter} instead of ${chargedNow}`);
    chargedBefore = chargedAfter;
    // Reported only once: after a missing entry every later one would be below.
    const wasBelow = isBelow;
    const paid = sums.avail - given.sum();
    isBelow = paid < -sums.overshoot || (avail < 0n && SPENDING.has(kind) && !mayOwe && sums.avail < 0n);
    if (isBelow && !wasBelow) say(`a ${kind} that leaves ${paid}, with an overshoot of ${sums.overshoot}`);
    // Entries of calls are checked with their charge.
    if (CHARGELESS.includes(kind)) for (const text of decideAgain(entry, undefined).problems) say(text);
  }

  function end(wallet: Wallet | undefined, account: AccountAudit | undefined): void {
    if (!account) problem('there is no such account');
    if (account?.problem) problem(account.problem);
    if (!wallet)
      problem(`there is no such wallet, but ${pluralize(seqs.count, 'entry', 'entries')} of it`, sumAbsolutes(sums));
    else if (!isWallet(wallet)) problem('the wallet is not valid');
    else checkWallet(wallet);
  }

  function checkWallet(wallet: Wallet): void {
    const { avail, held, charged, topped, adjusted, granted = 0n, seq } = wallet;
    const pairs = WALLET_COLUMNS.map(
      (column) => [column, { found: wallet[column] ?? 0n, wanted: sums[column] }] as const,
    );
    const balance = { found: avail + held + charged, wanted: topped + adjusted + granted };
    const all = { 'avail + held + charged': balance, ...Object.fromEntries(pairs) };
    for (const { text, drift } of listDifferences(all)) problem(text, drift);
    const grants = given.grants();
    if (wallet.grants !== grants) problem(`grants: ${wallet.grants ?? 'none'} instead of ${grants ?? 'none'}`);
    if (status !== undefined && wallet.status !== status) problem(`status: ${wallet.status} instead of ${status}`);
    if (isPlay !== undefined && (wallet.playMoney === true) !== isPlay) {
      problem(
        `it ${isPlay ? 'holds play money, which its wallet does not say' : 'holds no play money, but its wallet says so'}`,
      );
    }
    if (isOpened !== undefined && (wallet.opened === true) !== isOpened) {
      problem(isOpened ? 'an entry opened it, but its wallet is not opened' : 'it is opened, but by no entry');
    }
    if (opening && read === 0 && lasting.before !== opening.lasting) {
      problem(
        `${pluralize(lasting.before, 'entry', 'entries')} without a call up to ${opening.seq} instead of ${opening.lasting}`,
      );
    }
    const { count, first, last } = seqs;
    if (seq !== last || seq !== count || (count > 0 && first !== 1)) {
      problem(`seq ${seq} with ${pluralize(count, 'entry', 'entries')} from ${first} to ${last}`);
    }
  }

  function countRemoved() {
    if (!opening) return { entries: 0, charged: 0n };
    return { entries: opening.seq - present.entries, charged: opening.charged - present.charged };
  }

  return {
    id,
    openAt,
    add,
    end,
    checkpoint: () => toCheckpoint({ wallet: id, seq: seqs.last, ...sums }, given.grants()),
    removed: countRemoved,
  };
}

/** Both columns of grants are absent when there is nothing in them. */
function toCheckpoint({ granted, ...sums }: Required<Omit<Checkpoint, 'grants'>>, grants?: string): Checkpoint {
  return { ...sums, ...(granted !== 0n && { granted }), ...(grants !== undefined && { grants }) };
}

function playMoneyAfter(before: boolean | undefined, entry: Entry): boolean | undefined {
  const { isPlay, settlesPlay } = readFlagsFromMark(entry);
  if (isPlay || settlesPlay) return isPlay === true;
  // Entries of earlier versions do not say whether they added or settled play money.
  const may = entry.mark === null && (entry.kind === 'topup' || entry.kind === 'pay' || entry.kind === 'adjust');
  return may ? undefined : before;
}

function sumAbsolutes({ avail, held, charged }: ColumnSums): Micro {
  return [avail, held, charged].reduce((sum, amount) => sum + absMicro(amount), 0n);
}
