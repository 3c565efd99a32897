// Copies attempts at upstreams, which the ledger of the target cannot make again from the journal.
import { isDeepStrictEqual } from 'node:util';
import type { Attempt } from '../money/attempt.ts';
import { mismatchError } from './copy-mismatch.ts';
import type { Store } from './store.ts';

const ROWS_PER_WRITE = 250;

/** Writes the attempts of these calls, and compares what the target has of them afterwards. */
export async function copyAttempts(
  attempts: readonly Attempt[],
  { charges, to }: { readonly charges: readonly string[]; readonly to: Pick<Store, 'attempts'> },
): Promise<void> {
  for (let from = 0; from < attempts.length; from += ROWS_PER_WRITE)
    await to.attempts.put(attempts.slice(from, from + ROWS_PER_WRITE));
  if (!isDeepStrictEqual(await to.attempts.list(charges), attempts)) throw mismatchError('the list of attempts');
}
