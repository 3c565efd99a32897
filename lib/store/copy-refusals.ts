// Copies refused requests, which are counted by key, error and hour.
import type { Refusal, RefusalStore } from './ports/refusals.ts';
import { walkFrom } from './walks.ts';

const ROWS_PER_PAGE = 500;

export async function copyRefusals(from: RefusalStore, to: RefusalStore): Promise<void> {
  const read = (after?: Refusal) => from.page({ limit: ROWS_PER_PAGE, ...(after && { after }) });
  for await (const page of walkFrom(ROWS_PER_PAGE, read)) await to.put(page);
}
