// What a start does to its store before anything else uses it.
import { noteAttemptsSince } from '../ledger/attempts-since.ts';
import { handleRestore } from '../payments/restored.ts';
import type { Store } from '../store/store.ts';

interface PrepareLog {
  warn(fields: object, message: string): void;
}

export async function prepareStore(store: Pick<Store, 'settings' | 'payments'>, log: PrepareLog): Promise<void> {
  const now = Date.now();
  await noteAttemptsSince(store.settings, now);
  const restored = await handleRestore(store, now);
  if (restored)
    log.warn(restored, 'the store was restored from a backup: automatic top-ups are paused, refunds are looked for');
}
