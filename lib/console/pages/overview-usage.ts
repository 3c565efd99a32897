// What calls cost in 30 days, on the owner's first page: whether yesterday was unusual, a chart by model or key, the
// models of the last week, and the keys.
import { readUsageSlots, type SlottedUsage } from '../../ledger/usage-slots.ts';
import { getBudgetKeyId, indexSums } from '../../money/budget.ts';
import { addDays, findHourDay } from '../../money/days.ts';
import { compareMicro, type Micro } from '../../money/money.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import type { UsageTotals } from '../../store/ports/usage.ts';
import { keyName } from '../charge-query.ts';
import { message, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { listDaySlots, type TimeSlot } from '../time-slots.ts';
import { linkTo, mayVisit, type OwnerVisit } from '../visit.ts';
import { limitCells } from './key-limits.ts';
import { sumSlot, usageChart } from './usage-explorer.ts';
import { USAGE_RANGE } from './usage-view.ts';

const WORDS = defineWords({
  en: {
    title: 'Charged in 30 days',
    ranges: 'Chart',
    stacks: { model: 'by model', key: 'by key' },
    unusual: (sum: string, usual: string) =>
      `Yesterday was unusually expensive: ${sum}; a usual day costs about ${usual}.`,
    most: (model: string, key: string) => `Highest cost: model ${model}, key ${key}.`,
    why: 'See the usage',
    models: (days: number) => `Models that cost most in ${days} days`,
    keys: (days: number) => `Keys that cost most in ${days} days`,
    model: 'Model',
    key: 'Key',
    charged: 'Charged',
    share: 'Share',
    budget: 'Budget',
  },
  ru: {
    title: 'Списано за 30 дней',
    ranges: 'График',
    stacks: { model: 'по моделям', key: 'по ключам' },
    unusual: (sum: string, usual: string) => `Вчера потрачено необычно много: ${sum}; обычно — около ${usual} в день.`,
    most: (model: string, key: string) => `Основные расходы: модель ${model}, ключ ${key}.`,
    why: 'Посмотреть',
    models: (days: number) => `Модели с наибольшими расходами за ${days} дней`,
    keys: (days: number) => `Ключи с наибольшими расходами за ${days} дней`,
    model: 'Модель',
    key: 'Ключ',
    charged: 'Списано',
    share: 'Доля',
    budget: 'Бюджет',
  },
});

const STACKS = ['model', 'key'] as const;
type Stack = (typeof STACKS)[number];

export const OVERVIEW_DAYS = USAGE_RANGE.days;
const WEEK = 7;
/** The days before yesterday that say what is usual. */
const USUAL_DAYS = 14;
const UNUSUAL_TIMES = 3n;
const UNUSUAL_LEAST: Micro = 50_000_000n;
const ROWS_MAX = 5;

export interface RecentUsage {
  readonly slots: readonly TimeSlot[];
  /** What the chart is stacked by. */
  readonly stack: Stack;
  readonly chart: SlottedUsage;
  /** By day, today last. */
  readonly days: readonly UsageTotals[];
  /** What each cost in all days, in the last week and yesterday; the highest first. */
  readonly sums: Readonly<Record<Stack, readonly Sums[]>>;
}

interface Sums {
  readonly name: string;
  readonly all: Micro;
  readonly week: Micro;
  readonly yesterday: Micro;
}

const COUNTS = ['calls', 'charged', 'failed'] as const;

/** What the usage page shows without a filter, so that both have the same sums; all of it must have been counted. */
export async function readRecentUsage(visit: OwnerVisit): Promise<RecentUsage> {
  const { services, account, zone, ownKeys, query } = visit;
  const today = findHourDay(services.now(), zone);
  const slots = listDaySlots(addDays(today, 1 - OVERVIEW_DAYS), today, zone);
  const stack = STACKS.find((name) => name === query.get('by')) ?? 'model';
  const other = stack === 'model' ? 'key' : 'model';
  const read = (by: Stack, parts: readonly Pick<TimeSlot, 'from' | 'to'>[]) =>
    readUsageSlots(services.store.usage, account.id, {
      slots: parts,
      by,
      counts: COUNTS,
      ...(ownKeys && { keys: ownKeys }),
    });
  // What the tables have of it: the days before the last week, the rest of the week, yesterday and today.
  const parts = joinSlots(slots, [-OVERVIEW_DAYS, -WEEK, -2, -1]);
  const [chart, rest] = await Promise.all([read(stack, slots), read(other, parts)]);
  const sums = {
    [stack]: sumGroups(chart, WEEK),
    [other]: sumGroups(rest, parts.length - 1),
  } as Record<Stack, readonly Sums[]>;
  return { slots, stack, chart, days: slots.map((_, at) => sumSlot(chart, at)), sums };
}

/** Longer parts, which begin at these places. */
function joinSlots(slots: readonly TimeSlot[], places: readonly number[]) {
  const begins = places.flatMap((place) => slots.at(place) ?? []);
  return begins.map(({ from }, at) => ({ from, to: begins[at + 1]?.from ?? slots.at(-1)?.to ?? from }));
}

/** `weekSlots`: how many of the last slots are the last week; yesterday and today have one each. */
function sumGroups({ groups }: SlottedUsage, weekSlots: number): readonly Sums[] {
  return groups.map(({ name, total, slots }) => ({
    name,
    all: total.charged,
    week: slots.slice(-weekSlots).reduce((sum, { charged }) => sum + charged, 0n),
    yesterday: slots.at(-2)?.charged ?? 0n,
  }));
}

/** Undefined if yesterday was as usual, or if the account is too young to say what is usual. */
export function unusualBar(visit: OwnerVisit, used: RecentUsage, keys: readonly KeyRow[]): Html | undefined {
  const { language, format, account } = visit;
  const words = WORDS[language];
  const before = used.days.slice(-2 - USUAL_DAYS, -2).map(({ charged }) => charged);
  const yesterday = used.days.at(-2)?.charged ?? 0n;
  const usual = findMedian(before);
  const isKnown = account.createdAt <= (used.slots.at(-2 - USUAL_DAYS)?.from ?? 0);
  if (!isKnown || yesterday <= UNUSUAL_LEAST || yesterday <= usual * UNUSUAL_TIMES) return undefined;
  const [model, key] = STACKS.map((stack) =>
    used.sums[stack].reduce((most, each) => (each.yesterday > most.yesterday ? each : most)),
  );
  const most = model && key && words.most(model.name, nameKey(keys, key.name));
  const day = used.slots.at(-2)?.day ?? '';
  const why = linkTo(visit, `/account/usage?from=${day}&to=${day}&by=model`);
  return message(
    'error',
    html`${words.unusual(format.rub(yesterday), format.rub(usual))} ${most} <a href="${why}">${words.why}</a>`,
  );
}

function findMedian(sums: readonly Micro[]): Micro {
  const sorted = sums.toSorted(compareMicro);
  const [one = 0n, other = 0n] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (one + other) / 2n;
}

function nameKey(keys: readonly KeyRow[], id: string): string {
  const key = keys.find((each) => each.id === id);
  return key ? keyName(key) : id;
}

/** Nothing without a charge. */
export async function usageSection(
  visit: OwnerVisit,
  used: RecentUsage,
  keys: readonly KeyRow[],
): Promise<Html | undefined> {
  if (used.chart.total.charged === 0n) return undefined;
  const { language, query } = visit;
  const words = WORDS[language];
  const account = query.get('account');
  // The bars lead to the usage page.
  const there = { ...visit, path: '/account/usage', query: new URLSearchParams(account === null ? {} : { account }) };
  const { slots, stack, chart } = used;
  const [first, last] = [slots[0]?.day ?? '', slots.at(-1)?.day ?? ''];
  const drawn = usageChart(there, {
    view: { first, last, unit: 'day', by: 'day', stack, show: 'charged', isCompared: false },
    figures: { ...chart, slots, before: undefined },
    nameGroup: (name) => (stack === 'key' ? nameKey(keys, name) : name),
  });
  const choices = STACKS.map(
    (name) =>
      html`<li><a href="${linkTo(visit, name === 'model' ? '/account' : `/account?by=${name}`)}"${name === stack && html` aria-current="true"`}>${words.stacks[name]}</a></li>`,
  );
  const week = { from: slots.at(-WEEK)?.day ?? first, to: last };
  return html`<h2>${words.title}</h2>
<nav class="ranges" aria-label="${words.ranges}"><ul>${choices}</ul></nav>
${drawn}
<div class="columns"><section>${modelTable(visit, used, week)}</section>
${mayVisit(visit, '/account/keys') && html`<section>${await keyTable(visit, used, { keys, first, last })}</section>`}</div>`;
}

function modelTable(
  visit: OwnerVisit,
  { sums }: RecentUsage,
  { from, to }: { readonly from: string; readonly to: string },
): Html | undefined {
  const { language, format } = visit;
  const words = WORDS[language];
  const total = sums.model.reduce((sum, { week }) => sum + week, 0n);
  if (total === 0n) return undefined;
  const sorted = sums.model
    .filter(({ week }) => week > 0n)
    .toSorted((one, other) => compareMicro(one.week, other.week));
  const rows = sorted.slice(0, ROWS_MAX).map(({ name, week }) => {
    const query = new URLSearchParams({ from, to, model: name, by: 'key' });
    return [
      html`<a href="${linkTo(visit, `/account/usage?${query}`)}">${name}</a>`,
      format.rub(week),
      format.percent(Number(week) / Number(total)),
    ];
  });
  const title = words.models(WEEK);
  const columns = [
    { title: words.model },
    ...[words.charged, words.share].map((name) => ({ title: name, number: true })),
  ];
  return html`<h2>${title}</h2>
${table(title, columns, rows)}`;
}

interface KeySpan {
  readonly keys: readonly KeyRow[];
  readonly first: string;
  readonly last: string;
}

async function keyTable(visit: OwnerVisit, { sums }: RecentUsage, { keys, first, last }: KeySpan): Promise<Html> {
  const { language, format, services } = visit;
  const words = WORDS[language];
  const found = sums.key.slice(0, ROWS_MAX).flatMap(({ name, all }) => {
    const key = keys.find(({ id }) => id === name);
    return key ? [[key, all] as const] : [];
  });
  const budgets = indexSums(await services.store.ledger.budgets(found.map(([key]) => getBudgetKeyId(key))));
  const rows = found.map(([key, all]) => {
    const query = new URLSearchParams({ from: first, to: last, key: key.id, by: 'model' });
    const [budget] = limitCells(visit, key, budgets.get(getBudgetKeyId(key)));
    const name = html`${key.name} <span class="whole">(…${key.last4})</span>`;
    return [html`<a href="${linkTo(visit, `/account/usage?${query}`)}">${name}</a>`, format.rub(all), budget];
  });
  const title = words.keys(OVERVIEW_DAYS);
  return html`<h2>${title}</h2>
${table(title, [{ title: words.key }, { title: words.charged, number: true }, { title: words.budget }], rows)}`;
}

/**
 * What some days would have cost if the most expensive had cost no more than the second: one odd day does not
 * say how long a balance lasts.
 */
export function sumUsual(days: readonly Micro[]): Micro {
  const [most = 0n, second = 0n] = days.toSorted(compareMicro);
  const sum = days.reduce((total, day) => total + day, 0n);
  return second === 0n ? sum : sum - most + second;
}
