// The table of the usage page: a row for each part of the time, model, key, type or member, split by another of them if wanted.
import type { UsagePart } from '../../ledger/usage-names.ts';
import { compareGroups } from '../../ledger/usage-slots.ts';
import { UNIT_COUNTS, UNIT_NAMES } from '../../money/usage-units.ts';
import type { UsageTotals } from '../../store/ports/usage.ts';
import { addUsageTotals, NO_USAGE } from '../../store/usage-totals.ts';
import { orUsual, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { nameSlots, type TimeSlot } from '../time-slots.ts';
import type { OwnerVisit } from '../visit.ts';
import { type Figures, sumSlot, type UsageFigures } from './usage-explorer.ts';
import { linkToGroup, linkToSlot, type Picks } from './usage-links.ts';
import type { Stack, UsageView } from './usage-view.ts';
import { USAGE_WORDS as WORDS } from './usage-words.ts';

interface Row {
  /** A part of the time, or the name of a group. */
  readonly of: TimeSlot | string;
  readonly total: UsageTotals;
  /** Those with the highest charge first. */
  readonly parts: readonly UsagePart[];
}

/** Also of the file. */
export function listUsageRows({ by, split }: UsageView, figures: UsageFigures): readonly Row[] {
  const { slots, groups, parts } = figures;
  if (by !== 'day') return groups.map(({ name, total }) => ({ of: name, total, parts: parts?.get(name) ?? [] }));
  const rows = slots.map((slot, at) => {
    const found = split ? groups.map(({ name, slots: sums }) => ({ name, total: sums[at] ?? NO_USAGE })) : [];
    return { of: slot, total: sumSlot(figures, at), parts: found.sort(compareGroups) };
  });
  const isUsed = ({ total }: Pick<Row, 'total'>) => total.calls > 0;
  return rows.filter(isUsed).map((row) => ({ ...row, parts: row.parts.filter(isUsed) }));
}

/** Of rows for parts in the whole table: the page stays below 80 KiB, also with the chart, which has more bars by days. */
const PART_ROWS_MAX = { ofTime: 40, ofGroup: 80 };

/** How many parts each row shows, the last of them all others if there are more; none if there is no room for two. */
function countShownParts({ by }: UsageView, rows: number): number {
  const each = Math.floor((by === 'day' ? PART_ROWS_MAX.ofTime : PART_ROWS_MAX.ofGroup) / rows);
  return each < 2 ? 0 : each;
}

export function usageTable(visit: OwnerVisit, { view, figures, nameGroup }: Figures): Html {
  const { language, format, zone } = visit;
  const words = WORDS[language];
  const { by, split, unit } = view;
  const { total } = figures;
  const counts = UNIT_COUNTS.filter((name) => total[name] > 0);
  const slotNames = nameSlots(unit, language, zone);
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
  const nameRow = ({ of }: Row) => (typeof of === 'string' ? nameGroup(of) : slotNames.name(of));
  const linkRow = ({ of }: Row, picks?: Picks) =>
    typeof of === 'string' ? linkToGroup(visit, view, { [by]: of, ...picks }) : linkToSlot(visit, of, view, picks);
  const part = (name: Html | string) => html`<span class="part">${name}</span>`;
  const listed = listUsageRows(view, figures);
  const shown = countShownParts(view, listed.length);
  const rows = listed.flatMap((row) => {
    const named = row.parts.slice(0, row.parts.length > shown ? Math.max(0, shown - 1) : shown);
    const others = row.parts.slice(named.length).map(({ total: sums }) => sums);
    const hasOthers = shown > 0 && others.length > 0;
    return [
      cells(link(linkRow(row), nameRow(row)), row.total),
      ...named.map(({ name, total: sums }) =>
        cells(part(link(linkRow(row, { [split as Stack]: name }), nameGroup(name))), sums),
      ),
      ...(hasOthers ? [cells(part(words.others), others.reduce(addUsageTotals, NO_USAGE))] : []),
    ];
  });
  const isHidden = split !== undefined && shown === 0;
  const first = by === 'day' ? words.slotHeads[unit] : words.heads[by];
  const head = split ? `${first} / ${words.heads[split]}` : first;
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
  return html`${isHidden && html`<p class="hint">${words.hiddenParts}</p>`}
${table(words.table, columns, [...rows, cells(html`<strong>${words.total}</strong>`, total)])}`;
}
