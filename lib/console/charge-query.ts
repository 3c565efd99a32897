// The range (days of the account's time zone) and filters of a list of calls: read from the URL, kept in links and forms.
import { addDays, findDayStart, findDayStartHour, findHourDay, formatDay, parseDay } from '../money/days.ts';
import { CHARGE_KINDS, CHARGE_STATES, type ChargeKind, type ChargeState } from '../money/decide.ts';
import type { KeyRow } from '../store/ports/keys.ts';
import type { ChargeFilter } from '../store/ports/ledger.ts';
import { field, filterBox, select } from './components.ts';
import { type Html, html } from './html.ts';
import { findKeyOwner, type KeyOwner } from './key-owners.ts';
import { defineWords } from './language.ts';
import { dropEarlierEnded } from './latest-keys.ts';
import { aliasNote, modelFilterField } from './model-filter.ts';
import type { OwnerVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    from: 'From',
    to: 'To',
    zone: (zone: string) => `Time zone: ${zone}. Both days are included.`,
    key: 'Key',
    model: 'Model',
    kind: 'Type',
    state: 'Status',
    all: 'all',
    show: 'Apply',
    filter: 'Filter',
    set: (count: number) => (count === 0 ? 'Filter' : `Filter (${count})`),
  },
  ru: {
    from: 'С',
    to: 'По (включительно)',
    zone: (zone: string) => `Часовой пояс: ${zone}.`,
    key: 'Ключ',
    model: 'Модель',
    kind: 'Тип',
    state: 'Статус',
    all: 'все',
    show: 'Показать',
    filter: 'Фильтр',
    set: (count: number) => (count === 0 ? 'Фильтр' : `Фильтр: ${count}`),
  },
});

/** Read from the URL; invalid values are ignored. */
export interface ChargeQuery {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly filter: ChargeFilter;
}

const ID_LENGTH_MAX = 200;

interface RangeOptions {
  /** The default range in days, up to the last one; without one the whole journal would be scanned. */
  readonly days?: number;
  /** Starts days at whole hours, because usage is summed by the hour. */
  readonly byHours?: boolean;
}

export function readChargeQuery(
  { query, services, zone, ownKeys }: OwnerVisit,
  { days, byHours = false }: RangeOptions = {},
): ChargeQuery {
  const today = (byHours ? findHourDay : formatDay)(services.now(), zone);
  const until = parseDay(query.get('to') ?? '') ?? (days === undefined ? undefined : today);
  const from = parseDay(query.get('from') ?? '') ?? (days && until && addDays(until, 1 - days));
  // The last day is at least the first one.
  const to = from && until && until < from ? from : until;
  const start = byHours ? findDayStartHour : findDayStart;
  const key = readId(query.get('key'));
  const model = readId(query.get('model'));
  const kind = CHARGE_KINDS.find((name) => name === query.get('kind'));
  const state = CHARGE_STATES.find((name) => name === query.get('state'));
  const filter = {
    from: from ? start(from, zone) : undefined,
    to: to ? start(addDays(to, 1), zone) : undefined,
    key,
    ...(ownKeys && { keys: ownKeys }),
    model,
    kind,
    state,
  };
  return { from: from || undefined, to: to || undefined, filter };
}

function readId(text: string | null): string | undefined {
  return text === null || text === '' || text.length > ID_LENGTH_MAX ? undefined : text;
}

/** The same query with some names changed; undefined drops a name. */
export function chargeQueryText(
  visit: OwnerVisit,
  more: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const query = new URLSearchParams(visit.query);
  query.delete('lang');
  for (const [name, value] of Object.entries(more)) {
    if (value === undefined) query.delete(name);
    else query.set(name, `${value}`);
  }
  return query.size === 0 ? '' : `?${query}`;
}

export type KeyName = Pick<KeyRow, 'id' | 'name' | 'last4'>;

/** Names of keys are not unique. */
export function keyName({ name, last4 }: Pick<KeyRow, 'name' | 'last4'>): string {
  return `${name} (…${last4})`;
}

/** The same with the email of whoever issued the key, where the visitor sees keys of several people. */
export function fullKeyName(key: KeyRow, owners: readonly KeyOwner[] = []): string {
  const email = findKeyOwner(owners, key.id);
  return email === undefined ? keyName(key) : `${keyName(key)}, ${email}`;
}

interface FilterChoices {
  readonly keys: readonly KeyRow[];
  readonly owners?: readonly KeyOwner[];
  readonly kinds: Readonly<Record<ChargeKind, string>>;
  readonly states?: Readonly<Record<ChargeState, string>>;
  /** Extra fields of the page. */
  readonly more?: Html;
}

const FILTERS = ['from', 'to', 'key', 'model', 'kind', 'state'];

/** How many the visitor has set, beside what the page sets by itself. */
export function countFilters({ query }: OwnerVisit): number {
  return FILTERS.filter((name) => (query.get(name) ?? '') !== '').length;
}

export function chargeFilterForm(visit: OwnerVisit, { from, to, filter }: ChargeQuery, choices: FilterChoices): Html {
  const words = WORDS[visit.language];
  const { keys, owners, kinds, states, more } = choices;
  const account = visit.query.get('account');
  const count = countFilters(visit);
  const box = html`<form method="get" action="${visit.path}" class="filter" aria-label="${words.filter}">
${account !== null && html`<input type="hidden" name="account" value="${account}">`}
${field({ name: 'from', label: words.from, type: 'date', value: from, optional: true })}
${field({ name: 'to', label: words.to, type: 'date', value: to, optional: true })}
${select(
  { name: 'key', label: words.key, all: words.all, chosen: filter.key },
  dropEarlierEnded(visit, keys, filter.key).map((key) => [key.id, fullKeyName(key, owners)]),
)}
${modelFilterField(visit, words.model, filter.model)}
${select({ name: 'kind', label: words.kind, all: words.all, chosen: filter.kind }, Object.entries(kinds))}
${states && select({ name: 'state', label: words.state, all: words.all, chosen: filter.state }, Object.entries(states))}
${more}
<p><button>${words.show}</button></p>
</form>`;
  return html`${filterBox(words.set(count), box)}
${aliasNote(visit, filter.model)}
<p class="hint">${words.zone(visit.zone)}</p>`;
}
