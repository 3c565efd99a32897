// Keys against repeats in tests: calls whose replies the store has lost.
import type { Store } from '../lib/store/store.ts';

/** No reply is kept any more, as if all of them had been too long. */
export async function forgetReplies({ idempotency }: Pick<Store, 'idempotency'>): Promise<void> {
  for (const { id, charge } of await idempotency.page({ limit: 10_000 })) await idempotency.keep({ id, charge }, null);
}
