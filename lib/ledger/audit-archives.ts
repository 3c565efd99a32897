// The audit of archives: the openings of the journals must match the archived calls.
import { absMicro, type Micro } from '../money/money.ts';
import type { Archive } from '../store/ports/archives.ts';
import type { ReportProblem } from './audit-rules.ts';

/** Over all wallets: the entries before their openings that are no longer in the store. */
interface RemovedEntries {
  readonly entries: number;
  readonly charged: Micro;
}

/** `before` and `after`: the archive rows before and after the journal was read. */
export function checkArchives(
  removed: RemovedEntries,
  { before, after }: { readonly before: readonly Archive[]; readonly after: readonly Archive[] },
  report: ReportProblem,
): void {
  // While calls are being removed, the sums are between the two.
  if (before.length !== after.length || [...before, ...after].some(({ state }) => state !== 'done')) return;
  const entries = after.reduce((sum, archive) => sum + archive.entries, 0);
  const charged = after.reduce((sum, archive) => sum + archive.charged, 0n);
  if (removed.entries > entries)
    report('archives', `${removed.entries} entries have left, the archives have ${entries}`);
  // A call that changed while it was being archived has stayed in the store, although an archive contains it.
  if (removed.entries !== entries || removed.charged === charged) return;
  const text = `what has left had charged ${removed.charged}, the archives have ${charged}`;
  report('archives', text, absMicro(removed.charged - charged));
}
