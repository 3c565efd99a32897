// The frame of every page: head, sandbox banner, navigation, language and the page itself.
import { disambiguate } from './components.ts';
import { sandboxWords } from './fault-words.ts';
import { type Html, html } from './html.ts';
import { defineWords, LANGUAGE_NAMES, LANGUAGES } from './language.ts';
import { linkTo, mayVisit, type OwnerVisit, type Visit } from './visit.ts';

const WORDS = defineWords({
  en: {
    skip: 'Skip to content',
    overview: 'Overview',
    keys: 'Keys',
    wallet: 'Wallet',
    usage: 'Usage',
    calls: 'Calls',
    models: 'Models',
    playground: 'Playground',
    people: 'People',
    settings: 'Settings',
    operator: 'Operator',
    signOut: 'Sign out',
    signIn: 'Sign in',
    navigation: 'Pages',
    language: 'Language',
    notice: 'Notice',
    account: 'Account',
    switch: 'Switch',
    admin: {
      overview: 'Overview',
      accounts: 'Customers',
      calls: 'Calls',
      people: 'Users',
      payments: 'Payments',
      papers: 'Documents',
      promo: 'Promo codes',
      ledger: 'Ledger',
      catalog: 'Catalog',
      upstreams: 'Upstreams',
      notices: 'Webhooks',
      'management-keys': 'Management keys',
      alerts: 'Alerts',
      audit: 'Audit log',
      checks: 'Setup checks',
      back: 'My account',
    },
  },
  ru: {
    skip: 'Перейти к содержанию',
    overview: 'Обзор',
    keys: 'Ключи',
    wallet: 'Кошелёк',
    usage: 'Расходы',
    calls: 'Запросы',
    models: 'Модели',
    playground: 'Попробовать',
    people: 'Участники',
    settings: 'Настройки',
    operator: 'Оператор',
    signOut: 'Выйти',
    signIn: 'Войти',
    navigation: 'Разделы',
    language: 'Язык',
    notice: 'Примечание',
    account: 'Аккаунт',
    switch: 'Перейти',
    admin: {
      overview: 'Обзор',
      accounts: 'Клиенты',
      calls: 'Запросы',
      people: 'Пользователи',
      payments: 'Платежи',
      papers: 'Документы',
      promo: 'Промокоды',
      ledger: 'Операции',
      catalog: 'Каталог',
      upstreams: 'Провайдеры',
      notices: 'Вебхуки',
      'management-keys': 'Ключи управления',
      alerts: 'Оповещения',
      audit: 'Журнал действий',
      checks: 'Проверка настроек',
      back: 'Мой аккаунт',
    },
  },
});

/** The navigation, in order; each name is the last part of the page's path. */
const ACCOUNT_PAGES = [
  'overview',
  'keys',
  'wallet',
  'usage',
  'calls',
  'models',
  'playground',
  'people',
  'settings',
] as const;
const ADMIN_PAGES = [
  'overview',
  'accounts',
  'calls',
  'people',
  'payments',
  'papers',
  'promo',
  'ledger',
  'catalog',
  'upstreams',
  'notices',
  'management-keys',
  'alerts',
  'audit',
  'checks',
] as const;

/** Pages that are reached from one of the navigation, but do not lie below it. */
const BELONGS_TO: Readonly<Record<string, string>> = {
  '/account/connect': '/account/keys',
  '/account/leave': '/account/people',
  '/account/papers': '/account/wallet',
  '/account/statement': '/account/wallet',
};

type FrameVisit = Visit & Partial<Pick<OwnerVisit, 'account' | 'accounts' | 'role'>>;

interface Content {
  readonly title: string;
  readonly body: Html;
  /** Without the navigation. */
  readonly isAlone?: boolean;
}

export function layout(visit: FrameVisit, { title, body, isAlone = false }: Content): Html {
  const words = WORDS[visit.language];
  return html`<html lang="${visit.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tollgate</title>
<link rel="stylesheet" href="/static/style.css">
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
${scriptsFor(body).map(
  (name) => html`<script type="module" src="/static/${name}"></script>
`,
)}</head>
<body>
<a class="skip" href="#content">${words.skip}</a>
${visit.services.sandbox && html`<aside class="sandbox" aria-label="${words.notice}">${sandboxWords(visit.language, visit.services)}</aside>`}
<header${visit.path.startsWith('/admin') && html` class="many"`}>
<a class="brand" href="${visit.signedIn ? linkTo(visit, '/account') : '/login'}">Tollgate</a>
${visit.signedIn && !isAlone && navigation(visit)}
<div class="aside">${accountSwitch(visit)}${languages(visit)}${visit.signedIn && signOut(visit)}</div>
</header>
<main id="content" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</body>
</html>`;
}

/** Each script with the markup that needs it. */
const SCRIPTS = [
  ['data-copy', 'copy.js'],
  ['data-confirm', 'confirm.js'],
  ['data-again', 'live.js'],
  ['class="chart"', 'chart.js'],
  ['id="play"', 'playground.js'],
] as const;

function scriptsFor({ text }: Html): readonly string[] {
  return SCRIPTS.filter(([mark]) => text.includes(mark)).map(([, name]) => name);
}

function navigation(visit: FrameVisit): Html {
  const words = WORDS[visit.language];
  const isAdmin = visit.path.startsWith('/admin');
  const links = isAdmin
    ? ADMIN_PAGES.map((name) => [words.admin[name], name === 'overview' ? '/admin' : `/admin/${name}`] as const)
    : listAccountPages(visit).map(([name, path]) => [words[name], path] as const);
  const across = isAdmin ? ([words.admin.back, '/account'] as const) : ([words.operator, '/admin'] as const);
  const all = visit.signedIn?.user.operator ? [...links, across] : links;
  const here = all.find(([, path]) => isAt(visit, path))?.[0];
  return html`<nav aria-label="${words.navigation}"><details class="fold"><summary>${here === undefined ? words.navigation : `${words.navigation}: ${here}`}</summary>
<ul>${all.map(([name, path]) => item(visit, name, path))}</ul></details></nav>`;
}

function isAt(visit: Visit, path: string): boolean {
  const here = Object.entries(BELONGS_TO).find(([page]) => isBelow(visit.path, page))?.[1] ?? visit.path;
  return here === path || (path.split('/').length > 2 && isBelow(here, path));
}

function isBelow(path: string, page: string): boolean {
  return path === page || path.startsWith(`${page}/`);
}

/** Those that the visitor's role includes; on pages of no account all. */
function listAccountPages({ role }: FrameVisit) {
  const pages = ACCOUNT_PAGES.map((name) => {
    const path = name === 'overview' ? ('/account' as const) : (`/account/${name}` as const);
    return [name, path] as const;
  });
  return pages.filter(([, path]) => role === undefined || mayVisit({ role }, path));
}

function item(visit: Visit, name: string, path: string): Html {
  const current = isAt(visit, path) ? html` aria-current="page"` : undefined;
  return html`<li><a href="${linkTo(visit, path)}"${current}>${name}</a></li>`;
}

/** For people with several accounts. */
function accountSwitch({ account, accounts = [], language, path }: FrameVisit): Html | undefined {
  if (accounts.length < 2) return undefined;
  const words = WORDS[language];
  const named = disambiguate(accounts.map(({ id, name }) => [id, name]));
  const options = named.map(([id, name]) => {
    const selected = id === account?.id ? html` selected` : undefined;
    return html`<option value="${id}"${selected}>${name}</option>`;
  });
  return html`<form method="get" action="${findSection(path)}" class="switch">
<label>${words.account} <select name="account">${options}</select></label> <button class="quiet">${words.switch}</button></form>`;
}

/** What one account has, such as a key, another has not. */
function findSection(path: string): string {
  return path.split('/').slice(0, 3).join('/');
}

function languages(visit: Visit): Html {
  const links = LANGUAGES.map((language) => {
    const query = new URLSearchParams(visit.query);
    query.set('lang', language);
    const current = language === visit.language ? html` aria-current="true"` : undefined;
    return html`<a href="${visit.path}?${query.toString()}" lang="${language}" hreflang="${language}"${current}>${LANGUAGE_NAMES[language]}</a> `;
  });
  return html`<span class="languages" role="group" aria-label="${WORDS[visit.language].language}">${links}</span>`;
}

function signOut({ csrf, language }: Visit): Html {
  return html`<form method="post" action="/logout"><input type="hidden" name="csrf" value="${csrf}">
<button class="plain">${WORDS[language].signOut}</button></form>`;
}
