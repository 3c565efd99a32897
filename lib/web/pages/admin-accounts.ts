// All accounts for an operator: find one or create one.
import { OperatorError } from '../../operator-error.ts';
import { audit } from '../audit.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Page, page } from '../page.ts';
import { field, form, message, table } from '../parts.ts';
import { codeField } from '../proof.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Accounts',
    search: 'Search by name or id',
    find: 'Search',
    caption: 'Accounts',
    name: 'Name',
    id: 'Id',
    status: 'Status',
    created: 'Created',
    active: 'active',
    suspended: 'suspended',
    none: 'No account matches.',
    more: (count: number) => `${count} more match: search for something narrower.`,
    make: 'New account',
    makeButton: 'Create',
    badName: 'A name has 1 to 100 characters, without control characters.',
  },
  ru: {
    title: 'Аккаунты',
    search: 'Поиск по названию или номеру',
    find: 'Найти',
    caption: 'Аккаунты',
    name: 'Название',
    id: 'Номер',
    status: 'Состояние',
    created: 'Создан',
    active: 'действует',
    suspended: 'приостановлен',
    none: 'Таких аккаунтов нет.',
    more: (count: number) => `Подходят ещё ${count}: уточните запрос.`,
    make: 'Новый аккаунт',
    makeButton: 'Создать',
    badName: 'Название: от 1 до 100 символов без управляющих знаков.',
  },
});

const SHOWN = 100;

export const adminAccounts = page({
  path: '/admin/accounts',
  who: 'operator',
  get: (visit) => accountsPage(visit),
  async post(visit, sent) {
    try {
      const { id, name } = await visit.services.accounts.create(sent.text('name'));
      await audit(visit, { action: 'account.create', target: id, account: id, detail: { name } });
      return { to: `/admin/accounts/${id}` };
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      return { ...(await accountsPage(visit, sent.text('name'))), status: 400 };
    }
  },
});

async function accountsPage(visit: UserVisit, badName?: string): Promise<Page> {
  const words = WORDS[visit.language];
  const { query, services, format } = visit;
  const wanted = (query.get('q') ?? '').trim().toLowerCase();
  const all = await services.store.accounts.list();
  const found = all.filter(({ id, name }) => id.includes(wanted) || name.toLowerCase().includes(wanted)).reverse();
  const columns = [words.name, words.id, words.status, words.created].map((title) => ({ title }));
  const rows = found
    .slice(0, SHOWN)
    .map(({ id, name, status, createdAt }) => [
      html`<a href="/admin/accounts/${id}">${name}</a>`,
      html`<code>${id}</code>`,
      words[status],
      format.date(createdAt),
    ]);
  const more = found.length - rows.length;
  const error = badName === undefined ? undefined : words.badName;
  const make = form(visit, {
    action: '/admin/accounts',
    fields: html`${field({ name: 'name', label: words.name, value: badName, error })}${codeField(visit)}`,
    button: words.makeButton,
  });
  const body = html`${error !== undefined && message('error', error)}
<form method="get" action="/admin/accounts">${field({ name: 'q', label: words.search, type: 'search', value: wanted, optional: true })}
<p><button>${words.find}</button></p></form>
${rows.length === 0 ? html`<p>${words.none}</p>` : table(words.caption, columns, rows)}
${more > 0 && html`<p>${words.more(more)}</p>`}
<h2>${words.make}</h2>${make}`;
  return { title: words.title, body };
}
