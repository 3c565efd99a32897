// How much each account spent in a time, the highest first, for the pages that rank and select customers. Adding up many
// accounts is most of the work of those pages, which people open one after the other: the sums are kept for some seconds.
import type { ServiceQuery, ServiceRow, UsageStore } from '../store/ports/usage.ts';

const KEPT_MS = 10_000;
/** The list of a service with fewer accounts, and so with its first calls, is read each time. */
const MANY_ACCOUNTS = 500;

export type CustomerRanks = (query: Pick<ServiceQuery, 'from' | 'to' | 'limit'>) => Promise<readonly ServiceRow[]>;

/** Rows have only calls and what was charged. */
export function createCustomerRanks(usage: Pick<UsageStore, 'serviceSums'>, keptMs = KEPT_MS): CustomerRanks {
  const kept = new Map<string, readonly ServiceRow[]>();
  return async ({ from, to, limit }) => {
    const name = `${from} ${to} ${limit}`;
    const found = kept.get(name);
    if (found) return found;
    const query = { subject: 'account', from, to, by: 'name', counts: ['charged', 'calls'] } as const;
    const rows = await usage.serviceSums({ ...query, ...(limit !== undefined && { limit }) });
    if (rows.length >= (limit ?? MANY_ACCOUNTS)) {
      kept.set(name, rows);
      setTimeout(() => kept.delete(name), keptMs).unref();
    }
    return rows;
  };
}
