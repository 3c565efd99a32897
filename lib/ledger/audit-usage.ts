// The audit of folded usage: its sum must equal the journal's at the cursor.
import { forEach } from '../for-each.ts';
import type { Store } from '../store/store.ts';
import { accountIds } from '../store/walks.ts';
import type { Found } from './audit-rules.ts';

/** If a fold runs in the meantime, it is checked again. */
const LOOKS_MAX = 3;
/** Accounts that are looked at together. */
const AT_ONCE = 8;

export async function checkUsage(store: Store, found: Found): Promise<void> {
  for await (const ids of accountIds(store)) {
    const problems = new Map<string, string | undefined>();
    await forEach(ids, AT_ONCE, async (id) => void problems.set(id, await lookAt(store, id)));
    for (const id of ids) {
      const problem = problems.get(id);
      if (problem !== undefined) found(id, problem);
    }
  }
}

async function lookAt({ usage, ledger, archives }: Store, wallet: string): Promise<string | undefined> {
  for (let look = 1; look <= LOOKS_MAX; look += 1) {
    const cursor = await usage.cursor(wallet);
    if (cursor === 0) return undefined;
    const [entry] = await ledger.entries(wallet, { before: cursor + 1, limit: 1 });
    const sums = await usage.sums(wallet, { by: 'kind' });
    if ((await usage.cursor(wallet)) !== cursor) continue;
    const charged = sums.reduce((sum, row) => sum + row.charged, 0n);
    const opening = entry?.seq === cursor ? undefined : await archives.opening(wallet);
    const wanted = opening?.seq === cursor ? opening.charged : entry?.seq === cursor ? entry.chargedAfter : undefined;
    if (wanted === charged) return undefined;
    // An archive may have taken the entry since.
    if (opening && opening.seq > cursor) continue;
    return `folded usage: ${charged} charged at entry ${cursor}, the journal has ${wanted}`;
  }
  return undefined;
}
