// Forms whose row changes while they are answered, and what any form leaves behind: no memory held, and no call running.
import { expect } from 'chai';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';
import { makeSecret } from '../../lib/users/totp.ts';
import type { Behaviour } from '../../testkit/faulty-store.ts';
import { codeOf, createVisitor, PASSWORD } from '../../testkit/pages.ts';
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
  const csrfOf = async (path: string) => /name="csrf" value="([^"]+)"/.exec((await owner.get(path)).text)?.[1] ?? '';
  const send = async (path: string, fields: Readonly<Record<string, string>>) =>
    owner.post(path, { csrf: await csrfOf(path), ...fields });

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
      ...{ account: owner.account, balanceBelow: null, budgets: true, webhook: null, version: 0 },
    };
  const hook = { url: 'https://hooks.example.com/1', secret: 'whsec_1' };

  interface Conflict {
    readonly name: string;
    readonly path: string;
    readonly call: Parameters<Pages['faults']['next']>[0];
    readonly fields: () => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
    /** By somebody else, at the last moment. */
    readonly change: () => Promise<unknown>;
    readonly stateOf: () => Promise<unknown>;
  }

  const fresh = 'another tulip in rain';
  const bumped = async () => real().users.change(await user());
  const conflicts: readonly Conflict[] = [
    {
      name: 'the profile',
      ...{ path: SETTINGS, call: 'users.change', change: bumped, stateOf: async () => (await user()).timeZone },
      fields: () => ({ change: 'profile', language: 'ru', timeZone: 'Asia/Omsk' }),
    },
    {
      name: 'the password',
      ...{ path: SETTINGS, call: 'users.change', change: bumped, stateOf: async () => (await user()).password },
      fields: () => ({ change: 'password', old: PASSWORD, password: fresh, again: fresh }),
    },
    {
      name: 'the app',
      ...{ path: SETTINGS, call: 'users.change', change: bumped, stateOf: async () => (await user()).totpSecret },
      fields: () => {
        const secret = makeSecret();
        return { change: 'app', secret, code: codeOf(secret) };
      },
    },
    {
      name: 'the alerts',
      ...{ path: ALERTS, call: 'alerts.change', stateOf: async () => (await alerts()).balanceBelow },
      change: async () => real().alerts.change(await alerts()),
      fields: () => ({ change: 'wishes', threshold: '5', webhook: '' }),
    },
    {
      name: 'the secret of alerts',
      ...{ path: ALERTS, call: 'alerts.change', stateOf: async () => (await alerts()).webhook },
      change: async () => real().alerts.change(await alerts()),
      async fields() {
        await real().alerts.change({ ...(await alerts()), webhook: hook });
        return { change: 'secret' };
      },
    },
    {
      name: 'the automatic top-up',
      ...{ path: WALLET, call: 'payments.changeAutoTopup', stateOf: async () => (await auto()).enabled },
      change: async () => real().payments.changeAutoTopup({ ...(await auto()), cap: 7n * RUB }),
      async fields() {
        const sums = { threshold: '500', amount: '1000', cap: '3000' };
        return { change: 'auto', ...sums, card: await addCard(), consent: 'yes' };
      },
    },
    {
      name: 'the end of the automatic top-up',
      ...{ path: WALLET, call: 'payments.changeAutoTopup', stateOf: async () => (await auto()).enabled },
      change: async () => real().payments.changeAutoTopup({ ...(await auto()), cap: 7n * RUB }),
      async fields() {
        await real().payments.changeAutoTopup(newAuto(owner.account, { method: await addCard() }));
        return { change: 'auto_off' };
      },
    },
  ];

  for (const { name, path, call, fields, change, stateOf } of conflicts) {
    it(`say that ${name} changed in the meantime, and change and log nothing`, async () => {
      const sent = await fields();
      const before = await stateOf();
      pages.faults.next(call, behind(change));
      const { status, text } = await send(path, sent);
      expect([status, text.includes('Something changed in the meantime.')]).to.deep.equal([400, true]);
      expect(await stateOf()).to.deep.equal(before);
      expect(await real().auditLog.page({ account: owner.account, limit: 1 })).to.deep.equal([]);
      // Whoever looks again may do it.
      const again = await send(path, sent);
      expect(again.status).to.be.oneOf([200, 303]);
      expect(again.text).not.to.contain('Something changed in the meantime.');
    });
  }

  describe('hold no memory and leave no call behind', () => {
    const rest = () => [pages.budget.used(), pages.calls.count()];
    const profile = { change: 'profile', language: 'en', timeZone: 'UTC' };

    it('once they are read, though they are still dealt with', async () => {
      let held: unknown;
      const look: Behaviour = async (call) => {
        held = rest();
        return call();
      };
      pages.faults.next('users.change', look);
      expect((await send(SETTINGS, profile)).status).to.equal(303);
      expect([held, rest()]).to.deep.equal([
        [0, 0],
        [0, 0],
      ]);
    });

    it('after they were refused', async () => {
      const json = { headers: { 'content-type': 'application/json' } };
      const csrf = await csrfOf(SETTINGS);
      const statuses = [
        await owner.post(SETTINGS, { ...profile, csrf: 'wrong' }),
        await owner.post(SETTINGS, { ...profile, csrf }, json),
        await owner.post(SETTINGS, { ...profile, csrf, timeZone: 'x'.repeat(70_000) }),
        await owner.post(SETTINGS, { ...profile, csrf, timeZone: 'Mars' }),
        await createVisitor(pages.url).post('/login', { email: owner.email }),
      ].map(({ status }) => status);
      expect(statuses).to.deep.equal([403, 415, 413, 400, 403]);
      expect(rest()).to.deep.equal([0, 0]);
    });

    it('after a failure of the store', async () => {
      const fail: Behaviour = async () => {
        throw new Error('failed by the test');
      };
      const csrf = await csrfOf(SETTINGS);
      pages.faults.next('users.change', fail);
      expect((await owner.post(SETTINGS, { ...profile, csrf })).status).to.equal(500);
      expect(rest()).to.deep.equal([0, 0]);
    });

    it('after notices of payments and their pages', async () => {
      const post = async (path: string, body: string) =>
        (await fetch(`${pages.url}/payments/${path}`, { method: 'POST', body })).status;
      expect(await post('till/notice', '{"id":"1"}')).to.equal(200);
      expect(await post('till/notice', 'x'.repeat(70_000))).to.equal(413);
      expect(await post('gone/notice', '{}')).to.equal(404);
      expect(await post('till/page/1', 'button=paid')).to.equal(404);
      expect(rest()).to.deep.equal([0, 0]);
    });
  });
});
