// The parts of the operator's start page: figures with links to the calls behind them, the chart, and the tables.
import { HOUR_MS } from '../../base/durations.ts';
import { estimatePercentile } from '../../base/time-buckets.ts';
import { addDays, findHourDay, formatDay } from '../../money/days.ts';
import { type Micro, toRub } from '../../money/money.ts';
import { formatMoment } from '../../money/period.ts';
import type { ServiceTotals } from '../../store/ports/usage.ts';
import { addServiceTotals, NO_SERVICE } from '../../store/service-sums.ts';
import { barChart, type ChartSeries, mergeSmallSeries } from '../chart.ts';
import { definitionList, foldAway, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { formatPageDate } from '../language.ts';
import { describeEnding } from '../pages/attempt-table.ts';
import { pauseState } from '../paused-upstreams.ts';
import { isCurrent, nameSlots, type TimeSlot } from '../time-slots.ts';
import type { UserVisit } from '../visit.ts';
import {
  addUpstreamSums,
  type DashboardFigures,
  type DashboardRange,
  type FailureSum,
  NO_UPSTREAM_SUM,
  type UpstreamSum,
} from './figures.ts';
import { type LastFaults, lastFault } from './last-faults.ts';
import { markUnpriced, unpricedNote } from './unpriced.ts';
import { DASHBOARD_WORDS as WORDS } from './words.ts';

type Filter = Readonly<Record<string, string>>;

/** The calls of a span of time, as the operator's list of calls finds them. */
export function linkToCalls(
  visit: UserVisit,
  { from, to }: Pick<TimeSlot, 'from' | 'to'>,
  filter: Filter = {},
): string {
  const zone = visit.signedIn.user.timeZone;
  const local = (at: number) => formatMoment(at, zone).slice(0, 16).replace(' ', 'T');
  return `/admin/calls?${new URLSearchParams({ from: local(from), to: local(to), ...filter })}`;
}

export function rangeLinks(visit: UserVisit, { span, day }: DashboardRange): Html {
  const words = WORDS[visit.language];
  const { services, signedIn } = visit;
  const yesterday = addDays(findHourDay(services.now(), signedIn.user.timeZone), -1);
  const link = (path: string, text: string, isHere: boolean) =>
    html`<li><a href="${path}"${isHere && html` aria-current="true"`}>${text}</a></li>`;
  return html`<nav class="ranges" aria-label="${words.ranges}"><ul>
${link('/admin', words.day, span === 'day' && day === undefined)}
${link(`/admin?day=${yesterday}`, words.yesterday, day === yesterday)}
${link('/admin?span=week', words.week, span === 'week')}
${link('/admin?span=month', words.month, span === 'month')}
${day !== undefined && day !== yesterday && link(`/admin?day=${day}`, formatPageDate(visit.language, day), true)}</ul></nav>`;
}

export function headlines(visit: UserVisit, range: DashboardRange, figures: DashboardFigures): Html {
  const { language, format, services, signedIn } = visit;
  const words = WORDS[language];
  const today = formatDay(services.now(), signedIn.user.timeZone);
  const { total, before, active, created, paidToday, returnedToday } = figures;
  const margin = total.charged - total.cost;
  const link = (text: string, filter: Filter = {}) =>
    html`<a class="big" href="${linkToCalls(visit, range, filter)}">${text}</a>`;
  const note = (text: string | undefined) => text !== undefined && html`<br><span class="hint">${text}</span>`;
  const rows: (readonly [string, Html])[] = [
    [
      words.revenue,
      html`${link(format.rub(total.charged))}${note(describeChange(visit, total.charged, before.charged))}`,
    ],
    [
      words.cost,
      html`${link(markUnpriced(format.rub(total.cost), total))}${note(describeChange(visit, total.cost, before.cost))}`,
    ],
    [
      words.margin,
      html`${link(markUnpriced(format.rub(margin), total))}${note(total.charged > 0n ? words.ofRevenue(format.percent(divide(margin, total.charged))) : undefined)}`,
    ],
    [
      words.calls,
      html`${link(format.number(total.calls))}${note(describeChange(visit, BigInt(total.calls), BigInt(before.calls)))}`,
    ],
    [
      words.errors,
      html`${link(format.number(total.failed), { faults: 'yes' })}${note(total.calls > 0 ? words.share(format.percent(total.failed / total.calls)) : undefined)}`,
    ],
    [
      words.active,
      html`<a class="big" href="/admin/accounts?sort=last">${format.number(active)}</a>${note(created > 0 ? words.created(format.number(created)) : undefined)}`,
    ],
    [
      words.paid,
      html`<a class="big" href="/admin/payments/all?from=${today}&to=${today}">${format.rub(paidToday)}</a>${note(returnedToday > 0n ? words.returned(format.rub(returnedToday)) : undefined)}`,
    ],
  ];
  return html`<div class="headlines">${definitionList(rows)}</div>${unpricedNote(visit, total)}`;
}

function describeChange({ language, format }: UserVisit, now: Micro, before: Micro): string | undefined {
  if (before <= 0n) return undefined;
  return WORDS[language].change(format.percentChange(Math.round(divide(now - before, before) * 100)));
}

function divide(one: bigint, other: bigint): number {
  return Number(one) / Number(other);
}

export function revenueChart(visit: UserVisit, range: DashboardRange, figures: DashboardFigures): Html {
  const { language, format, services } = visit;
  const words = WORDS[language];
  const { slots, span } = range;
  const { rows } = figures;
  const zone = visit.signedIn.user.timeZone;
  const names = nameSlots(span === 'day' ? 'hour' : 'day', language, zone);
  const bySlot = Map.groupBy(rows, ({ at }) => at);
  const totals = slots.map(({ from }) =>
    (bySlot.get(from) ?? []).reduce<ServiceTotals>((sum, row) => addServiceTotals(sum, row), NO_SERVICE),
  );
  const byModel = Map.groupBy(rows, ({ name }) => name);
  const series: ChartSeries[] = [...byModel].map(([name, found]) => {
    const values = new Map(found.map(({ at, charged }) => [at, toRub(charged)]));
    return { name, values: slots.map(({ from }) => values.get(from) ?? 0) };
  });
  const leadTo = (slot: TimeSlot) => (span === 'day' ? linkToCalls(visit, slot) : `/admin?day=${slot.day}`);
  const chart = barChart({
    id: 'revenue',
    title: words.chart(names.name(slots[0] as TimeSlot), names.name(slots.at(-1) as TimeSlot)),
    slots: slots.map((slot, at) => {
      const { charged, cost, calls } = totals[at] as ServiceTotals;
      const sums = `${format.rub(charged)}, ${words.cost}: ${format.rub(cost)}, ${words.calls}: ${format.number(calls)}`;
      return {
        text: `${names.name(slot)}: ${sums}`,
        tick: names.tick(slot, at, slots.length),
        href: calls > 0 ? leadTo(slot) : undefined,
        isNow: isCurrent(slot, services.now()),
      };
    }),
    series: mergeSmallSeries(series, words.others),
    line: { name: words.costLine, values: totals.map(({ calls, cost }) => (calls === 0 ? undefined : toRub(cost))) },
    format: format.rubAxis,
  });
  const cells = slots.flatMap((slot, at) => {
    const sums = totals[at] as ServiceTotals;
    const { charged, cost, calls, failed } = sums;
    if (calls === 0) return [];
    const money = [
      format.rub(charged),
      markUnpriced(format.rub(cost), sums),
      markUnpriced(format.rub(charged - cost), sums),
    ];
    const counts = [
      format.number(calls),
      html`<a href="${linkToCalls(visit, slot, { faults: 'yes' })}">${format.number(failed)}</a>`,
    ];
    return [[html`<a href="${leadTo(slot)}">${names.name(slot)}</a>`, ...money, ...counts]];
  });
  const columns = [words.time, words.revenue, words.cost, words.margin, words.calls, words.errors];
  // Without a call there is only an empty axis to draw.
  if (cells.length === 0) return html`<p>${words.noCalls}</p>`;
  return html`${chart}
${foldAway(words.tableTitle, table(words.tableTitle, toColumns(columns), cells))}`;
}

/** The first one is a name, the others are numbers. */
function toColumns(titles: readonly string[]) {
  return titles.map((title, at) => (at === 0 ? { title } : { title, number: true }));
}

export function upstreamTable(
  visit: UserVisit,
  { upstreams, upstreamsSince }: DashboardFigures,
  faults: LastFaults,
): Html {
  const { language, format, services } = visit;
  const words = WORDS[language];
  const all = upstreams.reduce(addUpstreamSums, { ...NO_UPSTREAM_SUM, upstream: words.allUpstreams });
  const span = { from: upstreamsSince, to: upstreamsSince + 2 * HOUR_MS };
  const first = ({ first: times }: UpstreamSum) => {
    const [p50, p95] = [0.5, 0.95].map((share) => estimatePercentile(times, share));
    return p50 === undefined || p95 === undefined
      ? ''
      : words.seconds(formatSeconds(visit, p50), formatSeconds(visit, p95));
  };
  const row = (sum: UpstreamSum, filter: Filter) => [
    html`<a href="${linkToCalls(visit, span, filter)}">${sum.upstream}</a>`,
    format.number(sum.attempts),
    format.percent(sum.attempts / all.attempts),
    html`<a href="${linkToCalls(visit, span, { ...filter, faults: 'yes' })}">${format.percent(sum.faults / sum.attempts)}</a>`,
    first(sum),
  ];
  const names = new Set(services.upstreams().map(({ upstream }) => upstream));
  const state = (name: string) => [lastFault(visit, faults, name), names.has(name) && pauseState(visit, name)];
  const rows = upstreams.map((sum) => [...row(sum, { upstream: sum.upstream }), ...state(sum.upstream)]);
  const total = upstreams.length > 1 ? [[...row(all, {}), '', '']] : [];
  const silent = [...names].filter((name) => !upstreams.some(({ upstream }) => upstream === name));
  const idle = silent.map((name) => [name, words.idle, '', '', '', ...state(name)]);
  const titles = [words.upstream, words.attempts, words.attemptShare, words.faults, words.first];
  const columns = [...toColumns(titles), { title: words.lastFault }, { title: words.state }];
  return html`<h2><a href="/admin/upstreams">${words.upstreams}</a></h2>
<p class="hint">${words.upstreamsSince(format.time(upstreamsSince))}</p>
${table(words.upstreams, columns, [...rows, ...total, ...idle])}`;
}

function formatSeconds({ format }: UserVisit, ms: number): string {
  return format.number(Math.round(ms / 100) / 10);
}

export function largest(visit: UserVisit, range: DashboardRange, figures: DashboardFigures): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const { accounts, models, failures } = figures;
  const money = (sums: ServiceTotals) => [
    format.rub(sums.charged),
    markUnpriced(format.rub(sums.charged - sums.cost), sums),
    format.number(sums.calls),
  ];
  const titles = [words.revenue, words.margin, words.calls];
  const ofAccounts = accounts.map((row) => [
    html`<a href="/admin/accounts/${row.name}">${row.title}</a>`,
    ...money(row).slice(0, 2),
    html`<a href="${linkToCalls(visit, range, { account: row.name })}">${format.number(row.calls)}</a>`,
  ]);
  const ofModels = models.map((row) => [
    html`<a href="${linkToCalls(visit, range, { model: row.name })}">${row.name}</a>`,
    ...money(row),
  ]);
  const ofFailures = failures.map((row) => [linkToFailure(visit, range, row), format.number(row.failed)]);
  const section = (
    title: string,
    name: string,
    rows: readonly (readonly (Html | string)[])[],
    columns: readonly string[],
    none: string,
    more?: Html,
  ) =>
    html`<section><h2>${title}</h2>
${rows.length === 0 ? html`<p>${none}</p>` : table(title, toColumns([name, ...columns]), rows)}${more}</section>`;
  return html`<div class="columns">
${section(words.accounts, words.account, ofAccounts, titles, words.noCalls, html`<p><a href="/admin/accounts?filter=low">${words.lowAccounts}</a></p>`)}
${section(words.models, words.model, ofModels, titles, words.noCalls)}
${section(words.failures, words.reason, ofFailures, [words.count], words.noFailures)}</div>`;
}

/** Calls that never reached an upstream have no attempts to be found by. */
function linkToFailure(visit: UserVisit, range: DashboardRange, row: FailureSum): Html | string {
  const text = describeEnding(visit, row);
  return row.ending === 'unasked' ? text : html`<a href="${linkToCalls(visit, range, toFilter(row))}">${text}</a>`;
}

function toFilter({ ending, reason }: FailureSum): Filter {
  return { ending, ...(reason !== '' && { reason }) };
}
