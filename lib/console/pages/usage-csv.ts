// The usage of an account as CSV: the rows of its page, each part of them with both of its names.
import { fault } from '../../base/faults.ts';
import { catchUpUsage } from '../../ledger/usage-fold.ts';
import { UNIT_COUNTS } from '../../money/usage-units.ts';
import type { UsageTotals } from '../../store/ports/usage.ts';
import { keyName, readChargeQuery } from '../charge-query.ts';
import { type Cell, createCsv } from '../csv.ts';
import { readKeyOwners } from '../key-owners.ts';
import { page } from '../page.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import type { OwnerVisit } from '../visit.ts';
import { chargeWords } from './charge-table.ts';
import { readUsageFigures, type UsageFigures } from './usage-explorer.ts';
import { listUsageRows } from './usage-table.ts';
import { readUsageView, type Stack, selectMember, USAGE_RANGE, type UsageView } from './usage-view.ts';
import { nameUnits, USAGE_WORDS as WORDS } from './usage-words.ts';

/** When a file that was not complete may be requested again. */
const AGAIN_S = 10;

export const usageCsv = page({
  path: '/account/usage.csv',
  who: 'account',
  isFile: true,
  async get(visit) {
    const { language, services, account } = visit;
    const words = WORDS[language];
    const [behind, keys] = await Promise.all([catchUpUsage(services.store, account.id), listVisibleKeys(visit)]);
    if (behind) {
      services.usage.foldSoon(account.id);
      // A file cannot say that it is incomplete.
      throw fault('still_counting', { retryAfterS: AGAIN_S });
    }
    const owners = await readKeyOwners(visit, keys);
    const selection = selectMember(visit, readChargeQuery(visit, USAGE_RANGE), owners);
    const asked = readUsageView(visit, selection, owners);
    const view = { ...asked, unit: asked.by === 'day' ? 'day' : 'month', isCompared: false } as const;
    const figures = await readUsageFigures(visit, view, selection, owners);
    const names = new Map(keys.map((key) => [key.id, keyName(key)]));
    const people = new Map(owners.map(({ id, name }) => [id, name || words.nobody]));
    const groups = view.split ? [view.by, view.split] : [view.by];
    const [failed = '', ...name] = words.csvMore;
    const more = groups.includes('key') ? [failed, ...name] : [failed];
    const head = [...groups.map((group) => words.csvHead[group]), ...words.csvSums, ...nameUnits(language), ...more];
    const rows = listCsvRows(visit, { view, figures, names, people });
    return createCsv(language, `usage-${account.id}.csv`, { head, rows });
  },
});

interface CsvParts {
  readonly view: UsageView;
  readonly figures: UsageFigures;
  /** Of keys. */
  readonly names: ReadonlyMap<string, string>;
  /** Emails of members. */
  readonly people: ReadonlyMap<string, string>;
}

/** In Russian the last row is the total; in English programs add the rows up. */
async function* listCsvRows(
  visit: OwnerVisit,
  { view, figures, names, people }: CsvParts,
): AsyncGenerator<readonly Cell[]> {
  const { by, split } = view;
  const isRussian = visit.language === 'ru';
  const { kinds } = chargeWords(visit);
  const nameGroup = (stack: Stack, group: string) => {
    if (stack === 'member') return people.get(group) ?? group;
    return stack === 'kind' && isRussian ? kinds[group as keyof typeof kinds] : group;
  };
  const key = (...groups: readonly (string | false)[]) =>
    by === 'key' || split === 'key' ? [groups.map((group) => (group && names.get(group)) || '').join('')] : [];
  for (const { of, total, parts } of listUsageRows(view, figures)) {
    const group = typeof of === 'string' ? of : of.day;
    const label = by === 'day' ? group : nameGroup(by, group);
    if (!split) yield [label, ...listSums(total), ...key(by === 'key' && group)];
    else
      for (const { name, total: sums } of parts)
        yield [
          label,
          nameGroup(split, name),
          ...listSums(sums),
          ...key(by === 'key' && group, split === 'key' && name),
        ];
  }
  if (isRussian) yield [WORDS.ru.total, ...(split ? [''] : []), ...listSums(figures.total), ...key()];
}

function listSums(totals: UsageTotals): readonly Cell[] {
  const { calls, charged, refunded, failed } = totals;
  return [calls, { rub: charged }, { rub: refunded }, ...UNIT_COUNTS.map((name) => totals[name]), failed];
}
