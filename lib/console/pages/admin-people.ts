// All users for an operator, with a search by address.
import type { User } from '../../store/ports/users.ts';
import { walkPages } from '../../store/walks.ts';
import { toStoredEmail } from '../../users/people.ts';
import { field, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Users',
    search: 'Search by email or ID',
    find: 'Search',
    email: 'Email',
    role: 'Role',
    operator: 'operator',
    owner: 'owner',
    status: 'Status',
    active: 'active',
    suspended: 'suspended',
    app: 'Two-step sign-in',
    yes: 'on',
    no: 'off',
    created: 'Created',
    none: 'No users found.',
    more: (count: string) => `${count} more: narrow your search.`,
  },
  ru: {
    title: 'Пользователи',
    search: 'Поиск по почте или ID',
    find: 'Найти',
    email: 'Почта',
    role: 'Роль',
    operator: 'оператор',
    owner: 'владелец',
    status: 'Статус',
    active: 'активен',
    suspended: 'доступ приостановлен',
    app: 'Двухэтапный вход',
    yes: 'включён',
    no: 'нет',
    created: 'Создан',
    none: 'Пользователи не найдены.',
    more: (count: string) => `И ещё ${count}: уточните запрос.`,
  },
});

const SHOWN = 100;
const ROWS_PER_PAGE = 500;

export const adminPeople = page({
  path: '/admin/people',
  who: 'operator',
  async get(visit) {
    const words = WORDS[visit.language];
    const { query, format } = visit;
    const search = (query.get('q') ?? '').trim().toLowerCase();
    const { people, count } = await find(visit, toStoredEmail(search));
    const more = count - people.length;
    const body = html`<form method="get" action="/admin/people">${field({ name: 'q', label: words.search, type: 'search', value: search, optional: true })}
<p><button>${words.find}</button></p></form>
${people.length === 0 ? html`<p>${words.none}</p>` : list(visit, people)}
${more > 0 && html`<p>${words.more(format.number(more))}</p>`}`;
    return { title: words.title, body };
  },
});

/** The newest of those that match, and how many match. */
async function find({ services }: UserVisit, search: string): Promise<{ people: readonly User[]; count: number }> {
  const found: User[] = [];
  for await (const page of walkPages(ROWS_PER_PAGE, services.store.users.page, ({ id }) => id))
    found.push(...page.filter(({ id, email }) => id.includes(search) || email.includes(search)));
  found.sort((one, other) => other.createdAt - one.createdAt);
  return { people: found.slice(0, SHOWN), count: found.length };
}

function list({ language, format }: UserVisit, people: readonly User[]): Html {
  const words = WORDS[language];
  const columns = [
    { title: words.email, narrow: 'main' },
    ...[words.role, words.status].map((title) => ({ title })),
    ...[words.app, words.created].map((title) => ({ title, narrow: 'named' as const })),
  ] as const;
  const rows = people.map(({ id, email, operator, status, totpSecret, createdAt }) => [
    html`<a href="/admin/people/${id}">${email}</a>`,
    operator ? words.operator : words.owner,
    words[status],
    totpSecret === null ? words.no : words.yes,
    format.date(createdAt),
  ]);
  return table(words.title, columns, rows);
}
