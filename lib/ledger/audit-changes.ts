// The audit of what has changed: every wallet whose sums are no longer those of its checkpoint, from there on. What it finds
// in order becomes the next checkpoint, so that no entry is read twice, however long the journal grows.
import type { Checkpoint, Verified } from '../store/ports/checkpoints.ts';
import type { Store } from '../store/store.ts';
import { type AuditReport, checkCharges, createNotes } from './audit.ts';
import { checkPaymentEntries } from './audit-payments.ts';
import type { Found } from './audit-rules.ts';
import { openAccount } from './audit-wallet.ts';

/** Wallets per read, and entries of one wallet. */
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
    const page = await store.checkpoints.page(after, PAGE);
    sums.wallets += page.filter(({ wallet }) => wallet !== undefined).length;
    const changed = page.filter(hasChanged);
    for (let done = 0; done < changed.length; done += AT_ONCE) {
      const some = changed.slice(done, done + AT_ONCE);
      const checked = await Promise.all(some.map((one) => checkOne(store, one, notes.found)));
      sums.entries += checked.reduce((sum, { entries }) => sum + entries, 0);
      verified.push(...checked.flatMap(({ checkpoint }) => checkpoint ?? []));
      if (verified.length >= PUT_AT_ONCE) await store.checkpoints.put(verified.splice(0));
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.id;
  }
  if (verified.length > 0) await store.checkpoints.put(verified);
  return { ...sums, ...notes.read() };
}

const COLUMNS = ['seq', 'avail', 'held', 'charged', 'topped', 'adjusted'] as const;

function hasChanged({ wallet, checkpoint }: Verified): boolean {
  if (!wallet) return true;
  return COLUMNS.some((column) => wallet[column] !== (checkpoint?.[column] ?? (column === 'seq' ? 0 : 0n)));
}

interface Checked {
  readonly entries: number;
  /** Undefined if something is wrong with the wallet. */
  readonly checkpoint: Checkpoint | undefined;
}

async function checkOne(store: Store, { id, checkpoint }: Verified, found: Found): Promise<Checked> {
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
