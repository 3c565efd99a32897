// Idempotency keys in tests: calls whose replies the store has lost.
import type { Store } from '../lib/store/store.ts';

/** Drops all stored replies, as if all had been too long. */
export async function forgetReplies({ idempotency }: Pick<Store, 'idempotency'>): Promise<void> {
  for (const { id, charge } of await idempotency.page({ limit: 10_000 }))
    await idempotency.storeReply({ id, charge }, null);
}
