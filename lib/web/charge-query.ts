// Which calls a page shows: the range (UTC days) and filters of its URL, as links and forms carry them on.
import { CHARGE_KINDS, CHARGE_STATES, type ChargeKind, type ChargeState } from '../money/decide.ts';
import type { ChargeFilter } from '../store/ports/ledger.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import { field } from './parts.ts';
import type { OwnerVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    from: 'From (UTC)',
    to: 'To, inclusive',
    key: 'Key',
    model: 'Model',
    kind: 'Kind',
    state: 'State',
    all: 'all',
    show: 'Show',
    filter: 'Filter',
  },
  ru: {
    from: 'С дня (UTC)',
    to: 'По этот день',
    key: 'Ключ',
    model: 'Модель',
    kind: 'Вид',
    state: 'Состояние',
    all: 'все',
    show: 'Показать',
    filter: 'Отбор',
  },
});

/** As the URL has it, without values that are not a day, kind or state. */
export interface ChargeQuery {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly filter: ChargeFilter;
}

const DAY_MS = 24 * 3600 * 1000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const ID_LENGTH_MAX = 200;

/** Without a range, the last days: no page walks years of the journal by itself. */
export function readChargeQuery({ query, services }: OwnerVisit, daysByDefault?: number): ChargeQuery {
  const today = dayOf(services.now());
  const from = readDay(query.get('from')) ?? (daysByDefault && dayOf(services.now() - (daysByDefault - 1) * DAY_MS));
  const to = readDay(query.get('to')) ?? (daysByDefault === undefined ? undefined : today);
  const [key, model] = [readId(query.get('key')), readId(query.get('model'))];
  const kind = CHARGE_KINDS.find((name) => name === query.get('kind'));
  const state = CHARGE_STATES.find((name) => name === query.get('state'));
  const filter = {
    ...(from && { from: Date.parse(from) }),
    ...(to && { to: Date.parse(to) + DAY_MS }),
    ...(key && { key }),
    ...(model && { model }),
    ...(kind && { kind }),
    ...(state && { state }),
  };
  return { from: from || undefined, to: to || undefined, filter };
}

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function readDay(text: string | null): string | undefined {
  if (text === null || !DAY.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) || dayOf(at) !== text ? undefined : text;
}

function readId(text: string | null): string | undefined {
  return text === null || text === '' || text.length > ID_LENGTH_MAX ? undefined : text;
}

/** The same query with some names changed; undefined drops a name. */
export function chargeQueryText(visit: OwnerVisit, more: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams(visit.query);
  query.delete('lang');
  for (const [name, value] of Object.entries(more)) {
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  }
  return query.size === 0 ? '' : `?${query}`;
}

export interface FilterChoices {
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  readonly kinds: Readonly<Record<ChargeKind, string>>;
  readonly states?: Readonly<Record<ChargeState, string>>;
  /** Extra fields of the page. */
  readonly more?: Html;
}

export function chargeFilterForm(visit: OwnerVisit, { from, to, filter }: ChargeQuery, choices: FilterChoices): Html {
  const words = WORDS[visit.language];
  const { keys, kinds, states, more } = choices;
  const account = visit.query.get('account');
  return html`<form method="get" action="${visit.path}" class="filter" aria-label="${words.filter}">
${account !== null && html`<input type="hidden" name="account" value="${account}">`}
${field({ name: 'from', label: words.from, type: 'date', value: from, optional: true })}
${field({ name: 'to', label: words.to, type: 'date', value: to, optional: true })}
${select(
  { name: 'key', label: words.key, all: words.all, chosen: filter.key },
  keys.map(({ id, name }) => [id, name]),
)}
${field({ name: 'model', label: words.model, value: filter.model, optional: true })}
${select({ name: 'kind', label: words.kind, all: words.all, chosen: filter.kind }, Object.entries(kinds))}
${states && select({ name: 'state', label: words.state, all: words.all, chosen: filter.state }, Object.entries(states))}
${more}
<p><button>${words.show}</button></p>
</form>`;
}

export interface Select {
  readonly name: string;
  readonly label: string;
  /** The label of the empty choice; absent: a choice is required. */
  readonly all?: string;
  readonly chosen: string | undefined;
}

export function select(
  { name, label, all, chosen }: Select,
  options: readonly (readonly [value: string, text: string])[],
): Html {
  const items = options.map(([value, text]) => {
    const selected = value === chosen && html` selected`;
    return html`<option value="${value}"${selected}>${text}</option>`;
  });
  return html`<p class="field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${all !== undefined && html`<option value="">${all}</option>`}${items}</select></p>`;
}
