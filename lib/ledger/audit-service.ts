// The audit of the sums of all wallets together: day by day they must equal the sums of each wallet.

import type { ServiceDay, ServiceSum } from '../store/ports/usage.ts';
import {
  addServiceTotals,
  DAY_MS,
  getServiceKey,
  listServiceSums,
  NO_SERVICE,
  SERVICE_COUNTS,
} from '../store/service-sums.ts';
import type { Store } from '../store/store.ts';
import type { ReportProblem } from './audit-rules.ts';

export async function checkServiceSums({ usage }: Pick<Store, 'usage'>, report: ReportProblem): Promise<void> {
  for (let from = 0; ; ) {
    const found = await usage.serviceDay(from);
    if (!found) return;
    for (const problem of compareServiceDay(found)) report('service', problem);
    from = found.day + DAY_MS;
  }
}

/** What is wrong with the sums of a day. */
function compareServiceDay({ stored, hours, routes }: ServiceDay): readonly string[] {
  const has = new Map(stored.map((sum) => [getServiceKey(sum), sum]));
  const wants = new Map(listServiceSums({ hours, routes }).map((sum) => [getServiceKey(sum), sum]));
  const keys = [...new Set([...has.keys(), ...wants.keys()])];
  return keys.flatMap((key) => compareServiceSum(has.get(key), wants.get(key)));
}

function compareServiceSum(stored: ServiceSum | undefined, wanted: ServiceSum | undefined): readonly string[] {
  const { grain, subject, at, name } = (stored ?? wanted) as ServiceSum;
  const { first, ...difference } = addServiceTotals(stored ?? NO_SERVICE, wanted ?? NO_SERVICE, -1);
  const columns: string[] = SERVICE_COUNTS.filter((count) => Number(difference[count]) !== 0);
  if (first.some((count) => count !== 0)) columns.push('first fragments');
  if (columns.length === 0) return [];
  const where = `sums of all accounts by ${grain}, ${new Date(at).toISOString()}, ${subject} ${name}`;
  return [`${where}: ${columns.join(', ')} differ from those of the accounts`];
}
