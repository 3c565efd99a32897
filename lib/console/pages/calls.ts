// The calls of an account: a list with filters, the same as CSV, and each call with its price calculation.
import { fault } from '../../base/faults.ts';
import { readChargeId } from '../../calls/charge-id.ts';
import type { Charge } from '../../money/decide.ts';
import { compareMicro } from '../../money/money.ts';
import { formatMoment } from '../../money/period.ts';
import { USAGE_UNITS } from '../../money/usage-units.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import type { ChargeFilter } from '../../store/ports/ledger.ts';
import { walkFrom } from '../../store/walks.ts';
import { archivedNote } from '../archived-note.ts';
import { chargeFilterForm, chargeQueryText, countFilters, keyName, readChargeQuery } from '../charge-query.ts';
import { type FoundCharges, searchCharges } from '../charge-search.ts';
import { field } from '../components.ts';
import { type Cell, createCsv } from '../csv.ts';
import { type Html, html } from '../html.ts';
import { findKeyOwner, type KeyOwner, readKeyOwners } from '../key-owners.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { isVisibleKey, listVisibleKeys } from '../visible-keys.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { chargeTable, chargeWords, describeState, isRunning, netCharged } from './charge-table.ts';
import { nameUnits } from './usage-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Calls',
    find: 'Find by request ID',
    none: 'No calls match.',
    noCharge:
      'No charge has this ID. Requests refused before they start (400, 401, 402, 403, 429) are not listed here.',
    refused: 'Refused requests',
    all: 'Show all calls',
    never: 'This account has not made any calls yet.',
    ownNever: (days: number) => `You have not made any calls in the last ${days} days.`,
    begin: 'Make one in the playground',
    older: 'Older calls',
    byPrice: 'Most expensive first',
    byTime: 'Newest first',
    priced: (shown: string, count: string) => `The ${shown} most expensive of the newest ${count} calls.`,
    further: (time: string) => `Searched back to ${time}. Continue`,
    whole: 'search everything',
    slow: '(it may take some seconds)',
    csv: 'Download CSV',
    head: ['time', 'request_id', 'key_id', 'key', 'kind', 'model', 'state', 'held_rub', 'charged_rub'],
    more: ['member'],
  },
  ru: {
    title: 'Запросы',
    find: 'Найти по ID запроса',
    none: 'Таких запросов нет.',
    noCharge: 'Списания с таким ID нет. Запросы, отклонённые до начала (400, 401, 402, 403, 429), сюда не попадают.',
    refused: 'Отклонённые запросы',
    all: 'Показать все запросы',
    never: 'В этом аккаунте ещё не было запросов.',
    ownNever: (days: number) => `За последние ${days} дней ваших запросов не было.`,
    begin: 'Отправьте запрос в разделе «Попробовать»',
    older: 'Более ранние запросы',
    byPrice: 'Сначала дорогие',
    byTime: 'Сначала новые',
    priced: (shown: string, count: string) => `Самые дорогие запросы: ${shown} из последних ${count}.`,
    further: (time: string) => `Просмотрено до ${time}. Искать дальше`,
    whole: 'искать по всем',
    slow: '(это может занять несколько секунд)',
    csv: 'Скачать CSV',
    head: ['время', 'запрос', 'id_ключа', 'ключ', 'тип', 'модель', 'статус', 'резерв_руб', 'списано_руб'],
    more: ['участник'],
  },
});

const PER_PAGE = 50;
/** The most expensive are looked for among so many: reading them takes some 20 ms. */
const PRICED_MAX = 2000;
const PER_READ = 500;
const OWN_DAYS = 30;

export const calls = page({
  path: '/account/calls',
  who: 'account',
  async get(visit) {
    const { account, query, services, signedIn } = visit;
    const words = WORDS[visit.language];
    const id = query.get('id')?.trim() ?? '';
    const exact = await findOwnCharge(visit, id === '' ? null : readChargeId(id));
    if (exact) return { to: linkTo(visit, `/account/calls/${encodeURIComponent(exact.id)}`) };
    const selection = readChargeQuery(visit, range(visit));
    const isWhole = query.get('whole') === 'yes';
    if (isWhole) await services.visitLimit.hit('file', signedIn.user.id);
    const before = await findOwnCharge(visit, query.get('before'));
    const part = { upTo: readUpTo(visit), before: before?.id, isWhole };
    const isByPrice = query.get('sort') === 'price';
    const limit = isByPrice ? PRICED_MAX : PER_PAGE;
    const [found, keys] = await Promise.all([
      searchCharges(services.store.ledger, account.id, { limit, filter: selection.filter, ...part }),
      listVisibleKeys(visit),
    ]);
    const owners = await readKeyOwners(visit, keys);
    const charges = isByPrice ? found.charges.toSorted(byPrice).slice(0, PER_PAGE) : found.charges;
    const { kinds, states } = chargeWords(visit);
    const last = charges.length === PER_PAGE && !isByPrice ? charges.at(-1) : undefined;
    const older = last && `${visit.path}${chargeQueryText(visit, { before: last.id, upTo: found.upTo })}`;
    const csv = `/account/calls.csv${chargeQueryText(visit, { before: undefined, upTo: undefined, whole: undefined, sort: undefined })}`;
    const body = html`${chargeFilterForm(visit, selection, { keys, owners, kinds, states, more: html`${isByPrice && html`<input type="hidden" name="sort" value="price">`}${field({ name: 'id', label: words.find, value: id, optional: true })}` })}
${
  charges.length === 0 || id !== ''
    ? id === '' && found.rest
      ? undefined
      : emptyList(visit, id === '' ? (before !== undefined || countFilters(visit) > 0) && 'none' : 'noCharge')
    : html`${sortLinks(visit, found.charges.length)}
<section id="list"${charges.some(isRunning) && html` data-again`}>${chargeTable(visit, charges, { keys, owners, href: (each) => linkTo(visit, `/account/calls/${encodeURIComponent(each)}`) })}</section>
<p>${older && html`<a href="${older}" rel="next">${words.older}</a> · `}<a href="${csv}" download>${words.csv}</a></p>`
}
${found.rest && furtherLinks(visit, found.rest)}
<p><a href="${linkTo(visit, '/account/calls/refused')}">${words.refused}</a></p>
${await archivedNote(visit)}`;
    return { title: words.title, body };
  },
});

function byPrice(one: Charge, other: Charge): number {
  return compareMicro(netCharged(one), netCharged(other)) || other.createdAt - one.createdAt;
}

/** Leads to the other order, and says what the most expensive were looked for in, if there may be more. */
function sortLinks(visit: OwnerVisit, searched: number): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const isByPrice = visit.query.get('sort') === 'price';
  const sort = isByPrice ? undefined : 'price';
  const href = `${visit.path}${chargeQueryText(visit, { sort, before: undefined, upTo: undefined })}`;
  const isPart = isByPrice && searched > PER_PAGE;
  return html`<p>${isPart && html`${words.priced(format.number(PER_PAGE), format.number(searched))} `}<a href="${href}">${isByPrice ? words.byTime : words.byPrice}</a></p>`;
}

/** The entry that a search by parts goes on at. */
export function readUpTo({ query }: OwnerVisit): number | undefined {
  const text = query.get('upTo') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function furtherLinks(visit: OwnerVisit, { upTo, at }: NonNullable<FoundCharges['rest']>): Html {
  const words = WORDS[visit.language];
  const link = (more: Readonly<Record<string, string | undefined>>) =>
    `${visit.path}${chargeQueryText(visit, { before: undefined, ...more })}`;
  return html`<p><a href="${link({ upTo: `${upTo}` })}">${words.further(visit.format.time(at))}</a> ·
<a href="${link({ upTo: undefined, whole: 'yes' })}">${words.whole}</a> ${words.slow}</p>`;
}

/** A member's few calls may lie anywhere among those of others, which are all read to find them. */
function range({ ownKeys }: OwnerVisit): { readonly days?: number } {
  return ownKeys ? { days: OWN_DAYS } : {};
}

/** Says why the list is empty and links to where to go from there. */
function emptyList(visit: OwnerVisit, reason: 'none' | 'noCharge' | false): Html {
  const words = WORDS[visit.language];
  if (reason) return html`<p>${words[reason]} <a href="${linkTo(visit, visit.path)}">${words.all}</a></p>`;
  const never = visit.ownKeys ? words.ownNever(OWN_DAYS) : words.never;
  return html`<p>${never} <a href="${linkTo(visit, '/account/playground')}">${words.begin}</a></p>`;
}

export const callsCsv = page({
  path: '/account/calls.csv',
  who: 'account',
  isFile: true,
  async get(visit) {
    const { language } = visit;
    const words = WORDS[language];
    const head = [...words.head, ...nameUnits(language), ...words.more];
    const keys = await listVisibleKeys(visit);
    const owners = await readKeyOwners(visit, keys);
    const rows = listCsvRows(visit, readChargeQuery(visit, range(visit)).filter, { keys, owners });
    return createCsv(visit.language, `calls-${visit.account.id}.csv`, { head, rows });
  },
});

async function* listCsvRows(
  visit: OwnerVisit,
  filter: ChargeFilter,
  { keys, owners }: { readonly keys: readonly KeyRow[]; readonly owners: readonly KeyOwner[] },
): AsyncGenerator<readonly Cell[]> {
  const { services, account } = visit;
  const named = new Map(keys.map((key) => [key.id, [keyName(key), findKeyOwner(owners, key.id) ?? ''] as const]));
  const { ledger } = services.store;
  const read = (last?: Charge) => ledger.charges(account.id, { limit: PER_READ, filter, before: last?.id });
  for await (const page of walkFrom(PER_READ, read)) {
    for (const charge of page) yield toCsvRow(visit, charge, named.get(charge.key));
  }
}

/** In Russian for people and their spreadsheets; in English as the API has it. */
function toCsvRow(
  visit: OwnerVisit,
  charge: Charge,
  [keyTitle, email]: readonly [string, string] = ['', ''],
): readonly Cell[] {
  const { id, createdAt, key, kind, model, state, reserved, usage } = charge;
  const isPlain = visit.language === 'en';
  const counts: Readonly<Record<string, unknown>> = usage === null ? {} : JSON.parse(usage);
  return [
    isPlain ? formatMoment(createdAt, visit.zone) : { at: createdAt, zone: visit.zone },
    id,
    key,
    keyTitle,
    isPlain ? kind : chargeWords(visit).kinds[kind],
    model,
    isPlain ? state : describeState(visit, charge),
    { rub: reserved },
    { rub: netCharged(charge) },
    ...USAGE_UNITS.map((unit) => (typeof counts[unit] === 'number' ? counts[unit] : '')),
    email,
  ];
}

/** A call of this account only, and with a key that the visitor sees. */
async function findOwnCharge(visit: OwnerVisit, id: string | null): Promise<Charge | undefined> {
  if (id === null || id.length > 200) return undefined;
  const charge = await visit.services.store.ledger.charge(id);
  return charge?.wallet === visit.account.id && isVisibleKey(visit, charge.key) ? charge : undefined;
}

/** The call of the page's path. */
export async function findRequestedCharge(visit: OwnerVisit): Promise<Charge> {
  const charge = await findOwnCharge(visit, String(visit.request.params.id));
  if (!charge) throw fault('not_found');
  return charge;
}
