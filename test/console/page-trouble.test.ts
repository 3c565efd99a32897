// Forms whose row changes while they are answered, and what any form leaves behind: no held memory and no running call.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';
import { makeTotpSecret } from '../../lib/users/totp.ts';
import { until } from '../../testkit/client.ts';
import type { Behaviour } from '../../testkit/faulty-store.ts';
import { makeCode, PASSWORD } from '../../testkit/pages.ts';
import { RUB } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { after as behind, openPages, type Pages } from './stage.ts';

const SETTINGS = '/account/settings';
const ALERTS = '/account/settings/alerts';
const WALLET = '/account/wallet';

type Owner = Awaited<ReturnType<Pages['owner']>>;

describe('forms', () => {
  let pages: Pages;
  let owner: Owner;

  before(async () => {
    pages = await openPages();
  });
  beforeEach(async () => {
    owner = await pages.owner();
  });
  after(() => pages.close());

  const real = () => pages.faults.real;
  const readCsrf = async (path: string) => /name="csrf" value="([^"]+)"/.exec((await owner.get(path)).text)?.[1] ?? '';
  const send = async (path: string, fields: Readonly<Record<string, string>>) =>
    owner.post(path, { csrf: await readCsrf(path), ...fields });

  async function user() {
    const found = await real().users.find(owner.email);
    if (!found) throw new Error('there is no owner');
    return found;
  }

  async function addCard(): Promise<string> {
    const card = newMethod(owner.account);
    await real().payments.saveMethod(card);
    return card.id;
  }

  const auto = async (): Promise<AutoTopupRow> =>
    (await real().payments.autoTopup(owner.account)) ?? newAuto(owner.account, { enabled: false, method: null });
  const alerts = async () =>
    (await real().alerts.get(owner.account)) ?? {
      account: owner.account,
      balanceBelow: null,
      budgets: true,
      webhook: null,
      version: 0,
    };
  const hook = { url: 'https://hooks.example.com/1', secret: 'whsec_1' };

  interface Conflict {
    readonly name: string;
    readonly path: string;
    readonly call: Parameters<Pages['faults']['next']>[0];
    readonly fields: () => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
    /** A change by somebody else at the last moment. */
    readonly change: () => Promise<unknown>;
    readonly stateOf: () => Promise<unknown>;
  }

  const fresh = 'another tulip in rain';
  const bumped = async () => real().users.change(await user());
  const conflicts: readonly Conflict[] = [
    {
      name: 'the profile',
      path: SETTINGS,
      call: 'users.change',
      change: bumped,
      stateOf: async () => (await user()).timeZone,
      fields: () => ({ change: 'profile', language: 'ru', timeZone: 'Asia/Omsk' }),
    },
    {
      name: 'the password',
      path: SETTINGS,
      call: 'users.change',
      change: bumped,
      stateOf: async () => (await user()).password,
      fields: () => ({ change: 'password', old: PASSWORD, password: fresh, again: fresh }),
    },
    {
      name: 'the app',
      path: SETTINGS,
      call: 'users.change',
      change: bumped,
      stateOf: async () => (await user()).totpSecret,
      fields: () => {
        const secret = makeTotpSecret();
        return { change: 'app', secret, code: makeCode(secret), old: PASSWORD };
      },
    },
    {
      name: 'the alerts',
      path: ALERTS,
      call: 'alerts.change',
      stateOf: async () => (await alerts()).balanceBelow,
      change: async () => real().alerts.change(await alerts()),
      fields: () => ({ change: 'wishes', threshold: '5', webhook: '' }),
    },
    {
      name: 'the secret of alerts',
      path: ALERTS,
      call: 'alerts.change',
      stateOf: async () => (await alerts()).webhook,
      change: async () => real().alerts.change(await alerts()),
      async fields() {
        await real().alerts.change({ ...(await alerts()), webhook: hook });
        return { change: 'secret' };
      },
    },
    {
      name: 'the automatic top-up',
      path: WALLET,
      call: 'payments.changeAutoTopup',
      stateOf: async () => (await auto()).enabled,
      change: async () => real().payments.changeAutoTopup({ ...(await auto()), cap: 7n * RUB }),
      async fields() {
        const sums = { threshold: '500', amount: '1000', cap: '3000' };
        return { change: 'auto', ...sums, card: await addCard(), consent: 'yes' };
      },
    },
    {
      name: 'the end of the automatic top-up',
      path: WALLET,
      call: 'payments.changeAutoTopup',
      stateOf: async () => (await auto()).enabled,
      change: async () => real().payments.changeAutoTopup({ ...(await auto()), cap: 7n * RUB }),
      async fields() {
        await real().payments.changeAutoTopup(newAuto(owner.account, { method: await addCard() }));
        return { change: 'auto_off' };
      },
    },
  ];

  for (const { name, path, call, fields, change, stateOf } of conflicts) {
    it(`report that ${name} changed in the meantime, and change and log nothing`, async () => {
      const sent = await fields();
      const before = await stateOf();
      pages.faults.next(call, behind(change));
      const { status, text } = await send(path, sent);
      expect([status, text.includes('The settings have changed in the meantime.')]).to.deep.equal([400, true]);
      expect(await stateOf()).to.deep.equal(before);
      expect(await real().auditLog.page({ account: owner.account, limit: 1 })).to.deep.equal([]);
      // A second try succeeds.
      const again = await send(path, sent);
      expect(again.status).to.be.oneOf([200, 303]);
      expect(again.text).not.to.contain('The settings have changed in the meantime.');
    });
  }

  describe('hold no memory and leave no call behind', () => {
    const rest = () => [pages.budget.used(), pages.calls.count()];
    const profile = { change: 'profile', language: 'en', timeZone: 'UTC' };
    const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();

    /** Sends a body after its head, and checks that it is counted while it is awaited. */
    async function post(path: string, body: string, type = 'application/x-www-form-urlencoded'): Promise<unknown> {
      const cookie = `session=${owner.cookies.get('session')}`;
      const headers = { cookie, 'content-type': type, 'content-length': body.length };
      const sent = request(pages.url + path, { method: 'POST', agent: false, headers });
      sent.write(body.slice(0, 2));
      await until(() => pages.calls.count() > 0);
      expect(rest()).to.deep.equal([body.length, 1]);
      sent.end(body.slice(2));
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      return response.statusCode;
    }

    it('once they are read, while they are still being handled', async () => {
      let held: unknown;
      const look: Behaviour = async (call) => {
        held = rest();
        return call();
      };
      const csrf = await readCsrf(SETTINGS);
      pages.faults.next('users.change', look);
      expect(await post(SETTINGS, form({ ...profile, csrf }))).to.equal(303);
      expect([held, rest()]).to.deep.equal([
        [0, 0],
        [0, 0],
      ]);
    });

    it('after a refusal, before or after reading', async () => {
      const csrf = await readCsrf(SETTINGS);
      expect(await post(SETTINGS, form({ ...profile, csrf: 'wrong' }))).to.equal(403);
      expect(await post(SETTINGS, form({ ...profile, csrf, timeZone: 'Mars' }))).to.equal(400);
      expect(await post('/login', form({ email: owner.email }))).to.equal(403);
      const json = { headers: { 'content-type': 'application/json' } };
      expect((await owner.post(SETTINGS, { ...profile, csrf }, json)).status).to.equal(415);
      expect((await owner.post(SETTINGS, { csrf, timeZone: 'x'.repeat(70_000) })).status).to.equal(413);
      expect(rest()).to.deep.equal([0, 0]);
    });

    it('after a store failure', async () => {
      const fail: Behaviour = async () => {
        throw new Error('failed by the test');
      };
      const csrf = await readCsrf(SETTINGS);
      pages.faults.next('users.change', fail);
      expect(await post(SETTINGS, form({ ...profile, csrf }))).to.equal(500);
      expect(rest()).to.deep.equal([0, 0]);
    });

    it('after webhooks of payments', async () => {
      expect(await post('/payments/till/notice', '{"id":"1"}')).to.equal(200);
      const long = await fetch(`${pages.url}/payments/till/notice`, { method: 'POST', body: 'x'.repeat(70_000) });
      expect([long.status, rest()]).to.deep.equal([413, [0, 0]]);
    });
  });
});
