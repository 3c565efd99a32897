// The note below lists of calls: archived calls are not shown.
import { toTime } from '../answer.ts';
import type { Session } from '../session.ts';

/** Empty if none of the wallet's calls are archived. */
export async function archivedNote(store: Session['store'], wallet: string): Promise<string> {
  const { findLatestArchiveDate } = await import('../../ledger/archive-find.ts');
  const before = await findLatestArchiveDate(store, wallet);
  return before ? `\nCalls that ended before ${toTime(before)} are archived: tollgate ledger archive list` : '';
}
