// What every reading verb answers about an account with some of everything, to its operator, to its owner and on the
// command line: a change of what is answered shows in the diff of `RECORD=1 npx mocha test/api/management/recorded.test.ts`.
import { expect } from 'chai';
import { createManagementKeys, OPERATOR_SCOPES } from '../../../lib/accounts/management-keys.ts';
import { foldUsage } from '../../../lib/ledger/usage-fold.ts';
import type { Verb } from '../../../lib/manage/verb.ts';
import { VERBS } from '../../../lib/manage/verbs.ts';
import { send, until } from '../../../testkit/client.ts';
import { avoidEndOfHour } from '../../../testkit/clock.ts';
import { startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpTour, TOUR_CATALOG, TOUR_ENV, type Tour } from '../../../testkit/page-tour.ts';
import { expectRecorded, maskVarying } from '../../../testkit/recorded.ts';
import { type MailServer, startMailServer } from '../../../testkit/smtp.ts';
import { runCommand } from '../../cli/command.ts';

/** What is asked besides everything. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  'charge list': ['?limit=2', '?state=released', '?model=sandbox-lite&kind=text'],
  usage: ['?by=day', '?by=model', '?by=key', '?by=kind', '?by=model&state=settled'],
  'cost report': ['?by=day', '?by=model', '?by=upstream', '?by=account'],
  'payment list': ['?phase=review', '?limit=2'],
  'ledger list': ['?limit=3'],
};

describe('recorded replies of the management API', function () {
  this.timeout(180_000);
  let mail: MailServer;
  let test: TestGateway;
  let tour: Tour;

  before(async () => {
    await avoidEndOfHour();
    mail = await startMailServer();
    const env = { ...TOUR_ENV, SMTP_URL: mail.url, MANAGEMENT_RATE_LIMIT_PER_MINUTE: '100000' };
    test = await startGateway({ catalog: TOUR_CATALOG, env });
    tour = await setUpTour(test);
    const { account } = tour.busy;
    await until(async () => (await test.store.keys.list(account.id)).filter(({ lastUsedAt }) => lastUsedAt).length > 1);
    for (const { id } of await test.store.accounts.list()) await foldUsage(test.store, id);
  });
  after(async () => {
    await test.stop();
    await mail.stop();
  });

  const READING = VERBS.filter(({ route, words }) => route.method === 'GET' && words !== 'catalog rates');

  for (const [who, of] of [
    ['operators', ({ route }: Verb) => `/manage${route.path}`],
    ['owners', ({ route: { own } }: Verb) => own && `/account${own}`],
  ] as const) {
    it(`to ${who} are unchanged`, async () => {
      const keys = createManagementKeys({ store: test.store, keyPrefix: 'tg-' });
      const terms = who === 'owners' ? { account: tour.busy.account.id } : { account: null, scopes: OPERATOR_SCOPES };
      const { key } = await keys.create({ name: 'reader', createdBy: 'usr_a', ...terms });
      const replies: string[] = [];
      for (const verb of READING) {
        const path = of(verb);
        if (path === undefined) continue;
        for (const place of fillPath(path)) {
          for (const query of ['', ...(QUERIES[verb.words] ?? [])]) {
            const { status, json } = await send(`${test.url}/api/v1${place}${query}`, { key });
            const text = JSON.stringify(json, null, 1).replace(/\n +/g, (space) => (space.length > 4 ? ' ' : space));
            replies.push(maskVarying(`===== ${verb.words}: ${place}${query} ${status}\n${text}`));
          }
        }
      }
      expect(replies.length).to.be.above(10);
      expectRecorded(new URL(`recorded-${who}.txt`, import.meta.url), replies);
    });
  }

  it('to commands are unchanged', async () => {
    const env = { PATH: process.env.PATH, DATABASE_URL: test.databaseUrl, DATA_DIR: test.folder };
    const replies: string[] = [];
    for (const { words, route } of READING) {
      const { path } = route;
      for (const place of fillPath(path)) {
        const named = path.split('/').flatMap((part, at) => (part.startsWith('{') ? [place.split('/')[at] ?? ''] : []));
        for (const query of ['', ...(QUERIES[words] ?? [])]) {
          const options = [...new URLSearchParams(query)].flatMap(([name, value]) => [`--${name}`, value]);
          const { code, stdout, stderr } = await runCommand([...words.split(' '), ...named, ...options], env);
          const text = `${stdout.replace(/Store: .*\n/, '')}${stderr}`;
          const masked = maskVarying(`===== ${[words, ...named, ...options].join(' ')}: ${code}\n${text}`);
          // Columns are as wide as what is masked.
          const narrow = masked.replace(/ +/g, ' ').replace(/\n\n+/g, '\n').trimEnd();
          replies.push(narrow.replace(/ [\d-]+ \d+ (reported|estimated|possible|none) /g, ' MS MS $1 '));
        }
      }
    }
    expectRecorded(new URL('recorded-commands.txt', import.meta.url), replies);
  });

  /** The paths of everything that a parameter may be. */
  function fillPath(path: string): readonly string[] {
    const { account, calls, keys, payments, colleague } = tour.busy;
    const values: Readonly<Record<string, readonly string[]>> = {
      account: [account.id],
      key: [keys.limited],
      user: [colleague],
      payment: Object.values(payments),
      request: [calls.text, calls.failed, calls.video],
      hold: ['hold_none'],
    };
    const [found, name = ''] = /\{(\w+)\}/.exec(path) ?? [];
    if (found === undefined) return [path];
    return (values[name] ?? []).flatMap((value) => fillPath(path.replace(found, value)));
  }
});
