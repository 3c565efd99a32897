// The audit of the sums of all wallets together: day by day they must equal the sums of each wallet, and week by week those
// of the days.
import { DAY_MS, WEEK_MS } from '../base/durations.ts';
import type { ServiceDay, ServiceSum, ServiceWeek } from '../store/ports/usage.ts';
import { addServiceTotals, getServiceKey, listServiceSums, NO_SERVICE, SERVICE_COUNTS } from '../store/service-sums.ts';
import type { Store } from '../store/store.ts';
import type { ReportProblem } from './audit-rules.ts';

export async function checkServiceSums({ usage }: Pick<Store, 'usage'>, report: ReportProblem): Promise<void> {
  for (let day = await usage.serviceDay(0); day; day = await usage.serviceDay(day.day + DAY_MS)) {
    for (const problem of compareServiceDay(day)) report('service', problem);
  }
  for (let week = await usage.serviceWeek(0); week; week = await usage.serviceWeek(week.week + WEEK_MS)) {
    for (const problem of compareServiceWeek(week)) report('service', problem);
  }
}

/** What is wrong with the sums of a day. */
function compareServiceDay({ stored, hours, routes }: ServiceDay): readonly string[] {
  const wanted = listServiceSums({ hours, routes }).filter(({ grain }) => grain !== 'week');
  const wants = new Map(wanted.map((sum) => [getServiceKey(sum), sum]));
  return compareServiceSums(stored, wants);
}

/** What is wrong with the sums of a week. */
function compareServiceWeek({ week, sums }: ServiceWeek): readonly string[] {
  const [stored, days] = [sums.filter(({ grain }) => grain === 'week'), sums.filter(({ grain }) => grain === 'day')];
  const wants = new Map<string, ServiceSum>();
  for (const { subject, name, ...totals } of days) {
    const labels = { grain: 'week', subject, at: week, name } as const;
    const key = getServiceKey(labels);
    wants.set(key, { ...labels, ...addServiceTotals(wants.get(key) ?? NO_SERVICE, totals) });
  }
  return compareServiceSums(stored, wants);
}

function compareServiceSums(stored: readonly ServiceSum[], wants: ReadonlyMap<string, ServiceSum>): readonly string[] {
  const has = new Map(stored.map((sum) => [getServiceKey(sum), sum]));
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
