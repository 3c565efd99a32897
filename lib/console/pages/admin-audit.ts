// The audit log: who changed what, newest first.

import { shortTime, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords, findWord } from '../language.ts';
import { page } from '../page.ts';
import { findUserEmails } from '../user-emails.ts';
import { detailText } from './audit-detail.ts';
import { actionText } from './audit-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Audit log',
    time: 'Time',
    who: 'Who',
    action: 'Action',
    account: 'Account',
    target: 'Object',
    address: 'IP address',
    none: 'No entries yet.',
    older: 'Older entries',
    // Stored as the user of actions on the command line.
    others: { 'command line': 'command line', '-': '—' },
  },
  ru: {
    title: 'Журнал действий',
    time: 'Время',
    who: 'Кто',
    action: 'Действие',
    account: 'Аккаунт',
    target: 'Объект',
    address: 'IP-адрес',
    none: 'Записей пока нет.',
    older: 'Более ранние записи',
    others: { 'command line': 'командная строка', '-': '—' },
  },
});

const PER_PAGE = 100;
const SHOWN_DIGITS = 8;

const IDS = /\b([a-z]+)_([0-9a-f]{16,})\b/g;

/** Pages by the prefix of an id. */
const PLACES: Readonly<Record<string, string>> = { acc: 'accounts', pay: 'payments', ntc: 'notices', usr: 'people' };

/** Shortens an id, and links it to its page if there is one. */
function renderId(name: string): Html {
  const [id, kind = '', digits = ''] = [...name.matchAll(IDS)][0] ?? [];
  if (id !== name) return html`${name}`;
  const short = html`<code title="${name}">${kind}_…${digits.slice(-SHOWN_DIGITS)}</code>`;
  return Object.hasOwn(PLACES, kind) ? html`<a href="/admin/${PLACES[kind]}/${name}">${short}</a>` : short;
}

/** Of an account that is gone, the log has the id alone. */
function renderAccount(id: string, name: string | undefined): Html {
  return name === undefined ? renderId(id) : html`<a href="/admin/accounts/${id}" title="${id}">${name}</a>`;
}

/** Shortens the ids in the text. */
function renderDetail(text: string): Html | undefined {
  const short = text.replaceAll(IDS, (_, kind, digits) => `${kind}_…${digits.slice(-SHOWN_DIGITS)}`);
  return text === '' ? undefined : html`<br><span class="hint">${short}</span>`;
}

export const adminAudit = page({
  path: '/admin/audit',
  who: 'operator',
  async get(visit) {
    const { services, query, language, format } = visit;
    const words = WORDS[language];
    const before = /^\d{1,15}$/.test(query.get('before') ?? '') ? Number(query.get('before')) : undefined;
    const { auditLog, users, accounts } = services.store;
    const found = await auditLog.page({ limit: PER_PAGE, before });
    const [people, named] = await Promise.all([
      findUserEmails(
        users,
        found.map(({ user }) => user),
      ),
      accounts.names([...new Set(found.flatMap(({ account }) => account ?? []))]),
    ]);
    const names = new Map(named.map(({ id, name }) => [id, name]));
    const titles = [words.time, words.who, words.action, words.account, words.target, words.address];
    const rows = found.map(({ at, user, action, account, target, detail, address }) => [
      shortTime(visit, at),
      people.get(user) ?? findWord(words.others, user) ?? user,
      html`<span title="${action}">${actionText(language, action)}</span>${renderDetail(detailText({ language, format }, detail))}`,
      account !== null && renderAccount(account, names.get(account)),
      target === account ? '' : renderId(target),
      address,
    ]);
    const last = found.length === PER_PAGE ? found.at(-1) : undefined;
    const body = html`${
      rows.length === 0
        ? html`<p>${words.none}</p>`
        : table(
            words.title,
            titles.map((title, at) => ({ title, narrow: at < 2 ? 'main' : at === 2 ? 'line' : 'note' })),
            rows,
          )
    }
${last && html`<p><a href="/admin/audit?before=${last.seq}" rel="next">${words.older}</a></p>`}`;
    return { title: words.title, body };
  },
});
