// The figures of the usage page, and their chart: what was used by hour, day or month, stacked by model, key or type, beside
// the period before.
import { addUpNames, type NamedUsage, readUsageNames, type UsagePart } from '../../ledger/usage-names.ts';
import { readUsageSlots, regroupUsage, type SlottedUsage } from '../../ledger/usage-slots.ts';
import { addDays, findHourDay } from '../../money/days.ts';
import { toRub } from '../../money/money.ts';
import { TEXT_MINIMUM } from '../../money/price.ts';
import { UNIT_COUNTS, type UnitCount } from '../../money/usage-units.ts';
import type { UsageTotals } from '../../store/ports/usage.ts';
import { addUsageTotals, NO_USAGE } from '../../store/usage-totals.ts';
import { type ChargeQuery, chargeQueryText } from '../charge-query.ts';
import { barChart, type ChartSeries, mergeSmallSeries } from '../chart.ts';
import { definitionList } from '../components.ts';
import { type Html, html } from '../html.ts';
import type { KeyOwner } from '../key-owners.ts';
import { isCurrent, listSlots, nameSlots, type TimeSlot } from '../time-slots.ts';
import type { OwnerVisit } from '../visit.ts';
import { linkToSlot } from './usage-links.ts';
import type { MinimumCount } from './usage-minimum.ts';
import { countDays, type Show, type Stack, type UsageView } from './usage-view.ts';
import { USAGE_WORDS as WORDS } from './usage-words.ts';

export interface UsageFigures extends SlottedUsage {
  readonly slots: readonly TimeSlot[];
  /** The period before, if it is compared. */
  readonly before: SlottedUsage | undefined;
  /** What each row of the table but those of times is split into, if it is; those with the highest charge first. */
  readonly parts?: ReadonlyMap<string, readonly UsagePart[]>;
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
  const { first, last, unit, by, split, stack, show, isCompared } = view;
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
  const readNames = () => readUsageNames(usage, account.id, { ...wanted, from: slots[0]?.from, to: slots.at(-1)?.to });
  const [now, before, names] = await Promise.all([
    read(slots),
    isCompared ? readEarlier() : undefined,
    split && by !== 'day' ? readNames() : undefined,
  ]);
  if (!names || !split || by === 'day') return { ...now, slots, before };
  const nameBy = (stacked: Stack) => (row: NamedUsage) =>
    stacked === 'member' ? (owner.get(row.key) ?? '') : row[stacked];
  const rows = [...Map.groupBy(names, nameBy(by))];
  return { ...now, slots, before, parts: new Map(rows.map(([name, some]) => [name, addUpNames(some, nameBy(split))])) };
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

export interface Figures {
  readonly view: UsageView;
  readonly figures: UsageFigures;
  readonly nameGroup: NameGroup;
}

/** `minimum` is absent if no call has a minimum price. */
export function usageSums(visit: OwnerVisit, { total, before }: UsageFigures, minimum?: MinimumCount): Html {
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
    ...(minimum ? [[words.minimum(format.rub(TEXT_MINIMUM)), minimumShare(visit, minimum)] as const] : []),
  ]);
}

function minimumShare({ language, format }: OwnerVisit, { count, of, isPart }: MinimumCount): string {
  const { ofAll, ofNewest } = WORDS[language];
  return (isPart ? ofNewest : ofAll)(format.number(count), format.number(of));
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
