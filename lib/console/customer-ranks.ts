// How much each account spent in a time, the highest first, for the pages that rank and select customers. Adding up many
// accounts is most of the work of those pages, which people open one after the other: the sums are kept for some seconds.
import type { ServiceQuery, ServiceRow, UsageStore } from '../store/ports/usage.ts';

const KEPT_MS = 10_000;
/** The list of a service with fewer accounts, and so with its first calls, is read each time. */
const MANY_ACCOUNTS = 500;

export type CustomerRanks = (query: Pick<ServiceQuery, 'from' | 'to'>) => Promise<readonly ServiceRow[]>;

/** Rows have only calls and what was charged. */
export function createCustomerRanks(
  usage: Pick<UsageStore, 'serviceSums'>,
  { keptMs = KEPT_MS, manyAccounts = MANY_ACCOUNTS } = {},
): CustomerRanks {
  const kept = new Map<string, readonly ServiceRow[]>();
  return async ({ from, to }) => {
    const name = `${from} ${to}`;
    const found = kept.get(name);
    if (found) return found;
    const rows = await usage.serviceSums({ subject: 'account', from, to, by: 'name', counts: ['charged', 'calls'] });
    if (rows.length >= manyAccounts) {
      kept.set(name, rows);
      setTimeout(() => kept.delete(name), keptMs).unref();
    }
    return rows;
  };
}
