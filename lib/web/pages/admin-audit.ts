// The audit log: who changed what through a page, newest first.
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { table } from '../parts.ts';

const WORDS = defineWords({
  en: {
    title: 'Audit log',
    time: 'Time',
    who: 'Who',
    action: 'Action',
    account: 'Account',
    target: 'What',
    detail: 'Detail',
    address: 'Address',
    none: 'Nothing has been changed yet.',
    older: 'Older entries',
  },
  ru: {
    title: 'Журнал действий',
    time: 'Время',
    who: 'Кто',
    action: 'Действие',
    account: 'Аккаунт',
    target: 'Над чем',
    detail: 'Подробности',
    address: 'Адрес',
    none: 'Изменений пока не было.',
    older: 'Записи раньше',
  },
});

const PER_PAGE = 100;

export const adminAudit = page({
  path: '/admin/audit',
  who: 'operator',
  async get({ services, query, language, format }) {
    const words = WORDS[language];
    const before = /^\d{1,15}$/.test(query.get('before') ?? '') ? Number(query.get('before')) : undefined;
    const { auditLog, users } = services.store;
    const found = await auditLog.page({ limit: PER_PAGE, ...(before !== undefined && { before }) });
    const ids = [...new Set(found.map(({ user }) => user))];
    const people = new Map(await Promise.all(ids.map(async (id) => [id, await users.get(id)] as const)));
    const titles = [words.time, words.who, words.action, words.account, words.target, words.detail, words.address];
    const rows = found.map(({ at, user, action, account, target, detail, address }) => [
      ...[format.time(at), people.get(user)?.email ?? user, action],
      account !== null && html`<a href="/admin/accounts/${account}"><code>${account}</code></a>`,
      ...[target, detail === '{}' ? '' : detail, address],
    ]);
    const last = found.length === PER_PAGE ? found.at(-1) : undefined;
    const body = html`${
      rows.length === 0
        ? html`<p>${words.none}</p>`
        : table(
            words.title,
            titles.map((title) => ({ title })),
            rows,
          )
    }
${last && html`<p><a href="/admin/audit?before=${last.seq}" rel="next">${words.older}</a></p>`}`;
    return { title: words.title, body };
  },
});
