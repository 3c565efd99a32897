// The operator's first page: the state of the service, and what needs a decision.
import type { UpstreamHealth } from '../../calls/upstreams.ts';
import { type LastAudit, readLastAudit } from '../../ledger/last-audit.ts';
import { audit } from '../audit.ts';
import { catalogBar } from '../catalog-bar.ts';
import { codeField } from '../code-field.ts';
import { definitionList, form } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { listOwnAccounts, type UserVisit } from '../visit.ts';
import { countPayments } from './admin-payments.ts';

const WORDS = defineWords({
  en: {
    title: 'Operator',
    accounts: 'Accounts',
    models: 'Available models',
    gateways: 'Running gateways',
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
    stuck: 'Unreleased reservations',
    upstreams: 'Upstreams with problems',
    of: (some: string, all: string) => `${some} of ${all}`,
  },
  ru: {
    title: 'Оператор',
    accounts: 'Аккаунты',
    models: 'Доступные модели',
    gateways: 'Запущено шлюзов',
    jobs: 'Видео в работе',
    reviews: 'Платежи на проверке',
    disputes: 'Оспоренные платежи',
    own: 'Ваш аккаунт',
    ownText: 'Вы управляете сервисом. Чтобы отправлять запросы самому, создайте аккаунт с кошельком и ключами.',
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
    const { services, language, format } = visit;
    const words = WORDS[language];
    const { store, catalog } = services;
    const [accounts, gateways, jobs] = await Promise.all([store.accounts.list(), store.gateways(), store.jobs.open()]);
    const [reviews, disputes] = await Promise.all([
      countPayments(visit, ['review']),
      countPayments(visit, ['disputed']),
    ]);
    const stuck = await store.ledger.orphans({ now: services.now(), leaseMs: LEASE_MAX_MS, limit: STUCK_MAX });
    const upstreams = services.upstreams();
    const troubled = upstreams.filter(isTroubled).length;
    const models = catalog().models.filter(({ routes }) => routes.length > 0);
    const body = definitionList([
      [words.accounts, format.number(accounts.length)],
      [words.models, format.number(models.length)],
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
    ]);
    return { title: words.title, body: html`${catalogBar(visit)}${await ownAccount(visit)}${body}` };
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

/** Offers an operator without an account to create one. */
async function ownAccount(visit: UserVisit): Promise<Html | undefined> {
  if ((await listOwnAccounts(visit)).length > 0) return undefined;
  const words = WORDS[visit.language];
  return html`<h2>${words.own}</h2><p>${words.ownText}</p>
${form(visit, { action: '/admin', fields: codeField(visit), button: words.ownButton })}
<h2>${words.service}</h2>`;
}

/** Unreleased holds are counted up to this number. */
const STUCK_MAX = 100;
/** Longer than any lease: only holds of dead processes are looked for. */
const LEASE_MAX_MS = 24 * 3600 * 1000;

function isTroubled({ routesOpen, keys: { keys: _, ...faults } }: UpstreamHealth): boolean {
  return routesOpen > 0 || Object.values(faults).some((count) => count > 0);
}

function ledgerText({ language, format }: UserVisit, last: LastAudit | undefined): string {
  const words = WORDS[language];
  if (!last) return words.unverified;
  const { at, problems, drift } = last;
  return problems === 0
    ? words.adds(format.time(at))
    : words.drift(format.number(problems), format.rubExact(BigInt(drift)));
}
