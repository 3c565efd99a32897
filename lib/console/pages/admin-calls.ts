// Attempts of calls of all accounts for an operator, newest first: what the figures of the start page consist of.
import { DAY_MS } from '../../base/durations.ts';
import { fault } from '../../base/faults.ts';
import { ATTEMPT_ENDINGS, type Attempt } from '../../money/attempt.ts';
import { findMoment } from '../../money/period.ts';
import type { AttemptSearch } from '../../store/ports/attempts.ts';
import { accountFilterLabel, ambiguousAccountNote, findNamedAccount, type NamedAccount } from '../account-filter.ts';
import { checkbox, field, filterBox, select, shortTime, table, usual } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { aliasNote, modelFilterField } from '../model-filter.ts';
import { page } from '../page.ts';
import type { UserVisit } from '../visit.ts';
import { attemptWords, describeEnding } from './attempt-table.ts';
import { chargeWords, netCharged } from './charge-table.ts';

const WORDS = defineWords({
  en: {
    title: 'Calls',
    about: 'Attempts at upstreams, newest first. A call that was tried again has several.',
    from: 'From',
    to: 'Until',
    model: 'Model',
    upstream: 'Upstream',
    ending: 'Ending',
    reason: 'Reason',
    faults: 'Only errors',
    all: 'all',
    show: 'Apply',
    filter: 'Filter',
    columns: ['Time', 'Account', 'Model', 'Upstream', 'Ending', 'Status', 'Duration', 'Charged', 'Cost'],
    seconds: (count: string) => `${count} s`,
    none: 'No attempts match.',
    older: 'Earlier attempts',
    unknown: 'unknown',
  },
  ru: {
    title: 'Запросы',
    about: 'Обращения к провайдерам, сначала новые. У запроса с повторами их несколько.',
    from: 'С',
    to: 'До',
    model: 'Модель',
    upstream: 'Провайдер',
    ending: 'Результат',
    reason: 'Причина',
    faults: 'Только ошибки',
    all: 'все',
    show: 'Показать',
    filter: 'Фильтр',
    columns: [
      'Время',
      'Аккаунт',
      'Модель',
      'Провайдер',
      'Результат',
      'Статус',
      'Длительность',
      'Списано',
      'Себестоимость',
    ],
    seconds: (count: string) => `${count}\u00a0с`,
    none: 'Таких обращений нет.',
    older: 'Более ранние обращения',
    unknown: 'неизвестно',
  },
});

const PER_PAGE = 50;
const TEXT_MAX = 200;

export const adminCalls = page({
  path: '/admin/calls',
  who: 'operator',
  async get(visit) {
    const { services, language } = visit;
    const words = WORDS[language];
    const typed = readText(visit, 'account') ?? '';
    const account = await findNamedAccount(services.store, typed);
    const search = readSearch(visit, account);
    const found = await services.store.attempts.search(search);
    const last = found.length === PER_PAGE ? found.at(-1) : undefined;
    const body = html`<p>${words.about}</p>
${filterForm(visit, search)}
${ambiguousAccountNote(language, typed, account)}
${aliasNote(visit, search.model)}
${found.length === 0 ? html`<p>${words.none}</p>` : await attemptList(visit, found)}
${last && html`<p><a href="${linkToOlder(visit, last)}" rel="next">${words.older}</a></p>`}`;
    return { title: words.title, body };
  },
});

/** The last 24 hours if no time is given. */
function readSearch(visit: UserVisit, account: NamedAccount | undefined): AttemptSearch {
  const { query, services, signedIn } = visit;
  const { timeZone } = signedIn.user;
  const text = (name: string) => readText(visit, name);
  const ending = ATTEMPT_ENDINGS.find((name) => name === query.get('ending'));
  const values = {
    wallet: account?.id,
    model: text('model'),
    upstream: text('upstream'),
    reason: text('reason'),
    ending,
  };
  const named = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  const before = readPosition(query.get('before'));
  return {
    from: readWallTime(query.get('from'), timeZone) ?? services.now() - DAY_MS,
    to: readWallTime(query.get('to'), timeZone) ?? services.now() + DAY_MS,
    limit: PER_PAGE,
    ...named,
    ...(query.get('faults') === 'yes' && { isFault: true }),
    ...(before && { before }),
  };
}

function readText({ query }: UserVisit, name: string): string | undefined {
  return query.get(name)?.trim().slice(0, TEXT_MAX) || undefined;
}

/** Reads `2026-11-26T09:00`, as browsers send it. */
function readWallTime(text: string | null, zone: string): number | undefined {
  const at = /^[12]\d{3}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text ?? '') ? Date.parse(`${text}Z`) : Number.NaN;
  return Number.isNaN(at) ? undefined : findMoment(at, zone);
}

function readPosition(text: string | null): AttemptSearch['before'] {
  if (text === null) return undefined;
  const [at, number, charge = ''] = text.split(' ', 3);
  const position = { at: Number(at), number: Number(number), charge };
  if (Number.isSafeInteger(position.at) && Number.isSafeInteger(position.number)) return position;
  throw fault('not_found');
}

function linkToOlder({ query, path }: UserVisit, { at, number, charge }: Attempt): string {
  const more = new URLSearchParams(query);
  more.set('before', `${at} ${number} ${charge}`);
  more.delete('lang');
  return `${path}?${more}`;
}

function filterForm(visit: UserVisit, search: AttemptSearch): Html {
  const { query, services } = visit;
  const words = WORDS[visit.language];
  const { endings } = attemptWords(visit);
  const upstreams = services.upstreams().map(({ upstream }) => [upstream, upstream] as const);
  const time = (name: string, label: string) => html`<p class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="datetime-local" value="${query.get(name) ?? ''}"></p>`;
  const box = html`<form method="get" action="/admin/calls" class="filter" aria-label="${words.filter}">
${time('from', words.from)}
${time('to', words.to)}
${field({ name: 'account', label: accountFilterLabel(visit.language), value: readText(visit, 'account'), optional: true })}
${modelFilterField(visit, words.model, search.model)}
${select({ name: 'upstream', label: words.upstream, all: words.all, chosen: search.upstream }, upstreams)}
${select(
  { name: 'ending', label: words.ending, all: words.all, chosen: search.ending },
  ATTEMPT_ENDINGS.map((ending) => [ending, endings[ending]]),
)}
${field({ name: 'reason', label: words.reason, value: search.reason, optional: true })}
${checkbox({ name: 'faults', label: words.faults, checked: search.isFault === true })}
<p><button>${words.show}</button></p>
</form>`;
  return filterBox(words.filter, box);
}

async function attemptList(visit: UserVisit, attempts: readonly Attempt[]): Promise<Html> {
  const { services, language, format } = visit;
  const words = WORDS[language];
  const { certainties } = attemptWords(visit);
  const { states } = chargeWords(visit);
  const { ledger, accounts } = services.store;
  const calls = [...new Set(attempts.map(({ charge }) => charge))];
  const [found, owners] = await Promise.all([
    Promise.all(calls.map(async (id) => [id, await ledger.charge(id)] as const)),
    accounts.names([...new Set(attempts.map(({ wallet }) => wallet))]),
  ]);
  const charges = new Map(found);
  const names = new Map(owners.map(({ id, name }) => [id, name]));
  const rows = attempts.map((attempt) => {
    const { charge: id, wallet, at, model, upstream, ending, totalMs, cost, certainty, last } = attempt;
    const charge = charges.get(id);
    const isPossible = certainty === 'possible';
    const end = describeEnding(visit, attempt);
    return [
      html`<a href="/admin/ledger?id=${encodeURIComponent(id)}">${shortTime(visit, at)}</a>`,
      html`<a href="/admin/accounts/${wallet}">${names.get(wallet) ?? wallet}</a>`,
      model,
      upstream ?? words.unknown,
      ending === 'answered' ? usual(end) : end,
      charge && (charge.state === 'settled' ? usual(states.settled) : states[charge.state]),
      words.seconds(format.number(Math.round(totalMs / 100) / 10)),
      charge && last ? format.rub(netCharged(charge)) : '',
      cost ? `${format.rub(cost.costRub)}${isPossible ? ` (${certainties.possible})` : ''}` : usual(words.unknown),
    ];
  });
  const places: Readonly<Record<number, 'main' | 'sum' | 'named'>> = { 0: 'main', 1: 'main', 7: 'sum', 8: 'named' };
  const columns = words.columns.map((title, at) => {
    const narrow = places[at];
    return { title, ...(at > 5 && { number: true }), ...(narrow && { narrow }) };
  });
  return table(words.title, columns, rows);
}
