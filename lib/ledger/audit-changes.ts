// The audit of what has changed: every wallet whose sums are no longer those of its checkpoint, from there on. What it finds
// in order becomes the next checkpoint, so that no entry is read twice, however long the journal grows.
import type { Changes, Checkpoint } from '../store/ports/checkpoints.ts';
import type { Store } from '../store/store.ts';
import { type AuditReport, checkCharges, createNotes } from './audit.ts';
import { checkPaymentEntries } from './audit-payments.ts';
import type { Found } from './audit-rules.ts';
import { openAccount } from './audit-wallet.ts';

/** Their sums are compared in the store, which returns only those that have changed. */
const WALLETS_PER_LOOK = 1000;
/** Entries per read. */
const PAGE = 500;
/** Wallets that are read side by side, where a store can. */
const AT_ONCE = 8;
/** Checkpoints in one transaction, which calls have to wait for: until then an audit that ends early has noted nothing. */
const PUT_AT_ONCE = 64;

/** `entries` are those that were read. A wallet with a problem keeps its checkpoint, so that the next audit says so again. */
export async function verifyChanges(store: Store): Promise<AuditReport> {
  const notes = createNotes();
  const sums = { wallets: 0, entries: 0 };
  const verified: Checkpoint[] = [];
  for (let after = ''; ; ) {
    const { wallets, found, next } = await store.checkpoints.changes(after, WALLETS_PER_LOOK);
    sums.wallets += wallets;
    for (let done = 0; done < found.length; done += AT_ONCE) {
      const some = found.slice(done, done + AT_ONCE);
      const checked = await Promise.all(some.map((one) => checkOne(store, one, notes.found)));
      sums.entries += checked.reduce((sum, { entries }) => sum + entries, 0);
      verified.push(...checked.flatMap(({ checkpoint }) => checkpoint ?? []));
      if (verified.length >= PUT_AT_ONCE) await store.checkpoints.put(verified.splice(0));
    }
    if (next === undefined) break;
    after = next;
  }
  if (verified.length > 0) await store.checkpoints.put(verified);
  return { ...sums, ...notes.read() };
}

type Changed = Changes['found'][number];

interface Checked {
  readonly entries: number;
  /** Undefined if something is wrong with the wallet. */
  readonly checkpoint: Checkpoint | undefined;
}

async function checkOne(store: Store, { id, checkpoint }: Changed, found: Found): Promise<Checked> {
  let problems = 0;
  const say: Found = (...problem) => {
    problems += 1;
    found(...problem);
  };
  const account = openAccount(id, say, checkpoint);
  let entries = 0;
  for (let seq = checkpoint?.seq ?? 0; ; ) {
    const page = await store.journal.pageOf(id, seq, PAGE);
    checkCharges(page, say);
    for (const opening of page.openings) account.openAt(opening);
    for (const entry of page.entries) account.add(entry);
    await checkPaymentEntries(store, page.entries, say);
    entries += page.entries.length;
    if (!page.next) {
      account.end(page.wallets[0], page.accounts[0]);
      return { entries, checkpoint: problems === 0 ? account.checkpoint() : undefined };
    }
    seq = page.entries.at(-1)?.seq ?? seq;
  }
}
