// The figures of the usage page: a chart of what was used by hour, day or month, stacked by model, key or type, beside the
// period before, and a table whose rows lead one level deeper, at last to the calls.
import { DAY_MS } from '../../base/durations.ts';
import { readUsageSlots, regroupUsage, type SlottedUsage } from '../../ledger/usage-slots.ts';
import { addDays, findHourDay } from '../../money/days.ts';
import { toRub } from '../../money/money.ts';
import { UNIT_COUNTS, UNIT_NAMES, type UnitCount } from '../../money/usage-units.ts';
import type { UsageTotals } from '../../store/ports/usage.ts';
import { addUsageTotals, NO_USAGE } from '../../store/usage-totals.ts';
import { type ChargeQuery, chargeQueryText } from '../charge-query.ts';
import { barChart, type ChartSeries, mergeSmallSeries } from '../chart.ts';
import { definitionList, orUsual, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import type { KeyOwner } from '../key-owners.ts';
import { chooseUnit, isCurrent, listSlots, nameSlots, type SlotUnit, type TimeSlot } from '../time-slots.ts';
import { mayVisit, type OwnerVisit } from '../visit.ts';
import { USAGE_WORDS as WORDS } from './usage-words.ts';

const DAYS_MAX = 3660;

export const USAGE_SHOWS = ['charged', 'calls', 'tokens', 'failed'] as const;
type Show = (typeof USAGE_SHOWS)[number];
const STACKS = ['model', 'key', 'kind', 'member'] as const;
type Stack = (typeof STACKS)[number];

export interface UsageView {
  readonly first: string;
  readonly last: string;
  readonly unit: SlotUnit;
  /** What the table is grouped by. */
  readonly by: 'day' | Stack;
  /** What the bars are stacked by. */
  readonly stack: Stack;
  readonly show: Show;
  readonly isCompared: boolean;
}

export function readUsageView(
  { query, services, zone }: OwnerVisit,
  { from, to }: ChargeQuery,
  owners: readonly KeyOwner[],
): UsageView {
  const today = findHourDay(services.now(), zone);
  const begin = from ?? today;
  const last = to ?? begin;
  // Nobody has calls of longer ago, and every day takes time.
  const earliest = addDays(last, 1 - DAYS_MAX);
  // biome-ignore lint/complexity/useMathMinMax: they are texts
  const first = begin < earliest ? earliest : begin;
  const stacks = STACKS.filter((name) => name !== 'member' || owners.length > 0);
  const by = stacks.find((name) => name === query.get('by')) ?? 'day';
  return {
    first,
    last,
    by,
    stack: by === 'day' ? 'model' : by,
    unit: chooseUnit(query.get('unit'), countDays(first, last)),
    show: USAGE_SHOWS.find((name) => name === query.get('show')) ?? 'charged',
    isCompared: query.get('compare') === 'yes',
  };
}

function countDays(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
}

export interface UsageFigures extends SlottedUsage {
  readonly slots: readonly TimeSlot[];
  /** The period before, if it is compared. */
  readonly before: SlottedUsage | undefined;
}

/** Tokens of reasoning are part of the output. */
const TOKENS: readonly UnitCount[] = UNIT_COUNTS.filter(
  (name) => name.startsWith('tokens') && name !== 'tokensReasoning',
);

/** What a customer is shown: not what the calls cost the operator, which takes a tenth of the time of a year's sums. */
const SHOWN: readonly (keyof UsageTotals)[] = ['calls', 'charged', 'refunded', 'failed', ...UNIT_COUNTS];

/** What is shown of the period before: its sums of each part of the time, whatever they are of. */
const COMPARED: Readonly<Record<Show, readonly (keyof UsageTotals)[]>> = {
  charged: ['calls', 'charged'],
  calls: ['calls', 'charged'],
  tokens: ['calls', 'charged', ...TOKENS],
  failed: ['calls', 'charged', 'failed'],
};

export async function readUsageFigures(
  { services, account, zone }: OwnerVisit,
  view: UsageView,
  { filter }: ChargeQuery,
  owners: readonly KeyOwner[],
): Promise<UsageFigures> {
  const { first, last, unit, stack, show, isCompared } = view;
  const { key, keys, model, kind } = filter;
  const wanted = {
    ...(key !== undefined && { key }),
    ...(keys && { keys }),
    ...(model !== undefined && { model }),
    ...(kind && { kind }),
    counts: SHOWN,
  };
  const owner = new Map(owners.flatMap(({ id, keys: theirs }) => theirs.map((each) => [each, id] as const)));
  const { usage } = services.store;
  const read = async (slots: readonly TimeSlot[]) => {
    if (stack !== 'member') return readUsageSlots(usage, account.id, { ...wanted, slots, by: stack });
    const byKey = await readUsageSlots(usage, account.id, { ...wanted, slots, by: 'key' });
    return regroupUsage(byKey, (name) => owner.get(name) ?? '');
  };
  const slots = listSlots(unit, { first, last, zone });
  const days = countDays(first, last);
  const earlier = { first: addDays(first, -days), last: addDays(first, -1), zone };
  const readEarlier = () => {
    const compared = { slots: listSlots(unit, earlier), by: 'kind', counts: COMPARED[show] } as const;
    return readUsageSlots(usage, account.id, { ...wanted, ...compared });
  };
  const [now, before] = await Promise.all([read(slots), isCompared ? readEarlier() : undefined]);
  return { ...now, slots, before };
}

/** Names a model, key or type. */
export type NameGroup = (group: string) => string;

export function periodLinks(visit: OwnerVisit, { first, last }: UsageView): Html {
  const words = WORDS[visit.language];
  const today = findHourDay(visit.services.now(), visit.zone);
  const yesterday = addDays(today, -1);
  const periods = [
    [words.today, today, today],
    [words.yesterday, yesterday, yesterday],
    [words.days(7), addDays(today, -6), today],
    [words.days(30), addDays(today, -29), today],
    [words.month, `${today.slice(0, 8)}01`, today],
  ] as const;
  // Some are the same on some days, as this month and seven days on the seventh.
  const here = periods.find(([, from, to]) => from === first && to === last);
  const items = periods.map((period) => {
    const [name, from, to] = period;
    const current = period === here && html` aria-current="true"`;
    return html`<li><a href="${visit.path}${chargeQueryText(visit, { from, to, unit: undefined })}"${current}>${name}</a></li>`;
  });
  return html`<nav class="ranges" aria-label="${words.ranges}"><ul>${items}</ul></nav>`;
}

interface Figures {
  readonly view: UsageView;
  readonly figures: UsageFigures;
  readonly nameGroup: NameGroup;
}

export function usageSums(visit: OwnerVisit, { total, before }: UsageFigures): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const past = before?.total.charged ?? 0n;
  const share = Number(total.charged - past) / Number(past);
  const change = past > 0n ? words.change(format.percentChange(Math.round(share * 100)), format.rub(past)) : undefined;
  return definitionList([
    [words.calls, format.number(total.calls)],
    [
      words.charged,
      html`<strong class="big">${format.rub(total.charged)}</strong>${change !== undefined && html`<br><span class="hint">${change}</span>`}`,
    ],
    [words.refunded, format.rub(total.refunded)],
    [
      words.failed,
      total.calls === 0
        ? format.number(0)
        : `${format.number(total.failed)} (${format.percent(total.failed / total.calls)})`,
    ],
    ...(total.calls > 0 ? [[words.average, format.rub(total.charged / BigInt(total.calls))] as const] : []),
  ]);
}

function getShown(totals: UsageTotals, show: Show): number {
  if (show === 'charged') return toRub(totals.charged);
  if (show === 'tokens') return TOKENS.reduce((sum, name) => sum + totals[name], 0);
  return totals[show];
}

export function usageChart(visit: OwnerVisit, { view, figures, nameGroup }: Figures): Html {
  const { language, format, services, zone } = visit;
  const words = WORDS[language];
  const { slots, groups, before } = figures;
  const { unit, show, stack } = view;
  const names = nameSlots(unit, language, zone);
  const text = (value: number, totals: UsageTotals) =>
    show === 'charged' ? format.rub(totals.charged) : format.number(value);
  const totals = slots.map((_, at) => sumSlot(figures, at));
  const past = before && slots.map((_, at) => sumSlot(before, at));
  const series = groups.map(
    ({ name, slots: sums }): ChartSeries => ({
      name: nameGroup(name),
      values: sums.map((each) => getShown(each, show)),
    }),
  );
  const what = `${words.shows[show]} ${words.stackedBy(words.groups[stack])}`;
  const [first, last] = [slots[0], slots.at(-1)];
  return barChart({
    id: 'used',
    title: first && last ? words.chart(what, names.name(first), names.name(last)) : what,
    slots: slots.map((slot, at) => {
      const now = totals[at] ?? NO_USAGE;
      const then = past?.[at];
      const compared = then ? `; ${words.before}: ${text(getShown(then, show), then)}` : '';
      return {
        text: `${names.name(slot)}: ${text(getShown(now, show), now)}${compared}`,
        tick: names.tick(slot, at, slots.length),
        href: now.calls > 0 ? linkToSlot(visit, slot, view) : undefined,
        isNow: isCurrent(slot, services.now()),
      };
    }),
    series: mergeSmallSeries(series, words.others),
    line: past && {
      name: words.before,
      values: past.map((each) => (each.calls === 0 ? undefined : getShown(each, show))),
      isDashed: true,
    },
    format: show === 'charged' ? format.rubAxis : format.number,
  });
}

/** Of all groups. */
export function sumSlot({ groups }: SlottedUsage, at: number): UsageTotals {
  return groups.reduce((sum, { slots }) => addUsageTotals(sum, slots[at] ?? NO_USAGE), NO_USAGE);
}

/** A month leads to its days, a day to its hours, an hour to the calls of its day. */
function linkToSlot(visit: OwnerVisit, slot: TimeSlot, { unit }: UsageView): string | undefined {
  const end = findHourDay(slot.to - 1, visit.zone);
  if (unit === 'hour') return linkToCalls(visit, { from: slot.day, to: slot.day });
  return `${visit.path}${chargeQueryText(visit, { from: slot.day, to: end, unit: undefined })}`;
}

/** Undefined for those who see sums only. */
function linkToCalls(visit: OwnerVisit, filter: Readonly<Record<string, string | undefined>>): string | undefined {
  if (!mayVisit(visit, '/account/calls')) return undefined;
  // The list of calls has no filter of people.
  const isByKey = Boolean(filter.key ?? visit.query.get('key'));
  if (visit.query.get('member') && !isByKey) return undefined;
  const none = { member: undefined, by: undefined, unit: undefined, show: undefined, compare: undefined };
  return `/account/calls${chargeQueryText(visit, { ...none, ...filter })}`;
}

/** One level deeper: a person and a model lead to their keys, a key to its models, both together to the calls. */
function linkToGroup(visit: OwnerVisit, view: UsageView, group: string): string | undefined {
  const { by, first: from, last: to } = view;
  const next = by === 'model' ? 'key' : 'model';
  if (by === 'member')
    return group === '' ? undefined : `${visit.path}${chargeQueryText(visit, { member: group, by: 'key' })}`;
  if (by === 'kind') return `${visit.path}${chargeQueryText(visit, { kind: group, by: 'model' })}`;
  if (visit.query.get(next)) return linkToCalls(visit, { [by]: group, from, to });
  return `${visit.path}${chargeQueryText(visit, { [by]: group, by: next })}`;
}

export function usageTable(visit: OwnerVisit, { view, figures, nameGroup }: Figures): Html {
  const { language, format, zone } = visit;
  const words = WORDS[language];
  const { by, unit } = view;
  const { slots, groups, total } = figures;
  const counts = UNIT_COUNTS.filter((name) => total[name] > 0);
  const names = nameSlots(unit, language, zone);
  const link = (href: string | undefined, name: string) =>
    href === undefined ? name : html`<a href="${href}">${name}</a>`;
  const cells = (name: Html | string, totals: UsageTotals) => [
    name,
    format.number(totals.calls),
    format.rub(totals.charged),
    total.charged > 0n ? format.percent(Number(totals.charged) / Number(total.charged)) : '',
    ...(total.refunded > 0n ? [orUsual(format.rub(totals.refunded), totals.refunded === 0n)] : []),
    ...(total.failed > 0 ? [orUsual(format.number(totals.failed), totals.failed === 0)] : []),
    ...counts.map((count) => orUsual(format.number(totals[count]), totals[count] === 0)),
  ];
  const rows =
    by === 'day'
      ? slots.flatMap((slot, at) => {
          const totals = sumSlot(figures, at);
          return totals.calls === 0 ? [] : [cells(link(linkToSlot(visit, slot, view), names.name(slot)), totals)];
        })
      : groups.map(({ name, total: sums }) => cells(link(linkToGroup(visit, view, name), nameGroup(name)), sums));
  const head = by === 'day' ? words.slotHeads[unit] : words.heads[by];
  const column = (title: string, narrow: 'sum' | 'named' | 'note' = 'named') => ({ title, number: true, narrow });
  const columns = [
    { title: head, narrow: 'main' as const },
    column(words.calls),
    column(words.charged, 'sum'),
    column(words.share, 'note'),
    ...(total.refunded > 0n ? [column(words.refunded)] : []),
    ...(total.failed > 0 ? [column(words.failed)] : []),
    ...counts.map((count) => column(words.units[UNIT_NAMES[count]])),
  ];
  return table(words.table, columns, [...rows, cells(html`<strong>${words.total}</strong>`, total)]);
}
