// Every page of a gateway with content: accounts with calls of each kind, keys with limits, payments with each outcome,
// alerts and an audit log; and where to see it all, by route, so that no page is forgotten.

import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../lib/accounts/accounts.ts';
import type { Who } from '../lib/console/page.ts';
import { isPagePath } from '../lib/console/response-style.ts';
import { listRoutes } from '../lib/http/late-routes.ts';
import { createPeople } from '../lib/users/people.ts';
import { makeTotpSecret } from '../lib/users/totp.ts';
import { createUserRemoval } from '../lib/users/user-removal.ts';
import { send, until } from './client.ts';
import type { TestAccount, TestGateway } from './gateway.ts';
import { giveBonuses } from './page-tour-bonuses.ts';
import { listCallingStops, refuseCalls } from './page-tour-calls.ts';
import { listCatalogStops } from './page-tour-catalog.ts';
import {
  listManagementStops,
  listOwnManagementStops,
  type Managed,
  makeManagementKeys,
} from './page-tour-management.ts';
import { listOperatorPaperStops, listPaperStops, makePapers, type Papers } from './page-tour-papers.ts';
import { inviteColleague, listPeopleStops } from './page-tour-people.ts';
import { type Links, listStrangerStops } from './page-tour-strangers.ts';
import { createVisitor, setUpOperator, setUpOwner, type Visitor } from './pages.ts';
import { DEAF_BOT } from './telegram.ts';

/** Visitors: without a session, owner of one busy account, of two, of an empty or suspended one, operator. */
export const TRAVELLERS = ['stranger', 'owner', 'member', 'newcomer', 'stopped', 'operator'] as const;
type Traveller = (typeof TRAVELLERS)[number];

/** One thing to see. */
export interface Stop {
  /** The path of its route. */
  readonly route: string;
  readonly path: string;
  readonly as: Traveller;
  readonly name: string;
  /** What is typed or clicked there first: a selector, and a text, or `true` to click it. */
  readonly does?: readonly (readonly [selector: string, value: string | true])[];
}

export interface Tour {
  readonly stops: readonly Stop[];
  readonly visitors: Readonly<Record<Traveller, Visitor>>;
  readonly busy: Busy;
}

/** What the gateway of a tour is started with, besides a mail server. */
const SERVICE_ENV = { SANDBOX: 'on', REGISTRATION: 'open', STATUS_PAGE: 'on', VIDEO_POLL_MS: '1000' };
export const TOUR_ENV = { ...SERVICE_ENV, ...DEAF_BOT };

/** What some models cost the operator of a tour; of the others nobody knows. */
export const TOUR_CATALOG = {
  costs: {
    sandbox: {
      lite: { currency: 'RUB', input: '25', output: '200' },
      heavy: { currency: 'RUB', input: '1200', output: '5000' },
      image: { currency: 'RUB', request: '2.5' },
    },
  },
};

export interface PageRouteFacts {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly who: Who;
}

/** Every page, by the gateway's routes. */
export function listPageRoutes({ gateway }: Pick<TestGateway, 'gateway'>): readonly PageRouteFacts[] {
  const routes = listRoutes(gateway.server).filter(
    ({ path }) => isPagePath(path) && !/^\/(?:static|payments)\//.test(path),
  );
  return routes.map(({ method, path, settings }) => ({
    method: method as PageRouteFacts['method'],
    path,
    who: (settings.app as { readonly who: Who }).who,
  }));
}

/** An account with some of everything, and its owner. */
export interface Busy extends Sights {
  readonly account: TestAccount;
  readonly owner: Awaited<ReturnType<typeof setUpOwner>>;
}

export async function makeBusy(test: TestGateway, email: string): Promise<Busy> {
  const account = await test.account('0');
  const owner = await setUpOwner(test, account.id, email);
  const payments = await pay(test, owner);
  const calls = await makeCalls(test, account);
  const { key, ...keys } = await makeKeys(test, account);
  const drawn = { model: 'sandbox-image', prompt: 'A shop window' };
  await send(`${test.url}/api/v1/images/generations`, { key, body: drawn });
  const alert = { change: 'wishes', threshold: '500', budgets: 'yes', webhook: 'https://example.com/hook' };
  await owner.submit('/account/settings/alerts', alert);
  await refuseCalls(test, { account: account.id, key: keys.fresh });
  const colleague = await inviteColleague(test, account, owner);
  return { account, owner, payments, calls, keys, colleague };
}

export async function setUpTour(test: TestGateway): Promise<Tour> {
  const operator = await setUpOperator(test);
  const busy = await makeBusy(test, 'anna.petrova@example.com');
  const { account, owner } = busy;
  await giveBonuses(operator, account);
  const papers = await makePapers(test, account, { operator, owner });
  const member = await joinBoth(test, account);
  const newcomer = await setUpOwner(test, (await test.account('0')).id, 'new@example.com');
  const stoppedAccount = await test.account();
  const stopped = await setUpOwner(test, stoppedAccount.id, 'stopped@example.com');
  const stoppedPage = `/admin/accounts/${stoppedAccount.id}`;
  await operator.submit(stoppedPage, { change: 'suspend' });
  await operator.submit('/admin/accounts', { change: 'invite', email: 'boris.ivanov@example.com' });
  await operator.submit(stoppedPage, { change: 'invite', email: 'vera@example.com' });
  await operator.submit(stoppedPage, { change: 'invite', email: 'anna.petrova@example.com' });
  const links = await makeLinks(test, account);
  const [webhook] = await test.store.payments.webhooks({ limit: 1 });
  const people = await findPeople(test);
  const sights = {
    account: account.id,
    people,
    call: busy.calls.text,
    payments: busy.payments,
    webhook: webhook?.id ?? '',
    managed: await makeManagementKeys(test, account.id),
    papers,
  };
  const { managed } = sights;
  return {
    visitors: { stranger: createVisitor(test.url), owner, member, newcomer, stopped, operator },
    busy,
    stops: [
      ...listStrangerStops(createStopMaker('stranger'), links),
      ...ownerStops({ ...busy, join: links.join, managed, papers }),
      ...operatorStops(sights),
    ],
  };
}

/** Makes the stops of one visitor, each at the path of its route unless another is given. */
function createStopMaker(as: Traveller, prefix = '') {
  return (route: string, name: string, more: Partial<Stop> = {}): Stop => ({
    route,
    path: route,
    as,
    name: `${prefix}${name}`,
    ...more,
  });
}

interface Payments {
  readonly waiting: string;
  readonly credited: string;
  readonly declined: string;
  readonly review: string;
  readonly refunded: string;
}

interface Sights {
  readonly calls: Readonly<Record<'text' | 'failed' | 'video', string>> & { readonly job: string };
  readonly keys: { readonly limited: string; readonly fresh: string };
  readonly payments: Payments;
  /** A member of the account. */
  readonly colleague: string;
}

const wallet = '/account/wallet';

function ownerStops({
  calls,
  keys,
  payments,
  join,
  colleague,
  managed,
  papers,
}: Sights & Pick<Links, 'join'> & Managed & { readonly papers: Papers }): readonly Stop[] {
  const at = createStopMaker('owner');
  const newcomers = ['', '/keys', '/wallet', '/usage', '/calls', '/playground'].map((path) =>
    at(`/account${path}`, `newcomer${path.replace('/', '-')}`, { as: 'newcomer' }),
  );
  return [
    at('/account', 'overview'),
    at('/account', 'overview-of-two', { as: 'member' }),
    at('/account', 'overview-stopped', { as: 'stopped' }),
    ...newcomers,
    at('/account/keys', 'keys'),
    at('/account/keys', 'keys-issued', {
      does: [
        ['#name', 'новый ноутбук'],
        ['#budget', '250'],
        ['main form button', true],
      ],
    }),
    at('/account/keys', 'keys-wrong', {
      does: [
        ['#name', 'x'],
        ['#budget', 'much'],
        ['main form button', true],
      ],
    }),
    at('/account/keys/{id}', 'key-revoke', { path: `/account/keys/${keys.fresh}` }),
    ...listOwnManagementStops(at, managed),
    at('/account/keys/{id}/limits', 'key-limits', { path: `/account/keys/${keys.fresh}/limits` }),
    at(wallet, 'wallet'),
    at(wallet, 'wallet-waiting', { path: `${wallet}?order=${payments.waiting}` }),
    at(wallet, 'wallet-credited', { path: `${wallet}?order=${payments.credited}` }),
    at(wallet, 'wallet-declined', { path: `${wallet}?order=${payments.declined}` }),
    at(wallet, 'wallet-review', { path: `${wallet}?order=${payments.review}` }),
    at('/account/wallet/receipt', 'receipt', { path: `${wallet}/receipt?order=${payments.refunded}` }),
    ...listPaperStops(at, papers),
    at('/account/usage', 'usage'),
    at('/account/usage', 'usage-by-model', { path: '/account/usage?by=model&kind=text' }),
    at('/account/usage.csv', 'usage-csv'),
    at('/account/calls', 'calls'),
    at('/account/calls', 'calls-none', { path: '/account/calls?model=nothing' }),
    at('/account/calls/refused', 'calls-refused'),
    at('/account/calls.csv', 'calls-csv'),
    at('/account/calls/{id}', 'call', { path: `/account/calls/${calls.text}` }),
    at('/account/calls/{id}', 'call-failed', { path: `/account/calls/${calls.failed}` }),
    at('/account/calls/{id}', 'call-video', { path: `/account/calls/${calls.video}` }),
    at('/account/models', 'models'),
    at('/account/models', 'models-price', {
      path: '/account/models?model=sandbox-heavy&characters=4000&answer=1200&max=1000',
    }),
    ...listCallingStops(at, calls.job),
    ...listPeopleStops(at, { colleague, key: keys.fresh, join }),
    at('/account/settings/alerts', 'alerts'),
    at('/account/settings/export', 'export'),
    at('/account', 'not-found', { path: '/account/nothing' }),
  ];
}

interface OperatorSights {
  readonly people: Readonly<Record<'active' | 'suspended' | 'operator' | 'former', string>>;
  readonly account: string;
  readonly call: string;
  readonly payments: Payments;
  readonly webhook: string;
}

function operatorStops({
  account,
  people,
  call,
  payments,
  webhook,
  managed,
  papers,
}: OperatorSights & Managed & { readonly papers: Papers }): readonly Stop[] {
  const at = createStopMaker('operator', 'admin-');
  const plain = 'accounts people payments promo ledger catalog upstreams notices alerts audit checks'.split(' ');
  return [
    at('/admin', 'overview'),
    ...listManagementStops(at, managed),
    at('/admin', 'overview-month', { path: '/admin?span=month' }),
    at('/admin/calls', 'calls'),
    ...plain.map((name) => at(`/admin/${name}`, name)),
    ...listCatalogStops(at),
    ...listOperatorPaperStops(at, papers, account),
    at('/admin/accounts', 'accounts-search', { path: '/admin/accounts?q=test' }),
    at('/admin/accounts', 'accounts-invited', {
      does: [
        ['#email', 'friend@example.com'],
        ['form:has(#email) button', true],
      ],
    }),
    at('/admin/accounts/{id}/calls', 'account-calls', { path: `/admin/accounts/${account}/calls` }),
    at('/admin/accounts/{id}/refused', 'account-refused', { path: `/admin/accounts/${account}/refused` }),
    at('/admin/accounts/{id}', 'account', { path: `/admin/accounts/${account}` }),
    at('/admin/accounts/{id}', 'account-link', {
      path: `/admin/accounts/${account}`,
      does: [
        ['#email', 'colleague@example.com'],
        ['form:has(#email) button', true],
      ],
    }),
    ...Object.entries(people).map(([name, id]) =>
      at('/admin/people/{id}', `person-${name}`, { path: `/admin/people/${id}` }),
    ),
    at('/admin/people', 'people-search', { path: '/admin/people?q=nobody' }),
    at('/admin/people/{id}', 'person-link', {
      path: `/admin/people/${people.active}`,
      does: [['form:has(input[value=restore]) button', true]],
    }),
    at('/admin/payments', 'payments-review', { path: '/admin/payments?phase=review' }),
    ...['.csv', '/all', '/all.csv'].map((end) => at(`/admin/payments${end}`, `payments${end.replace(/[./]/g, '-')}`)),
    at('/admin/payments/{id}', 'payment-review', { path: `/admin/payments/${payments.review}` }),
    at('/admin/payments/{id}', 'payment-credited', { path: `/admin/payments/${payments.refunded}` }),
    at('/admin/ledger', 'ledger-call', { path: `/admin/ledger?id=${call}` }),
    at('/admin/ledger', 'ledger-unknown', { path: '/admin/ledger?id=nothing' }),
    at('/admin/notices/{id}', 'notice', { path: `/admin/notices/${encodeURIComponent(webhook)}` }),
  ];
}

/** Orders with each outcome; one saves its card, which is charged automatically from then on. */
async function pay(test: TestGateway, owner: Visitor): Promise<Payments> {
  const order = async (amount: string, button: string, more: Readonly<Record<string, string>> = {}) => {
    const { headers } = await owner.submit('/account/wallet', { amount, ...more });
    const page = String(headers.location);
    const link = /class="button" href="([^"]+)"/.exec((await owner.get(page)).text)?.[1] ?? '';
    if (button !== '') await owner.post(new URL(link).pathname, { button, card: 'good' });
    return { id: page.replace(/^.*order=/, '').replace(/&.*$/, ''), link };
  };
  const credited = await order('1500,50', 'paid', { save: 'yes' });
  const refunded = await order('1000', 'paid');
  await owner.post(new URL(refunded.link).pathname, { button: 'half' });
  const declined = await order('2000', 'insufficient_funds');
  const review = await order('1000', 'wrong-sum');
  const waiting = await order('3000', '');
  const auto = { change: 'auto', threshold: '100', amount: '1000', cap: '5000', consent: 'yes' };
  const [card] = await test.store.payments.methods((await test.store.payments.get(credited.id))?.wallet ?? '');
  await owner.submit('/account/wallet', { ...auto, card: card?.id ?? '' });
  const ids = { credited, refunded, declined, review, waiting };
  return Object.fromEntries(Object.entries(ids).map(([name, { id }]) => [name, id])) as unknown as Payments;
}

async function makeCalls({ url, store }: TestGateway, { key, id }: TestAccount): Promise<Sights['calls']> {
  const post = async (path: string, body: object) => {
    const { headers, json } = await send(`${url}/api/v1${path}`, { key, body });
    return { id: String(headers['x-request-id']), job: String(json?.id) };
  };
  const text = (model: string, content: string) =>
    post('/chat/completions', { model, messages: [{ role: 'user', content }], max_tokens: 700 });
  for (const model of ['sandbox-lite', 'sandbox-standard', 'sandbox-heavy']) await text(model, 'Hello!');
  const failed = await text('sandbox-lite', '[[fail]]');
  await post('/images/generations', { prompt: 'A red square' });
  const video = await post('/videos', { model: 'sandbox-video', prompt: 'Waves', seconds: 4, resolution: '480p' });
  const lost = await post('/videos', { model: 'sandbox-video', prompt: '[[fail]]', seconds: 4, resolution: '480p' });
  const last = await text('smart', 'Translate into French: tree');
  await until(async () => (await store.ledger.wallet(id))?.held === 0n);
  await until(async () => (await store.jobs.get(video.job))?.phase === 'completed', 20_000);
  await until(async () => (await store.jobs.get(lost.job))?.phase === 'failed', 20_000);
  return { text: last.id, failed: failed.id, video: video.id, job: video.job };
}

async function makeKeys({ store }: TestGateway, { id }: TestAccount) {
  const accounts = createAccounts({ store, keyPrefix: 'tg-' });
  const endUsers = { cap: 6_000_000n, reset: 'month' } as const;
  const limits = { budget: 6_000_000n, reset: 'month', models: ['sandbox-lite', 'sandbox-image'], endUsers } as const;
  const limited = await accounts.issueKey(id, 'сайт магазина', limits);
  // Keys of one millisecond are listed in any order.
  await sleep(2);
  const fresh = await accounts.rotateKey(limited.id, 24);
  await sleep(2);
  const revoked = await accounts.issueKey(id, 'old laptop');
  await accounts.revokeKey(revoked.id);
  await sleep(2);
  const expiresAt = Date.now() + 100 * 86_400_000;
  await accounts.issueKey(id, 'a name that is rather long for the key of an application', { expiresAt });
  return { limited: limited.id, fresh: fresh.id, key: fresh.key };
}

/** Also an owner of a second account. */
async function joinBoth(test: TestGateway, { id }: TestAccount): Promise<Visitor> {
  const second = await test.account('2500');
  const member = await setUpOwner(test, second.id, 'member@example.com');
  const user = await test.store.users.find(member.email);
  await test.store.users.join({ user: user?.id ?? '', account: id, role: 'owner' });
  if (user) await test.store.users.change({ ...user, totpSecret: makeTotpSecret() });
  return member;
}

/** One of each kind; two of them leave for it. */
async function findPeople(test: TestGateway): Promise<OperatorSights['people']> {
  const { store } = test;
  const findId = async (email: string) => (await store.users.find(email))?.id ?? '';
  const leavers = ['suspended@example.com', 'former@example.com'] as const;
  for (const email of leavers) await setUpOwner(test, (await test.account('0')).id, email);
  const [suspended, former] = await Promise.all(leavers.map(findId));
  const departures = createUserRemoval({ store });
  await departures.suspend(suspended ?? '');
  await departures.remove(former ?? '');
  const active = await findId('anna.petrova@example.com');
  const operator = await findId('op@example.com');
  return { active, operator, suspended: suspended ?? '', former: former ?? '' };
}

async function makeLinks(test: TestGateway, { id }: TestAccount): Promise<Links> {
  const { store } = test;
  const elsewhere = (await test.account('0')).id;
  const people = createPeople({ store });
  const user = await store.users.find('anna.petrova@example.com');
  const to = async (page: string, token: Promise<string>) => `/${page}?token=${await token}`;
  const email = 'guest@example.com';
  return {
    invite: await to('setup', people.makeLink({ purpose: 'invite', account: id, email })),
    operator: await to('setup', people.makeLink({ purpose: 'operator', email: 'second@example.com' })),
    restore: await to('setup', people.makeLink({ purpose: 'restore', user: user?.id ?? '', email: user?.email ?? '' })),
    join: await to(
      'account/join',
      people.makeLink({ purpose: 'invite', account: elsewhere, email: user?.email ?? '' }),
    ),
    reset: await to('reset', people.makeLink({ purpose: 'reset', user: user?.id ?? '', email: user?.email ?? '' })),
    demo: await to('setup', people.makeLink({ purpose: 'demo', account: id })),
  };
}
