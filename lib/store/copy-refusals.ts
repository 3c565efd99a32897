// Copies refused requests, which are counted by key, error and hour.
import type { Refusal, RefusalStore } from './ports/refusals.ts';

const ROWS_PER_PAGE = 500;

export async function copyRefusals(from: RefusalStore, to: RefusalStore): Promise<void> {
  for (let after: Refusal | undefined; ; ) {
    const page: readonly Refusal[] = await from.page({ limit: ROWS_PER_PAGE, ...(after && { after }) });
    await to.put(page);
    after = page.at(-1);
    if (!after || page.length < ROWS_PER_PAGE) return;
  }
}
