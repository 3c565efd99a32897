// Every served page route, so that no new one is forgotten: other accounts are unknown, visitors without a session are
// sent to sign in, operators need a recent code for changes, and GET changes nothing.
import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import { LANGUAGES, type Language } from '../../lib/console/language.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { hashToken } from '../../lib/users/token.ts';
import { until } from '../../testkit/client.ts';
import { avoidEndOfHour } from '../../testkit/clock.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer, oneIn } from '../../testkit/long.ts';
import { diffLines, outlineFrame, outlinePage } from '../../testkit/page-outline.ts';
import {
  type Busy,
  listPageRoutes,
  makeBusy,
  type PageRouteFacts,
  type Stop,
  setUpTour,
  TOUR_CATALOG,
  TOUR_ENV,
  type Tour,
} from '../../testkit/page-tour.ts';
import { listQueryStops } from '../../testkit/page-tour-queries.ts';
import { createVisitor } from '../../testkit/pages.ts';
import { expectRecorded, maskVarying } from '../../testkit/recorded.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';

/** The names under which pages read ids, of forms and of queries. */
const ID_NAMES = ['id', 'key', 'order', 'before', 'payments', 'card', 'method', 'session', 'user', 'payment', 'notice'];

/** Public paths. */
const OPEN = ['/status', '/login', '/logout', '/setup', '/reset', '/register'];

/** The pages of forms that have no page of their own. */
const FORMS_ON: ReadonlyMap<string, string> = new Map([
  ['/account/people/invitation', '/account/people'],
  ['/account/keys/{id}/rotate', '/account/keys'],
  ['/account/playground/text', '/account/playground'],
]);

/** Mistakes in the markup of a page that a visitor would meet. */
function* findFlaws(page: string): Generator<string> {
  const main = page.replace(/<(script|style)[^>]*>.*?<\/\1>/gs, '');
  const text = main.replace(/<[^>]*>/g, ' ');
  for (const [found] of text.matchAll(/\b(?:undefined|NaN|Infinity)\b|\[object/g)) yield `says ${found}`;
  for (const [, name] of main.matchAll(
    /<(h1|h2|a|button|label|legend|summary|option|caption|th|dt)(?: [^>]*)?>\s*<\/\1>/g,
  ))
    yield `has an empty ${name}`;
  const ids = [...main.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
  for (const id of ids.filter((each, at) => ids.indexOf(each) !== at)) yield `has ${id} twice`;
  for (const [, names = ''] of main.matchAll(/ (?:for|list|aria-describedby|aria-labelledby|aria-controls)="([^"]*)"/g))
    for (const name of names.split(' ')) if (!ids.includes(name)) yield `has no ${name}`;
  for (const [, table = ''] of main.matchAll(/<table[^>]*>(.*?)<\/table>/gs)) {
    const widths = (table.match(/<tr[^>]*>.*?<\/tr>/gs) ?? []).map((row) =>
      [...row.matchAll(/<t[hd](?: [^>]*?)?(?: colspan="(\d+)")?[^>]*>/g)].reduce(
        (sum, [, n = 1]) => sum + Number(n),
        0,
      ),
    );
    if (new Set(widths).size > 1) yield `has rows of ${widths.join()} cells`;
  }
  for (const [form] of main.matchAll(/<form [^>]*method="post".*?<\/form>/gs)) {
    if (!form.includes('name="csrf"') || !form.includes('<button')) yield `has a form without a button or token`;
  }
}

describe('the pages, route by route', function () {
  this.timeout(180_000);
  let mail: MailServer;
  let test: TestGateway;
  let tour: Tour;
  let victim: Busy;
  let foreign: Readonly<Record<string, string>>;
  let routes: readonly PageRouteFacts[];

  before(async () => {
    await avoidEndOfHour();
    mail = await startMailServer();
    test = await startGateway({ catalog: TOUR_CATALOG, env: { ...TOUR_ENV, SMTP_URL: mail.url } });
    tour = await setUpTour(test);
    victim = await makeBusy(test, 'victim@example.com');
    routes = listPageRoutes(test);
    const { account, calls, keys, payments, owner } = victim;
    const user = await test.store.users.find(owner.email);
    const [card] = await test.store.payments.methods(account.id);
    foreign = {
      account: account.id,
      call: calls.text,
      failed: calls.failed,
      film: calls.video,
      job: calls.job,
      key: account.keyId,
      limited: keys.limited,
      fresh: keys.fresh,
      order: payments.waiting,
      paid: payments.credited,
      card: card?.id ?? '',
      user: user?.id ?? '',
      session: hashToken(owner.cookies.get('session') ?? ''),
    };
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
    await mail.stop();
  });

  /** Everything of an account that a page could change. */
  async function snapshotState({ account, owner }: Busy): Promise<unknown> {
    const { store } = test;
    const user = await store.users.find(owner.email);
    return {
      account: await store.accounts.get(account.id),
      wallet: await store.ledger.wallet(account.id),
      keys: (await store.keys.list(account.id)).map(({ requestsCount: _, lastUsedAt: __, ...key }) => key),
      cards: await store.payments.methods(account.id),
      // The gateway itself polls payments that wait.
      orders: (await store.payments.list({ wallet: account.id, limit: 50 })).map(({ id, phase }) => ({ id, phase })),
      auto: await store.payments.autoTopup(account.id),
      alerts: await store.alerts.get(account.id),
      members: await store.users.listAccountMembers(account.id),
      user,
      sessions: (await store.sessions.list(user?.id ?? '')).map(({ hash }) => hash),
    };
  }

  /** One of each kind; all in the slow tests. */
  const pickSome = ({ failed, film, limited, fresh, paid, ...one }: typeof foreign) =>
    longer(Object.values(one), Object.values(foreign)).filter((id) => id !== undefined);
  let turns = 0;
  /** The next four of them; all in the slow tests. */
  function takeTurns(ids: readonly string[]): readonly string[] {
    turns += 4;
    return longer([...ids, ...ids].slice(turns % ids.length).slice(0, Math.min(4, ids.length)), ids);
  }

  /** Fills the parameters of a path. */
  const fillPath = (path: string, value: string) => path.replace(/\{\w+\}/g, encodeURIComponent(value));
  const isOpen = (path: string) => path.includes('{');
  const of = (who: PageRouteFacts['who'], method?: PageRouteFacts['method']) =>
    routes.filter((route) => route.who === who && (method === undefined || route.method === method));

  /** Texts that only pages of the other account show, except the id that was sent, which forms repeat. */
  function leaked(text: string, sent: string): readonly string[] {
    const others = Object.values(foreign).filter((id) => id !== sent && !sent.includes(id));
    return [...others, victim.owner.email].filter((secret) => text.includes(secret));
  }

  const readCsrf = async (visitor: { get(path: string): Promise<{ text: string }> }, path: string) =>
    /name="csrf" value="([^"]+)"/.exec((await visitor.get(path)).text)?.[1] ?? '';

  interface VisitedPage extends Stop {
    readonly language: Language;
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }
  let visited: Promise<readonly VisitedPage[]> | undefined;
  /** Every stop of the tour in each language, before any other test has changed what is there. */
  const visitOnce = () => (visited ??= visitAll());

  async function visitAll(): Promise<readonly VisitedPage[]> {
    const { account } = tour.busy;
    // When keys were used last is written in the background, as is what accounts spent.
    await until(async () => (await test.store.keys.list(account.id)).filter(({ lastUsedAt }) => lastUsedAt).length > 1);
    for (const { id } of await test.store.accounts.list()) await foldUsage(test.store, id);
    const all = [...tour.stops, ...listQueryStops(account.id, tour.busy.payments.refunded)];
    const stops = [...new Map(all.map((stop) => [`${stop.as} ${stop.path}`, stop])).values()];
    const pages: VisitedPage[] = [];
    for (const stop of stops) {
      // At once, as what is done in the background goes on.
      for (const language of LANGUAGES) {
        const path = `${stop.path}${stop.path.includes('?') ? '&' : '?'}lang=${language}`;
        pages.push({ ...stop, language, ...(await tour.visitors[stop.as].get(path)) });
      }
    }
    return pages;
  }

  const isHtml = ({ headers }: VisitedPage) => headers['content-type']?.startsWith('text/html') === true;

  it('change nothing on GET, have a content policy and are never cached', async () => {
    const before = [await snapshotState(tour.busy), await test.store.auditLog.page({ limit: 1 })];
    for (const { path, headers } of await visitOnce()) {
      expect(headers['content-security-policy'], path).to.contain("default-src 'none'; script-src 'self'");
      expect(headers, path).to.include({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
      });
    }
    expect([await snapshotState(tour.busy), await test.store.auditLog.page({ limit: 1 })]).to.deep.equal(before);
  });

  for (const language of LANGUAGES) {
    it(`say and offer what is recorded, in ${language}`, async () => {
      // Which of two accounts a member sees first depends on their ids.
      const all = (await visitOnce()).filter(isHtml).filter((page) => page.language === language);
      const pages = all.filter(({ as }) => as !== 'member');
      const plain = new Map(pages.map(({ as, path, text }) => [`${as} ${path}`, outlinePage(text)]));
      const outlines = pages.map(({ as, name, path, status, text }) => {
        const wholly = name === path && path.includes('?') ? plain.get(`${as} ${path.replace(/\?.*/, '')}`) : undefined;
        const outline = outlinePage(text);
        const lines = wholly === undefined ? [outline] : diffLines(wholly, outline);
        return [`===== ${as}: ${maskVarying(name)} ${status}`, ...lines].join('\n');
      });
      const frames = new Map(pages.map(({ as, text }) => [as, `===== around a page of: ${as}\n${outlineFrame(text)}`]));
      expectRecorded(new URL(`pages-${language}.txt`, import.meta.url), [...outlines, ...frames.values()]);
    });
  }

  it('are all part of the tour', () => {
    const seen = new Set(tour.stops.map(({ route }) => route));
    const missed = routes.filter(({ method, path }) => method === 'get' && !seen.has(path)).map(({ path }) => path);
    expect(missed).to.deep.equal([]);
    expect(routes.length).to.be.above(45);
  });

  it('require an owner or operator below their paths, and are public nowhere else', () => {
    const wrong = routes.filter(({ path, who }) => {
      if (path.startsWith('/admin')) return who !== 'operator';
      if (path === '/account/join') return who !== 'user';
      if (path.startsWith('/account')) return who !== 'account';
      return who !== (path === '/logout' ? 'user' : 'anyone') || !OPEN.includes(path);
    });
    expect(wrong).to.deep.equal([]);
  });

  it('treat another account in the query as unknown', async () => {
    const before = await snapshotState(victim);
    const csrf = await readCsrf(tour.visitors.owner, '/account/keys');
    for (const { method, path } of oneIn(2, of('account'))) {
      const place = `${fillPath(path, foreign.key ?? '')}?account=${foreign.account}`;
      const { owner } = tour.visitors;
      const reply = method === 'get' ? await owner.get(place) : await owner.post(place, { csrf, name: 'old laptop' });
      expect([reply.status, leaked(reply.text, '')], `${method} ${place}`).to.deep.equal([404, []]);
    }
    expect(await snapshotState(victim)).to.deep.equal(before);
  });

  it('show nothing of another account, whatever its ids are sent as', async () => {
    const { owner } = tour.visitors;
    for (const { path } of oneIn(2, of('account', 'get'))) {
      for (const [name, id] of Object.entries(pickSome(foreign))) {
        const query = new URLSearchParams(ID_NAMES.map((field) => [field, id]));
        const place = `${fillPath(path, id)}?${query}`;
        const reply = await owner.get(place);
        expect(leaked(reply.text, id), `${place} (${name})`).to.deep.equal([]);
        if (isOpen(path)) expect(reply.status, `${place} (${name})`).to.equal(404);
        else expect(reply.status, place).to.be.oneOf([200, 404]);
      }
    }
  });

  it('change nothing of another account, whatever its ids are sent as', async () => {
    const { owner } = tour.visitors;
    const before = await snapshotState(victim);
    const changes = await listChanges();
    const csrf = await readCsrf(owner, '/account/keys');
    for (const { path } of oneIn(2, of('account', 'post'))) {
      for (const change of ['', ...(changes.get(path) ?? [])]) {
        for (const id of takeTurns(pickSome(foreign))) {
          const fields = Object.fromEntries(ID_NAMES.map((field) => [field, id]));
          const more = {
            change,
            do: 'send',
            name: 'test key',
            prompt: 'x',
            hours: '1',
            amount: '1000',
            consent: 'yes',
          };
          const reply = await owner.post(fillPath(path, id), { ...more, ...fields, csrf });
          expect(leaked(reply.text, id), `${path} ${change}`).to.deep.equal([]);
          if (isOpen(path)) expect(reply.status, `${path} ${change}`).to.equal(404);
        }
      }
    }
    expect(await snapshotState(victim)).to.deep.equal(before);
    expect(changes.get('/account/wallet')?.size).to.be.above(2);
  });

  /** The changes that the forms of each page offer, on the pages of an owner who has everything. */
  async function listChanges(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const changes = new Map<string, Set<string>>();
    for (const { path, as } of tour.stops.filter((stop) => stop.as === 'owner')) {
      const { text } = await tour.visitors[as].get(path);
      for (const [form] of text.matchAll(/<form method="post"[\s\S]*?<\/form>/g)) {
        const action = /action="([^"?]+)/.exec(form)?.[1] ?? '';
        const value = /name="change" value="([^"]+)"/.exec(form)?.[1];
        if (value !== undefined) changes.set(action, (changes.get(action) ?? new Set()).add(value));
      }
    }
    return changes;
  }

  it('send visitors without a session to sign in, and back', async () => {
    for (const { method, path } of [...of('account'), ...of('user'), ...of('operator')]) {
      const stranger = createVisitor(test.url);
      const place = fillPath(path, foreign.key ?? '');
      const reply = method === 'get' ? await stranger.get(place) : await stranger.post(place, {});
      const page = encodeURIComponent(FORMS_ON.get(path) ?? place);
      const next = `/login?next=${page}${method === 'get' ? '' : '&unsent=yes'}`;
      expect([reply.status, reply.headers.location], `${method} ${place}`).to.deep.equal([303, next]);
    }
  });

  it('of operators do not exist for others', async () => {
    const { owner } = tour.visitors;
    for (const { method, path } of of('operator')) {
      const place = fillPath(path, foreign.account ?? '');
      const csrf = await readCsrf(owner, '/account/keys');
      const reply = method === 'get' ? await owner.get(place) : await owner.post(place, { csrf });
      expect(reply.status, `${method} ${place}`).to.equal(404);
    }
  });

  it('refuse forms without a token, from another site, or of another type', async () => {
    const { owner, operator } = tour.visitors;
    for (const { path, who } of routes.filter(({ method }) => method === 'post')) {
      const visitor = { operator, account: owner, user: owner, anyone: createVisitor(test.url) }[who];
      const place = fillPath(path, foreign.key ?? '');
      expect((await visitor.post(place, { name: 'x' })).status, path).to.equal(403);
      expect((await visitor.post(place, { csrf: 'wrong' })).status, path).to.equal(403);
      const site = { headers: { 'sec-fetch-site': 'cross-site' } };
      expect((await visitor.post(place, {}, site)).status, path).to.equal(403);
      const json = { headers: { 'content-type': 'application/json' } };
      expect((await visitor.post(place, {}, json)).status, path).to.equal(415);
    }
  });

  it('of operators change nothing without a recent code', async () => {
    const { operator } = tour.visitors;
    const session = hashToken(operator.cookies.get('session') ?? '');
    const provenAt = Date.now() - 11 * 60_000;
    await test.store.sessions.touch(session, { seenAt: Date.now(), provenAt });
    const changes = async () => {
      const log = await test.store.auditLog.page({ limit: 100 });
      return log.filter(({ action }) => !action.startsWith('sign_in.')).slice(0, 1);
    };
    const before = [await snapshotState(victim), await changes()];
    const csrf = await readCsrf(operator, '/admin/accounts');
    for (const { path } of of('operator', 'post')) {
      for (const id of takeTurns(pickSome(foreign))) {
        for (const code of longer(['000000'], ['', '000000'])) {
          const change = { change: 'suspend', name: 'x', amount: '5', reason: 'x', code, csrf };
          expect((await operator.post(fillPath(path, id), change)).status, path).to.be.oneOf([403, 429]);
        }
      }
    }
    expect([await snapshotState(victim), await changes()]).to.deep.equal(before);
  });

  it('are whole in each language: words, names, rows of tables, forms, links', async () => {
    const flaws: string[] = [];
    for (const { text, as, route, language } of (await visitOnce()).filter(isHtml)) {
      for (const flaw of findFlaws(text)) flaws.push(`${as} ${route} ${language}: ${flaw}`);
      for (const [, link = ''] of text.matchAll(/ href="(\/[^"?#]*)/g))
        if (test.gateway.server.match('get', link)?.path.endsWith('{p*}') !== false)
          flaws.push(`${as} ${route}: leads to ${link}`);
    }
    expect(flaws).to.deep.equal([]);
  });

  it('show the sandbox banner, also on error pages', async () => {
    const html = tour.stops.filter(({ route, name }) => !route.endsWith('.csv') && name !== 'export');
    for (const { path, as } of html.filter((_, at) => longer(at % 12 === 0, true))) {
      // Visitors without a session are sent to a page that shows the banner.
      const { status, text } = await tour.visitors[as].get(path);
      if (status !== 303) expect(text, path).to.contain('<aside class="sandbox"');
    }
    for (const path of ['/account/nothing', '/admin/nothing/at/all', '/account/keys/key_none']) {
      const { status, text } = await tour.visitors.owner.get(path);
      expect(status).to.equal(404);
      expect(text).to.contain('<aside class="sandbox">Sandbox: ').and.to.contain('Песочница: ');
    }
    const plain = await startGateway({ catalog: { upstreams: {}, models: [] } });
    expect((await createVisitor(plain.url).get('/account/nothing/at/all')).text).not.to.contain('sandbox');
    await plain.stop();
  });
});
