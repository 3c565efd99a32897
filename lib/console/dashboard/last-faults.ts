// The latest error of each upstream in a day: the hourly sums tell its hour, so that only the attempts of that hour are read.
import { DAY_MS, HOUR_MS } from '../../base/durations.ts';
import { type Attempt, FAULT_ENDINGS } from '../../money/attempt.ts';
import { parseRouteName } from '../../store/service-sums.ts';
import type { Store } from '../../store/store.ts';
import { shortTime } from '../components.ts';
import { type Html, html } from '../html.ts';
import { describeEnding } from '../pages/attempt-table.ts';
import type { UserVisit } from '../visit.ts';

/** By the name of the upstream. */
export type LastFaults = ReadonlyMap<string, Attempt>;

export async function readLastFaults(
  { usage, attempts }: Pick<Store, 'usage' | 'attempts'>,
  now: number,
): Promise<LastFaults> {
  const from = now - (now % HOUR_MS) - DAY_MS;
  const to = now + HOUR_MS;
  const rows = await usage.serviceSums({ subject: 'route', from, to, by: 'both', counts: ['attempts'] });
  const hours = new Map<string, number>();
  for (const { at, name, attempts: count } of rows) {
    const { upstream, ending } = parseRouteName(name);
    const isFault = count > 0 && FAULT_ENDINGS.some((fault) => fault === ending);
    if (isFault && at > (hours.get(upstream) ?? 0)) hours.set(upstream, at);
  }
  const found = await Promise.all(
    [...hours].map(async ([upstream, hour]) => {
      // Sums are kept by the hour in which a call began; its attempts may be later.
      const search = { upstream, from: hour, to: hour + 2 * HOUR_MS, isFault: true, limit: 1 };
      return [upstream, (await attempts.search(search))[0]] as const;
    }),
  );
  return new Map(found.flatMap(([upstream, attempt]) => (attempt ? [[upstream, attempt] as const] : [])));
}

/** What went wrong and when, with a link to the call. */
export function lastFault(visit: UserVisit, faults: LastFaults, upstream: string): Html | undefined {
  const attempt = faults.get(upstream);
  if (!attempt) return undefined;
  const { charge, at, totalMs } = attempt;
  return html`${describeEnding(visit, attempt)}, <a href="/admin/ledger?id=${encodeURIComponent(charge)}">${shortTime(visit, at + totalMs)}</a>`;
}
