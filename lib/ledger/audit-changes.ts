// The incremental audit: checks each wallet whose sums differ from its checkpoint, from the checkpoint on. A wallet without
// problems gets a new checkpoint, so that no entry is read twice, however long the journal grows.
import type { ChangedWallets, Checkpoint } from '../store/ports/checkpoints.ts';
import type { Store } from '../store/store.ts';
import { readAttemptsSince } from './attempts-since.ts';
import { type AuditReport, checkCharges, createProblemLog } from './audit.ts';
import { checkAttemptsOfPage } from './audit-attempts.ts';
import { checkPaymentEntries } from './audit-payments.ts';
import type { ReportProblem } from './audit-rules.ts';
import { createWalletAudit } from './audit-wallet.ts';

/** The store compares their sums and returns only the wallets that have changed. */
const WALLETS_PER_PAGE = 1000;
/** Entries per read. */
const ENTRIES_PER_PAGE = 500;
/** Wallets that are read concurrently, if the store can. */
const AT_ONCE = 8;
/** Checkpoints per transaction: few enough that calls do not wait long, and an interrupted audit keeps most of them. */
const PUT_AT_ONCE = 64;

/** `entries` counts the entries read. A wallet with a problem keeps its checkpoint, so that the next audit reports it again. */
export async function verifyChanges(store: Store): Promise<AuditReport> {
  const notes = createProblemLog();
  const sums = { wallets: 0, entries: 0 };
  const verified: Checkpoint[] = [];
  const attemptsSince = await readAttemptsSince(store.settings);
  for (let after = ''; ; ) {
    const { wallets, found, next } = await store.checkpoints.changes(after, WALLETS_PER_PAGE);
    sums.wallets += wallets;
    for (let done = 0; done < found.length; done += AT_ONCE) {
      const some = found.slice(done, done + AT_ONCE);
      const checked = await Promise.all(
        some.map((one) => checkChangedWallet(store, one, { report: notes.report, attemptsSince })),
      );
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

type ChangedWallet = ChangedWallets['found'][number];

interface CheckedWallet {
  readonly entries: number;
  /** Undefined if something is wrong with the wallet. */
  readonly checkpoint: Checkpoint | undefined;
}

async function checkChangedWallet(
  store: Store,
  { id, checkpoint }: ChangedWallet,
  { report, attemptsSince }: { readonly report: ReportProblem; readonly attemptsSince: number },
): Promise<CheckedWallet> {
  let problems = 0;
  const say: ReportProblem = (...problem) => {
    problems += 1;
    report(...problem);
  };
  const audit = createWalletAudit(id, say, checkpoint);
  let entries = 0;
  for (let seq = checkpoint?.seq ?? 0; ; ) {
    const page = await store.journal.walletPage(id, seq, ENTRIES_PER_PAGE);
    checkCharges(page, say);
    checkAttemptsOfPage(page, attemptsSince, say);
    for (const opening of page.openings) audit.openAt(opening);
    for (const entry of page.entries) audit.add(entry);
    await checkPaymentEntries(store, page.entries, say);
    entries += page.entries.length;
    if (!page.next) {
      audit.end(page.wallets[0], page.accounts[0]);
      return { entries, checkpoint: problems === 0 ? audit.checkpoint() : undefined };
    }
    seq = page.entries.at(-1)?.seq ?? seq;
  }
}
