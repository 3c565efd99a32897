// The end users of a key: what each has spent of their budget. Names are stored as digests, so one is found by typing it.

import { fault } from '../../base/faults.ts';
import { digestName, endUserSumId, endUserSumIds } from '../../ledger/caps.ts';
import { type BudgetSum, getSpent } from '../../money/budget.ts';
import { findPeriod } from '../../money/period.ts';
import { definitionList, field, table } from '../components.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { linkTo } from '../visit.ts';
import { activeKey } from './key-limits.ts';

const WORDS = defineWords({
  en: {
    title: (name: string) => `End users of “${name}”`,
    text: 'End users named in the calls with this key. Instead of names, only their digests are stored: enter a name to find its row.',
    cap: 'Budget of each',
    resets: 'Resets',
    never: 'never',
    find: 'Name, as sent in calls',
    show: 'Find',
    digest: 'Digest',
    spent: 'Spent',
    left: 'Left',
    none: 'Nobody has spent anything yet.',
    unknown: 'No call has named this end user.',
    more: 'More',
    back: 'Back to the limits of the key',
  },
  ru: {
    title: (name: string) => `Пользователи ключа «${name}»`,
    text: 'Пользователи приложения, указанные в запросах с этим ключом. Вместо имён хранятся их отпечатки: введите имя, чтобы найти строку.',
    cap: 'Бюджет каждого',
    resets: 'Обновится',
    never: 'не обновляется',
    find: 'Имя, как в запросах',
    show: 'Найти',
    digest: 'Отпечаток',
    spent: 'Потрачено',
    left: 'Осталось',
    none: 'Пока никто ничего не потратил.',
    unknown: 'Запросов с таким именем не было.',
    more: 'Ещё',
    back: 'Назад к ограничениям ключа',
  },
});

const PER_PAGE = 50;
const NAME_LENGTH_MAX = 1024;

export const keyUsers = page({
  path: '/account/keys/{id}/users',
  who: 'account',
  async get(visit) {
    const { services, query, format, path, language } = visit;
    const words = WORDS[language];
    const key = await activeKey(visit);
    const { endUsers, zone } = key.limits;
    if (!endUsers) throw fault('not_found');
    const { first, after: before } = endUserSumIds(key);
    const name = (query.get('name') ?? '').slice(0, NAME_LENGTH_MAX);
    const after = `${first}${query.get('after') ?? ''}`;
    const { ledger } = services.store;
    const sums =
      name === ''
        ? await ledger.budgetPage({ after, before, limit: PER_PAGE })
        : await ledger.budgets([endUserSumId(key, name)]);
    const { start, end } = findPeriod(services.now(), { reset: endUsers.reset, zone });
    const columns = [{ title: words.digest }, ...[words.spent, words.left].map((title) => ({ title, number: true }))];
    const toCells = (sum: BudgetSum) => {
      const spent = getSpent(sum, start);
      const left = endUsers.cap > spent ? endUsers.cap - spent : 0n;
      return [html`<code class="digest">${sum.key.slice(first.length)}</code>`, format.rub(spent), format.rub(left)];
    };
    const last = name === '' && sums.length === PER_PAGE ? sums.at(-1) : undefined;
    const account = query.get('account');
    const body = html`<p>${words.text}</p>
${definitionList([
  [words.cap, format.rub(endUsers.cap)],
  [words.resets, end === null ? words.never : format.time(end)],
])}
<form method="get" action="${path}" class="filter">
${account !== null && html`<input type="hidden" name="account" value="${account}">`}
${field({ name: 'name', label: words.find, value: name, optional: true })}
<p><button>${words.show}</button></p></form>
${name !== '' && html`<p class="hint">${words.digest}: <code>${digestName(name)}</code></p>`}
${sums.length === 0 ? html`<p>${name === '' ? words.none : words.unknown}</p>` : table(words.title(key.name), columns, sums.map(toCells))}
${last && html`<p><a href="${linkTo(visit, `${path}?after=${encodeURIComponent(last.key.slice(first.length))}`)}" rel="next">${words.more}</a></p>`}
<p><a href="${linkTo(visit, `/account/keys/${encodeURIComponent(key.id)}/limits`)}">${words.back}</a></p>`;
    return { title: words.title(key.name), body };
  },
});
