// The operator's start page: the business at a glance, what needs a decision, and the state of the service.
import { DAY_MS } from '../../base/durations.ts';
import type { UpstreamHealth } from '../../calls/upstreams.ts';
import { type LastAudit, readLastAudit } from '../../ledger/last-audit.ts';
import { audit } from '../audit.ts';
import { catalogBar } from '../catalog-bar.ts';
import { codeField } from '../code-field.ts';
import { definitionList, form } from '../components.ts';
import { readDashboard, readDashboardRange } from '../dashboard/figures.ts';
import { readLastFaults } from '../dashboard/last-faults.ts';
import { headlines, largest, rangeLinks, revenueChart, upstreamTable } from '../dashboard/sections.ts';
import { DASHBOARD_WORDS } from '../dashboard/words.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { pausedBars } from '../paused-upstreams.ts';
import { listOwnAccounts, type UserVisit } from '../visit.ts';
import { countBankPayments } from './admin-bank.ts';
import { countPayments, OPEN_GROUPS } from './admin-payments.ts';

const WORDS = defineWords({
  en: {
    accounts: 'Accounts',
    models: 'Available models',
    gateways: 'Running processes',
    jobs: 'Videos in progress',
    reviews: 'Payments under review',
    disputes: 'Disputed payments',
    own: 'Your own account',
    ownText: 'You run this service. To make calls yourself, create an account with a wallet and keys.',
    ownButton: 'Create my account',
    service: 'Service status',
    ledger: 'Ledger',
    unverified: 'not verified yet',
    adds: (at: string) => `adds up (${at})`,
    drift: (problems: string, rub: string) => `problems: ${problems}; drift: ${rub}`,
    stuck: 'Unreleased holds',
    upstreams: 'Upstreams with problems',
    of: (some: string, all: string) => `${some} of ${all}`,
  },
  ru: {
    accounts: 'Аккаунты',
    models: 'Доступные модели',
    gateways: 'Запущено процессов',
    jobs: 'Видео в работе',
    reviews: 'Платежи на проверке',
    disputes: 'Оспоренные платежи',
    own: 'Ваш аккаунт',
    ownText: 'Вы управляете сервисом. Чтобы отправлять свои запросы, создайте аккаунт с кошельком и ключами.',
    ownButton: 'Создать аккаунт',
    service: 'Состояние сервиса',
    ledger: 'Операции',
    unverified: 'ещё не сверены',
    adds: (at: string) => `сходятся (${at})`,
    drift: (problems: string, rub: string) => `расхождений: ${problems}, на сумму ${rub}`,
    stuck: 'Незакрытые резервы',
    upstreams: 'Провайдеры со сбоями',
    of: (some: string, all: string) => `${some} из ${all}`,
  },
});

export const adminOverview = page({
  path: '/admin',
  who: 'operator',
  async get(visit) {
    const { services, signedIn, query } = visit;
    const now = services.now();
    const zone = signedIn.user.timeZone;
    const range = readDashboardRange(query, zone, now);
    const [figures, faults, paused, decisions, status, own] = await Promise.all([
      readDashboard(services, range, { now, zone }),
      readLastFaults(services.store, now),
      pausedBars(visit),
      listDecisions(visit),
      serviceStatus(visit),
      ownAccount(visit),
    ]);
    services.usage.foldAll();
    const body = html`${catalogBar(visit)}${paused}
${decisions}
${rangeLinks(visit, range)}
${headlines(visit, range, figures)}
${revenueChart(visit, range, figures)}
${upstreamTable(visit, figures, faults)}
${largest(visit, range, figures)}
${status}
${own}`;
    return { title: DASHBOARD_WORDS[visit.language].title, body };
  },
  async post(visit) {
    const { services, signedIn } = visit;
    const { user } = signedIn;
    // A double submission creates only one.
    if ((await listOwnAccounts(visit)).length > 0) return { to: '/account' };
    const { id } = await services.accounts.create(user.email.slice(0, 100));
    await services.store.users.join({ user: user.id, account: id, role: 'owner' });
    await audit(visit, { action: 'account.create', target: id, account: id, detail: { owner: user.email } });
    return { to: '/account' };
  },
});

/** What waits for the operator's decision. */
async function listDecisions(visit: UserVisit): Promise<Html> {
  const { services, language, format } = visit;
  const words = DASHBOARD_WORDS[language];
  const [reviews, disputes, refunds, bank, audited] = await Promise.all([
    countPayments(visit, OPEN_GROUPS.review),
    countPayments(visit, OPEN_GROUPS.disputed),
    countPayments(visit, OPEN_GROUPS.refunding),
    countBankPayments(visit),
    readLastAudit(services.store),
  ]);
  const upstreams = services.upstreams();
  const troubled = upstreams.filter(isTroubled).length;
  const losses = [
    ...new Set(services.catalog().losses.flatMap(({ model, outcome }) => (outcome === 'kept' ? model : []))),
  ];
  const links: readonly (readonly [path: string, text: string] | false)[] = [
    reviews !== '0' && ['/admin/payments?phase=review', words.reviews(reviews)],
    disputes !== '0' && ['/admin/payments?phase=disputed', words.disputes(disputes)],
    refunds !== '0' && ['/admin/payments?phase=refunding', words.refunds(refunds)],
    bank !== '0' && ['/admin/papers/bank', words.bank(bank)],
    losses.length > 0 && ['/admin/checks', words.losses(losses.join(', '))],
    audited !== undefined &&
      audited.problems > 0 && [
        '/admin/ledger',
        words.drift(format.number(audited.problems), format.rubExact(BigInt(audited.drift))),
      ],
    troubled > 0 && ['/admin/upstreams', words.troubled(format.number(troubled), format.number(upstreams.length))],
  ];
  const items = links.filter((link) => link !== false);
  return html`<section class="decisions" aria-label="${words.decide}"><h2>${words.decide}</h2>
${items.length === 0 ? html`<p>${words.nothing}</p>` : html`<ul>${items.map(([path, text]) => html`<li><a href="${path}">${text}</a></li>`)}</ul>`}</section>`;
}

async function serviceStatus(visit: UserVisit): Promise<Html> {
  const { services, language, format } = visit;
  const words = WORDS[language];
  const { store, catalog } = services;
  const [{ wallets }, gateways, jobs, reviews, disputes] = await Promise.all([
    store.journal.size(),
    store.gateways(),
    store.jobs.open(),
    countPayments(visit, OPEN_GROUPS.review),
    countPayments(visit, OPEN_GROUPS.disputed),
  ]);
  const stuck = await store.ledger.orphans({ now: services.now(), leaseMs: LEASE_MAX_MS, limit: STUCK_MAX });
  const upstreams = services.upstreams();
  const troubled = upstreams.filter(isTroubled).length;
  const models = catalog().models.filter(({ routes }) => routes.length > 0);
  return html`<h2>${words.service}</h2>
${definitionList([
  [words.accounts, html`<a href="/admin/accounts">${format.number(wallets)}</a>`],
  [words.models, html`<a href="/admin/catalog">${format.number(models.length)}</a>`],
  [words.gateways, format.number(gateways.length)],
  [words.jobs, format.number(jobs)],
  [words.ledger, html`<a href="/admin/ledger">${ledgerText(visit, await readLastAudit(store))}</a>`],
  [words.stuck, stuck.length < STUCK_MAX ? format.number(stuck.length) : `${format.number(STUCK_MAX)}+`],
  [
    words.upstreams,
    html`<a href="/admin/upstreams">${words.of(format.number(troubled), format.number(upstreams.length))}</a>`,
  ],
  [words.reviews, html`<a href="/admin/payments?phase=review">${reviews}</a>`],
  [words.disputes, html`<a href="/admin/payments?phase=disputed">${disputes}</a>`],
])}`;
}

/** Offers an operator without an account to create one. */
async function ownAccount(visit: UserVisit): Promise<Html | undefined> {
  if ((await listOwnAccounts(visit)).length > 0) return undefined;
  const words = WORDS[visit.language];
  return html`<h2>${words.own}</h2><p>${words.ownText}</p>
${form(visit, { action: '/admin', fields: codeField(visit), button: words.ownButton })}`;
}

/** Unreleased holds are counted up to this number. */
const STUCK_MAX = 100;
/** Longer than any lease: only holds of dead processes are looked for. */
const LEASE_MAX_MS = DAY_MS;

function isTroubled({ outages, keys: { keys: _, ...faults } }: UpstreamHealth): boolean {
  return outages.length > 0 || Object.values(faults).some((count) => count > 0);
}

function ledgerText({ language, format }: UserVisit, last: LastAudit | undefined): string {
  const words = WORDS[language];
  if (!last) return words.unverified;
  const { at, problems, drift } = last;
  return problems === 0
    ? words.adds(format.time(at))
    : words.drift(format.number(problems), format.rubExact(BigInt(drift)));
}
