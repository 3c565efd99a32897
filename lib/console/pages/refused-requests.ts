// The requests of an account that were refused before they cost anything, counted by key, reason and hour: for those who
// see its calls, and for operators.
import type { KeyRow } from '../../store/ports/keys.ts';
import type { Refusal } from '../../store/ports/refusals.ts';
import { keyName } from '../charge-query.ts';
import { shortTime, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { findKeyOwner, type KeyOwner, readKeyOwners } from '../key-owners.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { openCustomer } from './admin-account-calls.ts';

const WORDS = defineWords({
  en: {
    title: 'Refused requests',
    of: (name: string) => `Refused requests: ${name}`,
    hint: 'Requests that were answered with an error before anything was charged, by key, error and hour, for 7 days. The message is the latest one that the program received. Requests without a valid key are not listed: nobody knows whose they are.',
    none: 'No request was refused in the last 7 days.',
    cut: (rows: string) => `Only the latest ${rows} rows are shown.`,
    latest: 'Latest',
    key: 'Key',
    reason: 'Error',
    count: 'Requests',
    calls: 'Back to the calls',
    customer: 'Back to the customer',
  },
  ru: {
    title: 'Отклонённые запросы',
    of: (name: string) => `Отклонённые запросы: ${name}`,
    hint: 'Запросы, на которые сервис ответил ошибкой до списания денег, — по ключам, ошибкам и часам. Хранятся 7 дней. Показано последнее сообщение, которое получила программа (по-английски, как в API). Запросы без действующего ключа не показаны: неизвестно, чьи они.',
    none: 'За последние 7 дней отклонённых запросов не было.',
    cut: (rows: string) => `Показаны только последние ${rows} строк.`,
    latest: 'Последний',
    key: 'Ключ',
    reason: 'Ошибка',
    count: 'Запросов',
    calls: 'Назад к запросам',
    customer: 'К клиенту',
  },
});

const ROWS_MAX = 200;

export const refusedRequests = page({
  path: '/account/calls/refused',
  who: 'account',
  async get(visit) {
    const words = WORDS[visit.language];
    const keys = await listVisibleKeys(visit);
    const list = await refusalTable(visit, keys, await readKeyOwners(visit, keys));
    const body = html`<p class="hint">${words.hint}</p>
${list}
<p><a href="${linkTo(visit, '/account/calls')}">${words.calls}</a></p>`;
    return { title: words.title, body };
  },
});

export const adminRefusedRequests = page({
  path: '/admin/accounts/{id}/refused',
  who: 'operator',
  async get(operator) {
    const visit = await openCustomer(operator);
    const { account, services, language } = visit;
    const words = WORDS[language];
    const list = await refusalTable(visit, await services.store.keys.list(account.id));
    const body = html`<p><a href="/admin/accounts/${account.id}">${words.customer}</a></p>
<p class="hint">${words.hint}</p>
${list}`;
    return { title: words.of(account.name), body };
  },
});

async function refusalTable(
  visit: OwnerVisit,
  keys: readonly KeyRow[],
  owners: readonly KeyOwner[] = [],
): Promise<Html> {
  const { services, account, ownKeys, language, format } = visit;
  const words = WORDS[language];
  const found = await services.store.refusals.list(account.id, {
    limit: ROWS_MAX + 1,
    ...(ownKeys && { keys: ownKeys }),
  });
  if (found.length === 0) return html`<p>${words.none}</p>`;
  const managing = await services.store.management.listKeys(account.id);
  const byId = new Map([...keys, ...managing].map((key) => [key.id, key]));
  const name = ({ key: id }: Refusal) => {
    const key = byId.get(id);
    const owner = findKeyOwner(owners, id);
    return key ? html`${keyName(key)}${owner !== undefined && html`<br><span class="hint">${owner}</span>`}` : id;
  };
  const rows = found
    .slice(0, ROWS_MAX)
    .map((refusal) => [
      shortTime(visit, refusal.lastAt),
      name(refusal),
      html`${refusal.status} <code>${refusal.code}</code><br>${refusal.message}`,
      format.number(refusal.count),
    ]);
  const columns = [words.latest, words.key, words.reason].map((title) => ({ title }));
  return html`${table(words.title, [...columns, { title: words.count, number: true }], rows)}
${found.length > ROWS_MAX && html`<p class="hint">${words.cut(format.number(ROWS_MAX))}</p>`}`;
}
