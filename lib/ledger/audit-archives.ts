// The audit of archives: what the journals begin with must be what has left them.
import type { Micro } from '../money/money.ts';
import type { Archive } from '../store/ports/archives.ts';
import type { Found } from './audit-rules.ts';

/** Of all wallets: the entries up to their openings that are no longer there. */
export interface Left {
  readonly entries: number;
  readonly charged: Micro;
}

/** `before` and `after`: the notes as they were when the journal was read. */
export function checkArchives(
  left: Left,
  { before, after }: { readonly before: readonly Archive[]; readonly after: readonly Archive[] },
  found: Found,
): void {
  // While calls are leaving, their sums are between the two.
  if (before.length !== after.length || [...before, ...after].some(({ state }) => state !== 'done')) return;
  const entries = after.reduce((sum, archive) => sum + archive.entries, 0);
  const charged = after.reduce((sum, archive) => sum + archive.charged, 0n);
  if (left.entries > entries) found('archives', `${left.entries} entries have left, the archives have ${entries}`);
  // A call that moved again while it was leaving has stayed, although an archive has it.
  if (left.entries !== entries || left.charged === charged) return;
  const drift = left.charged > charged ? left.charged - charged : charged - left.charged;
  found('archives', `what has left had charged ${left.charged}, the archives have ${charged}`, drift);
}
