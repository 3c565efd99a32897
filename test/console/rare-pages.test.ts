// Pages in states that the tour does not reach: a change of what they say shows in the diff of
// `RECORD=1 npx mocha test/console/rare-pages.test.ts`.
import { expect } from 'chai';
import { DAY_MS } from '../../lib/base/durations.ts';
import { LANGUAGES } from '../../lib/console/language.ts';
import { endUserSumId } from '../../lib/ledger/caps.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { DEFAULT_ZONE, NO_LIMITS } from '../../lib/money/key-limits.ts';
import { findPeriod } from '../../lib/money/period.ts';
import type { Mail, Mailer } from '../../lib/users/mail.ts';
import { outlinePage } from '../../testkit/page-outline.ts';
import { setUpMember, type Visitor } from '../../testkit/pages.ts';
import { expectRecorded, maskVarying } from '../../testkit/recorded.ts';
import { appliedInBatches, newAttempt, newId, RUB, reserve, settle } from '../contract/store/context.ts';
import { openPages, type Pages } from './stage.ts';

const KEY = 'key_shop';

describe('pages in rare states', function () {
  this.timeout(60_000);
  let pages: Pages;
  let owner: Awaited<ReturnType<Pages['owner']>>;
  let operator: Visitor;
  let texts: string[];

  before(async () => {
    pages = await openPages();
    owner = await pages.owner();
    operator = await pages.operator();
  });
  after(() => pages.close());
  beforeEach(() => {
    texts = [];
  });

  async function look(who: Visitor, path: string, state = ''): Promise<void> {
    for (const language of LANGUAGES) {
      const sign = path.includes('?') ? '&' : '?';
      const { status, text, headers } = await who.get(`${path}${sign}lang=${language}`);
      const outline = outlinePage(text).replaceAll(owner.account, 'ACCOUNT');
      const again = headers['retry-after'] === undefined ? '' : `, retry-after ${headers['retry-after']}`;
      texts.push(maskVarying(`===== ${state}${path} (${language}): ${status}${again}\n${outline}`));
    }
  }
  const record = (name: string) => expectRecorded(new URL(`rare-${name}.txt`, import.meta.url), texts);

  it('of the end users of a key are unchanged', async () => {
    const { real } = pages.faults;
    const endUsers = { cap: 3n * RUB, reset: 'month' } as const;
    const row = { id: KEY, account: owner.account, name: 'shop', hash: 'h', last4: 'abcd', createdAt: 1 };
    await real.keys.add({ ...row, limits: { ...NO_LIMITS, endUsers } }, 10);
    await look(owner, `/account/keys/${KEY}/users`, 'nobody: ');
    const key = { id: KEY, budgetKey: null };
    const at = Date.now();
    const period = findPeriod(at, { reset: 'month', zone: DEFAULT_ZONE }).start;
    const spend = (name: string, amount: bigint) =>
      reserve(owner.account, { key: KEY, at, amount, caps: [{ id: endUserSumId(key, name), period, limit: null }] });
    await appliedInBatches(real, [spend('ann', RUB), spend('bob', 4n * RUB)]);
    await look(owner, `/account/keys/${KEY}/users`);
    for (const name of ['bob', 'nobody'])
      await look(owner, `/account/keys/${KEY}/users?name=${name}&account=${owner.account}`);
    await appliedInBatches(
      real,
      Array.from({ length: 49 }, (_, number) => spend(`user ${number}`, 1n)),
    );
    const { text } = await owner.get(`/account/keys/${KEY}/users?lang=en`);
    const [, next = ''] = /<a href="([^"]+)" rel="next">/.exec(text) ?? [];
    expect(next).to.match(new RegExp(`^/account/keys/${KEY}/users\\?after=[\\w%-]{22}$`));
    const rows = (page: string) => [...page.matchAll(/class="digest">([^<]+)</g)].map(([, digest]) => digest);
    const found = [...rows(text), ...rows((await owner.get(next)).text)];
    expect([new Set(found).size, found.length]).to.deep.equal([51, 51]);
    await real.keys.add({ ...row, id: 'key_plain', hash: 'i', limits: NO_LIMITS }, 10);
    await look(owner, '/account/keys/key_plain/users');
    record('key-users');
  });

  it('of a month are unchanged: with calls that run or were not counted, further movements, and archives', async () => {
    const { faults } = pages;
    const { account, get } = { ...(await pages.owner()) };
    const visitor = { get } as Visitor;
    const [now, old, ended] = [Date.now(), newId('req'), newId('req')];
    await look(visitor, '/account/statement', 'without calls: ');
    await appliedInBatches(faults.real, [
      reserve(account, { chargeId: old, at: now - 40 * DAY_MS, amount: 5n * RUB }),
      settle(account, old, { at: now, amount: 4n * RUB }),
      reserve(account, { chargeId: ended, at: now, amount: 3n * RUB }),
      settle(account, ended, { at: now, amount: 2n * RUB }),
      reserve(account, { at: now, amount: 7n * RUB }),
      { kind: 'adjust', wallet: account, at: now, amount: RUB, reason: 'a gift', adjustId: newId('adj') },
    ]);
    faults.always('ledger.wallet', async (call) => ({ ...((await call()) as object), seq: 50_000 }));
    await look(visitor, '/account/statement', 'not counted: ');
    await look(visitor, '/account/statement.csv', 'not counted: ');
    faults.always('ledger.wallet', undefined);
    await foldUsage(faults.real, account);
    faults.always('ledger.movements', async (call) => ((await call()) as readonly unknown[]).slice(0, 1));
    await look(visitor, '/account/statement', 'a further movement: ');
    await look(visitor, '/account/statement.csv', 'a further movement: ');
    faults.always('ledger.movements', undefined);
    await look(visitor, `/account/statement?account=${account}`, 'counted: ');
    await look(visitor, '/account/statement.csv', 'counted: ');
    faults.always('archives.opening', async () => ({ wallet: account }));
    for (const [state, before] of [
      ['writing', now],
      ['done', now],
      ['done', now - 40 * DAY_MS],
    ] as const) {
      faults.always('archives.list', async () => [{ state, before }]);
      const days = before === now ? 'just now' : '40 days ago';
      await look(visitor, '/account/statement', `archive, ${state} ${days}: `);
      await look(visitor, '/account/statement.csv', `archive, ${state} ${days}: `);
    }
    faults.always('archives.opening', undefined);
    faults.always('archives.list', undefined);
    faults.always('ledger.wallet', async () => undefined);
    await look(visitor, '/account/statement', 'no wallet: ');
    faults.always('ledger.wallet', undefined);
    record('statement');
  });

  it('of calls are unchanged: of a long search, of members, and of none', async () => {
    const { faults } = pages;
    const { account, get } = await pages.owner();
    const visitor = { get } as Visitor;
    await look(visitor, '/account/calls', 'none: ');
    await look(visitor, '/account/calls?id=req_unknown');
    const member = await setUpMember({ store: faults.real, url: pages.url }, { account, role: 'member' });
    await look(member, '/account/calls', 'none of a member: ');
    const [now, ended] = [Date.now(), newId('req')];
    await appliedInBatches(faults.real, [
      reserve(account, { chargeId: ended, at: now - 1000, amount: 3n * RUB }),
      settle(account, ended, { at: now, amount: 2n * RUB, attempts: [newAttempt({ at: now })] }),
      reserve(account, { at: now, amount: 7n * RUB }),
    ]);
    await look(visitor, '/account/calls', 'one runs: ');
    await look(visitor, '/account/calls?sort=price', 'one runs: ');
    faults.always('ledger.wallet', async (call) => ({ ...((await call()) as object), seq: 50_000 }));
    await look(visitor, '/account/calls?model=none', 'of many: ');
    await look(visitor, '/account/calls?model=none&upTo=3', 'of many: ');
    await look(visitor, '/account/calls?model=none&whole=yes', 'of many: ');
    await look(operator, `/admin/accounts/${account}/calls?model=none`, 'of many: ');
    faults.always('ledger.wallet', undefined);
    record('calls');
  });

  it('of promo codes are unchanged, in every state, and go on', async () => {
    const { real } = pages.faults;
    await look(operator, '/admin/promo', 'none: ');
    const code = { amount: 5n * RUB, uses: 2, used: 0, until: null, days: null, opens: false, reason: 'trial' };
    const now = Date.now();
    const codes = [
      { ...code, code: 'A-ACTIVE', until: now + DAY_MS, days: 30 },
      { ...code, code: 'B-USED', used: 2 },
      { ...code, code: 'C-ENDED', endedAt: now },
      { ...code, code: 'D-OVER', until: now - 1 },
      { ...code, code: 'E-HALF', used: 1, opens: true },
    ];
    const rows = codes.map((each) => ({ endedAt: null, createdAt: 1, ...each }));
    await real.promos.put({ codes: rows, uses: [] });
    await look(operator, '/admin/promo?done=done');
    const more = Array.from({ length: 100 }, (_, at) => ({
      ...code,
      code: `F-${100 + at}`,
      endedAt: now,
      createdAt: 1,
    }));
    await real.promos.put({ codes: more, uses: [] });
    const list = async (path: string) => {
      const { text } = await operator.get(path);
      const [, next] = /<a href="([^"]+)" rel="next">/.exec(text) ?? [];
      return { next, found: [...text.matchAll(/<td[^>]*><code>([A-Z][^<]+)</g)].map(([, name]) => name) };
    };
    const first = await list('/admin/promo');
    const second = await list(first.next ?? '');
    expect(new Set([...first.found, ...second.found]).size).to.equal(first.found.length + second.found.length);
    expect(second.found[0]).to.equal(`F-${100 + first.found.length - 5}`);
    record('promo');
  });

  it('of the alerts of operators are unchanged, and send a test ten times an hour', async () => {
    const sent: string[] = [];
    const mailer = { send: async ({ to, text }: Mail) => void sent.push(`${to} ${text}`) } as unknown as Mailer;
    const mailing = await openPages({ mailer });
    try {
      await look(operator, '/admin/alerts', 'nobody gets any: ');
      const reader = await mailing.operator();
      await look(reader, '/admin/alerts?done=tested', 'by mail: ');
      for (let times = 1; times <= 10; times += 1) {
        const reply = await reader.submit('/admin/alerts', { change: 'test' });
        expect([reply.status, reply.headers.location]).to.deep.equal([303, '/admin/alerts?done=tested']);
        expect(sent.length).to.equal(times);
      }
      const late = await reader.submit('/admin/alerts', { change: 'test' });
      texts.push(`===== an eleventh test: ${late.status}\n${maskVarying(outlinePage(late.text))}`);
      expect([sent.length, sent[0]?.split(' ')[0]]).to.deep.equal([10, reader.email]);
    } finally {
      await mailing.close();
    }
    record('alerts');
  });

  it('of settings are unchanged for somebody who types a wrong password, then too often', async () => {
    const { submit } = await pages.owner();
    const fresh = 'another tulip in rain';
    const send = (language: string) =>
      submit(
        `/account/settings?lang=${language}`,
        { change: 'password', old: 'wrong', password: fresh, again: fresh },
        { action: '/account/settings' },
      );
    const said = async (language: string) => {
      const { status, text } = await send(language);
      const [, error = ''] =
        /id="[^"]*old[^"]*-error"[^>]*>([^<]*)</.exec(text) ?? /class="error"[^>]*>([^<]*)</.exec(text) ?? [];
      return `${status} ${error.replace(/\d+/, 'N')}`;
    };
    const wrong = ['400 The current password is wrong.', '400 Текущий пароль неверен.'];
    expect([await said('en'), await said('ru')]).to.deep.equal(wrong);
    let last = '';
    for (let times = 0; times < 20 && !last.startsWith('429'); times += 1) last = await said('en');
    expect([last, await said('ru')]).to.deep.equal([
      '429 Too many attempts. Try again in N s.',
      '429 Слишком много попыток. Повторите через N\u00a0с.',
    ]);
  });
});
