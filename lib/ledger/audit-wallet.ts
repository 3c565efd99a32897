// The audit of one account: sums its entries in order and compares them with its wallet.

import { pluralize } from '../base/pluralize.ts';
import type { Entry, Wallet } from '../money/decide.ts';
import { readPlayFromMark } from '../money/mark.ts';
import { computeShortfall, type Micro } from '../money/money.ts';
import { CHARGELESS } from '../money/operations.ts';
import type { Opening } from '../store/ports/archives.ts';
import type { Checkpoint } from '../store/ports/checkpoints.ts';
import type { AccountAudit } from '../store/ports/journal.ts';
import { decideAgain, differences, type Found, isEntry, isWallet } from './audit-rules.ts';

export interface OpenAccount {
  readonly id: string;
  /** The opening as of the next entries: those up to it count in its sums, however many of them are still there. */
  openAt(opening: Opening): void;
  /** The next entry. */
  add(entry: Entry): void;
  /** After the last one, with the wallet and account as of that moment, if they exist. */
  end(wallet: Wallet | undefined, account: AccountAudit | undefined): void;
  /** The sums of all entries so far. */
  checkpoint(): Checkpoint;
  /** How many entries up to the opening have left, and what they had charged. */
  left(): { readonly entries: number; readonly charged: Micro };
}

const COLUMNS = ['avail', 'held', 'charged', 'topped', 'adjusted'] as const;
const SPENDING: ReadonlySet<Entry['kind']> = new Set(['reserve', 'charge', 'adjust']);

const NOTHING = { avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n, overshoot: 0n };

const SUMS = [...COLUMNS, 'overshoot'] as const;

type Sums = Record<(typeof SUMS)[number], Micro>;

/** Behind a checkpoint the entries before it count as read. */
export function openAccount(id: string, found: Found, checkpoint?: Checkpoint): OpenAccount {
  const { wallet: _wallet, seq: read, ...before } = checkpoint ?? { wallet: id, seq: 0, ...NOTHING };
  const sums: Sums = { ...before };
  const seqs = { count: read, first: read > 0 ? 1 : 0, last: read };
  let chargedBefore = sums.charged;
  let isBelow = false;
  /** Entries that belong to no call, all of them and those up to the opening. */
  const lasting = { seen: 0, before: 0 };
  /** What is still there of the entries up to the opening. */
  const there = { entries: 0, charged: 0n };
  let opening: Opening | undefined;
  /** Undefined while no entry has told: what is before a checkpoint is not read again. */
  let status: Wallet['status'] | undefined = checkpoint ? undefined : 'active';
  /** The same of whether it holds play money, which entries of earlier versions do not tell. */
  let isPlay: boolean | undefined = checkpoint ? undefined : false;
  const problem = (text: string, drift?: Micro) => found(id, text, drift);

  function openAt(next: Opening): void {
    // What was read before an archive moved it stays read.
    if (next.seq <= seqs.last) return;
    opening = next;
    for (const name of SUMS) sums[name] = next[name];
    Object.assign(seqs, { count: next.seq, first: 1, last: next.seq });
    chargedBefore = next.charged;
    isBelow = false;
    lasting.before = lasting.seen;
  }

  function add(entry: Entry): void {
    if (CHARGELESS.includes(entry.kind)) lasting.seen += 1;
    if (entry.status !== null) status = entry.status;
    isPlay = playAfter(isPlay, entry);
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

  /** Its call, if it has one, is checked with its charge. */
  function addEarlier(entry: Entry): void {
    there.entries += 1;
    if (typeof entry.charged === 'bigint') there.charged += entry.charged;
    if (!CHARGELESS.includes(entry.kind)) return;
    lasting.before = lasting.seen;
    if (!isEntry(entry)) problem(`entry ${entry.seq}: it is not a valid entry`);
    else for (const text of decideAgain(entry, undefined).problems) problem(`entry ${entry.seq}: ${text}`);
  }

  function check(entry: Entry): void {
    const { seq, kind, avail, held, charged, topped, adjusted, overshoot, chargedAfter } = entry;
    const say = (text: string) => problem(`entry ${seq}: ${text}`);
    const missing = kind === 'payback' || kind === 'dispute' ? computeShortfall(-avail, sums.avail) : overshoot;
    if (overshoot !== missing) say(`overshoot ${overshoot} instead of ${missing}`);
    for (const column of COLUMNS) sums[column] += entry[column];
    sums.overshoot += overshoot;
    if (avail + held + charged !== topped + adjusted) say('it does not balance');
    const chargedNow = chargedBefore + charged;
    if (chargedAfter !== chargedNow) say(`charged so far ${chargedAfter} instead of ${chargedNow}`);
    chargedBefore = chargedAfter;
    // Otherwise, after one missing entry every later one would be reported.
    const wasBelow = isBelow;
    isBelow = sums.avail < -sums.overshoot || (avail < 0n && SPENDING.has(kind) && sums.avail < 0n);
    if (isBelow && !wasBelow) say(`a ${kind} that leaves ${sums.avail}, with an overshoot of ${sums.overshoot}`);
    // Entries of calls are checked with their charge.
    if (CHARGELESS.includes(kind)) for (const text of decideAgain(entry, undefined).problems) say(text);
  }

  function end(wallet: Wallet | undefined, account: AccountAudit | undefined): void {
    if (!account) problem('there is no such account');
    if (account?.problem) problem(account.problem);
    if (!wallet)
      problem(`there is no such wallet, but ${pluralize(seqs.count, 'entry', 'entries')} of it`, sizeOf(sums));
    else if (!isWallet(wallet)) problem('the wallet is not valid');
    else checkWallet(wallet);
  }

  function checkWallet(wallet: Wallet): void {
    const { avail, held, charged, topped, adjusted, seq } = wallet;
    const pairs = COLUMNS.map((column) => [column, { found: wallet[column], wanted: sums[column] }] as const);
    const balance = { found: avail + held + charged, wanted: topped + adjusted };
    const all = { 'avail + held + charged': balance, ...Object.fromEntries(pairs) };
    for (const { text, drift } of differences(all)) problem(text, drift);
    if (status !== undefined && wallet.status !== status) problem(`status: ${wallet.status} instead of ${status}`);
    if (isPlay !== undefined && (wallet.playMoney === true) !== isPlay) {
      problem(
        `it ${isPlay ? 'holds play money, which its wallet does not say' : 'holds no play money, but its wallet says so'}`,
      );
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

  function left() {
    if (!opening) return { entries: 0, charged: 0n };
    return { entries: opening.seq - there.entries, charged: opening.charged - there.charged };
  }

  return { id, openAt, add, end, checkpoint: () => ({ wallet: id, seq: seqs.last, ...sums }), left };
}

function playAfter(before: boolean | undefined, entry: Entry): boolean | undefined {
  const { isPlay, settlesPlay } = readPlayFromMark(entry);
  if (isPlay || settlesPlay) return isPlay === true;
  // Of an earlier version: what it brought or settled is in the wallet alone.
  const may = entry.mark === null && (entry.kind === 'topup' || entry.kind === 'pay' || entry.kind === 'adjust');
  return may ? undefined : before;
}

function sizeOf({ avail, held, charged }: Sums): Micro {
  return [avail, held, charged].reduce((sum, amount) => sum + (amount < 0n ? -amount : amount), 0n);
}
