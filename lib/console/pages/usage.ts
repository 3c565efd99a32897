// The usage of an account: a stacked chart with its table by time, model, key and kind, also as CSV.
import { fault } from '../../base/faults.ts';
import { mergeUsageRows, USAGE_GROUPS, type UsageReport, type UsageSum } from '../../ledger/usage.ts';
import { type CountedUsage, catchUpUsage, readUsage, type UsageBehind } from '../../ledger/usage-fold.ts';
import { findHourDay, hasSplitHours } from '../../money/days.ts';
import { USAGE_UNITS } from '../../money/usage-units.ts';
import { type ChargeQuery, chargeFilterForm, chargeQueryText, keyName, readChargeQuery } from '../charge-query.ts';
import { checkbox, message, select } from '../components.ts';
import { type Cell, createCsv } from '../csv.ts';
import { type Html, html } from '../html.ts';
import { type KeyOwner, readKeyOwners } from '../key-owners.ts';
import { page } from '../page.ts';
import { SLOT_UNITS } from '../time-slots.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import type { OwnerVisit } from '../visit.ts';
import { chargeWords } from './charge-table.ts';
import {
  periodLinks,
  readUsageFigures,
  readUsageView,
  USAGE_SHOWS,
  type UsageView,
  usageChart,
  usageSums,
  usageTable,
} from './usage-explorer.ts';
import { nameUnits, USAGE_WORDS as WORDS } from './usage-words.ts';

/** The overview has the same days. */
export const USAGE_RANGE = { days: 30, byHours: true } as const;
/** When a file that was not complete may be requested again. */
const AGAIN_S = 10;

export const usage = page({
  path: '/account/usage',
  who: 'account',
  async get(visit) {
    const { language, services, account } = visit;
    const words = WORDS[language];
    const [behind, keys] = await Promise.all([catchUpUsage(services.store, account.id), listVisibleKeys(visit)]);
    if (behind) services.usage.foldSoon(account.id);
    const owners = await readKeyOwners(visit, keys);
    const selection = selectMember(visit, readChargeQuery(visit, USAGE_RANGE), owners);
    const view = readUsageView(visit, selection, owners);
    const figures = await readUsageFigures(visit, view, selection, owners);
    const { kinds } = chargeWords(visit);
    const names = new Map([
      ...keys.map((key) => [key.id, keyName(key)] as const),
      ...Object.entries(kinds),
      ...owners.map(({ id, name }) => [id, name === '' ? words.nobody : name] as const),
    ]);
    const shown = { view, figures, nameGroup: (group: string) => names.get(group) ?? group };
    const body = html`${periodLinks(visit, view)}
${chargeFilterForm(visit, selection, { keys, owners, kinds, more: moreFields(visit, view, owners) })}
${isSplit(visit, selection) && html`<p class="hint">${words.split}</p>`}
<section id="figures"${behind && html` data-again`}>${behind && progress(visit, behind)}
${
  figures.total.calls > 0
    ? html`${usageSums(visit, figures)}
${usageChart(visit, shown)}
${usageTable(visit, shown)}`
    : !behind && html`<p>${words.none}</p>`
}
${!behind && html`<p><a href="/account/usage.csv${chargeQueryText(visit)}" download>${words.csv}</a></p>`}</section>`;
    return { title: words.title, body };
  },
});

/** Only the calls with the keys of somebody, if the query names them. */
function selectMember({ query }: OwnerVisit, selection: ChargeQuery, owners: readonly KeyOwner[]): ChargeQuery {
  const owner = owners.find(({ id }) => id !== '' && id === query.get('member'));
  return owner ? { ...selection, filter: { ...selection.filter, keys: owner.keys } } : selection;
}

function moreFields(
  { language, query }: OwnerVisit,
  { by, show, isCompared }: UsageView,
  owners: readonly KeyOwner[],
): Html {
  const words = WORDS[language];
  const people = owners.flatMap(({ id, name }) => (id === '' ? [] : [[id, name] as const]));
  const unit = SLOT_UNITS.find((name) => name === query.get('unit'));
  return html`${select(
    { name: 'by', label: words.by, chosen: by },
    listGroups(owners).map((group) => [group, words.groups[group]]),
  )}
${people.length > 0 && select({ name: 'member', label: words.member, all: words.all, chosen: query.get('member') ?? undefined }, people)}
${select(
  { name: 'show', label: words.show, chosen: show },
  USAGE_SHOWS.map((name) => [name, words.shows[name]]),
)}
${select({ name: 'unit', label: words.unit, all: words.auto, chosen: unit }, Object.entries(words.slotUnits))}
${checkbox({ name: 'compare', label: words.compare, checked: isCompared })}`;
}

function isSplit({ services, zone }: OwnerVisit, { from, to }: ChargeQuery): boolean {
  return hasSplitHours(
    [from, to].map((day) => day ?? findHourDay(services.now(), zone)),
    zone,
  );
}

/** The usage counted so far; the rest is counted next. */
async function countedUsage(
  visit: OwnerVisit,
  by: UsageView['by'],
  owners: readonly KeyOwner[],
): Promise<CountedUsage> {
  const { services, account, zone } = visit;
  const { state: _, ...filter } = selectMember(visit, readChargeQuery(visit, USAGE_RANGE), owners).filter;
  const isByMember = by === 'member';
  const report = await readUsage(services.store, account.id, { by: isByMember ? 'key' : by, zone, filter });
  if (report.behind) services.usage.foldSoon(account.id);
  if (!isByMember) return report;
  const names = new Map(owners.flatMap(({ name, keys }) => keys.map((key) => [key, name] as const)));
  const { nobody } = WORDS[visit.language];
  return { ...report, rows: mergeUsageRows(report.rows, (key) => names.get(key) || nobody) };
}

function progress(visit: OwnerVisit, { entries, counted, until }: UsageBehind): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const share = `${format.number(Math.floor((counted * 100) / entries))}\u00a0%`;
  const text = html`${words.counting} ${words.soFar(share, until === undefined ? until : format.time(until))}`;
  return html`${message('done', text)}
<p><a href="${visit.path}${chargeQueryText(visit)}">${words.again}</a></p>`;
}

function readGrouping({ query }: OwnerVisit, owners: readonly KeyOwner[]): UsageView['by'] {
  return listGroups(owners).find((group) => group === query.get('by')) ?? 'day';
}

function listGroups(owners: readonly KeyOwner[]): readonly UsageView['by'][] {
  return owners.length > 0 ? [...USAGE_GROUPS, 'member'] : USAGE_GROUPS;
}

export const usageCsv = page({
  path: '/account/usage.csv',
  who: 'account',
  isFile: true,
  async get(visit) {
    const keys = await listVisibleKeys(visit);
    const owners = await readKeyOwners(visit, keys);
    const by = readGrouping(visit, owners);
    const report = await countedUsage(visit, by, owners);
    // A file cannot say that it is incomplete.
    if (report.behind) throw fault('still_counting', { retryAfterS: AGAIN_S });
    const words = WORDS[visit.language];
    const names = new Map(keys.map((key) => [key.id, keyName(key)]));
    const more = by === 'key' ? words.csvMore : words.csvMore.slice(0, 1);
    const head = [words.csvHead[by], ...words.csvSums, ...nameUnits(visit.language), ...more];
    return createCsv(visit.language, `usage-${visit.account.id}.csv`, {
      head,
      rows: listCsvRows(visit, report, { by, names }),
    });
  },
});

interface CsvParts {
  readonly by: UsageView['by'];
  /** Of keys. */
  readonly names: ReadonlyMap<string, string>;
}

/** In Russian the last row is the total; in English programs add the rows up. */
async function* listCsvRows(
  visit: OwnerVisit,
  { rows, total }: UsageReport,
  { by, names }: CsvParts,
): AsyncGenerator<readonly Cell[]> {
  const { kinds } = chargeWords(visit);
  const sums = (name: Cell, { calls, charged, refunded, failed, units }: UsageSum): readonly Cell[] => {
    const counts = USAGE_UNITS.map((unit) => units[unit]);
    return [name, calls, { rub: charged }, { rub: refunded }, ...counts, failed];
  };
  for (const { group, ...row } of rows) {
    const name = by === 'kind' && visit.language === 'ru' ? kinds[group as keyof typeof kinds] : group;
    yield by === 'key' ? [...sums(name, row), names.get(group) ?? ''] : sums(name, row);
  }
  if (visit.language !== 'ru') return;
  yield by === 'key' ? [...sums(WORDS[visit.language].total, total), ''] : sums(WORDS[visit.language].total, total);
}
