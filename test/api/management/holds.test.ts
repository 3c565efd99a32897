// Holds of the operator's own services: what they hold, charge and return, within which limits, and what reports show.
import { expect } from 'chai';
import { getBudgetKeyId } from '../../../lib/money/budget.ts';
import type { Operation } from '../../../lib/money/decide.ts';
import { until } from '../../../testkit/client.ts';
import { setUpOwner } from '../../../testkit/pages.ts';
import { applied } from '../../contract/store/context.ts';
import { type ManagementStage, openManagementStage } from './stage.ts';

describe('holds of own services', () => {
  let stage: ManagementStage;
  let key: string;

  before(async () => {
    stage = await openManagementStage({ LEASE_MS: '200' });
    key = await stage.managementKey();
  });
  after(async () => {
    await stage.gateway.checkMoney();
    await stage.gateway.stop();
  });

  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    stage.ask(key, `/manage${path}`, body, { headers });
  const get = (path: string) => stage.ask(key, `/manage${path}`);
  const balanceOf = async (account: string) => (await get(`/accounts/${account}/wallet`)).json.balance_rub;

  it('charge at most what is held, give the rest back, and are added up by their reason', async () => {
    const { id: account } = await stage.gateway.account();
    const { json: held } = await post('/holds', { account, amount_rub: 120, reason: 'gpu-render' });
    expect(held).to.include({ state: 'held', held_rub: 120, balance_rub: 880 });
    const above = await post(`/holds/${held.hold_id}/settle`, { amount_rub: 120.000001 });
    expect([above.status, above.json.error.message]).to.deep.equal([
      409,
      'Nothing was changed: the hold is 120.00 RUB: at most that can be charged.',
    ]);
    const settle = { amount_rub: 97.5, usage: { seconds: 840 } };
    const { json: settled } = await post(`/holds/${held.hold_id}/settle`, settle);
    expect(settled).to.include({
      state: 'settled',
      charged_rub: 97.5,
      held_rub: 0,
      balance_rub: 902.5,
      repeated: false,
    });
    expect((await post(`/holds/${held.hold_id}/settle`, settle)).json).to.include({ repeated: true });
    const other = await post(`/holds/${held.hold_id}/settle`, { amount_rub: 5 });
    expect(other.json.error.message).to.contain(`the hold ${held.hold_id} is settled with 97.50 RUB`);
    expect((await post(`/holds/${held.hold_id}/release`, {})).status).to.equal(409);
    const { json: usage } = await get(`/accounts/${account}/usage?by=model&kind=service`);
    expect(usage.rows).to.have.length(1);
    expect(usage.rows[0]).to.include({ model: 'gpu-render', calls: 1, charged_rub: 97.5, seconds: 840 });
    const { json: call } = await get(`/charges/${held.hold_id}`);
    expect(call).to.include({ kind: 'service', state: 'settled' }).and.deep.include({ attempts: [] });
    expect(call.key_id).to.match(/^mk_/);
  });

  it('are made once under an idempotency key, and given back by a release', async () => {
    const { id: account } = await stage.gateway.account();
    const body = { account, amount_rub: 10, reason: 'search' };
    const [first, second] = [
      await post('/holds', body, { 'idempotency-key': 'job' }),
      await post('/holds', body, { 'idempotency-key': 'job' }),
    ];
    expect(second.text).to.equal(first.text);
    expect(await balanceOf(account)).to.equal(990);
    const { json } = await post(`/holds/${first.json.hold_id}/release`, {});
    expect(json).to.include({ state: 'released', charged_rub: 0, balance_rub: 1000 });
  });

  it('go back when their lease is over, unless it is renewed, and cannot be settled then', async () => {
    const { id: account } = await stage.gateway.account();
    const hold = async (lease_seconds: number) =>
      (await post('/holds', { account, amount_rub: 10, reason: 'job', lease_seconds })).json.hold_id;
    const [short, renewed] = [await hold(1), await hold(1)];
    expect((await post(`/holds/${renewed}/renew`, { lease_seconds: 600 })).status).to.equal(200);
    await until(async () => (await get(`/holds/${short}`)).json.state === 'expired');
    expect((await get(`/holds/${renewed}`)).json).to.include({ state: 'held', held_rub: 10 });
    expect((await get('/ledger/verify')).json).to.include({ ok: true });
    expect(await balanceOf(account)).to.equal(990);
    for (const [path, body] of [
      ['settle', { amount_rub: 5 }],
      ['renew', {}],
      ['release', {}],
    ] as const) {
      const { status, json } = await post(`/holds/${short}/${path}`, body);
      expect([path, status], json.error.message).to.deep.equal([path, 409]);
    }
    expect((await post(`/holds/${renewed}/settle`, { amount_rub: 0 })).json).to.include({ balance_rub: 1000 });
  });

  it('count in the budget of a key, and in that of its end user', async () => {
    const { id: account, keyId } = await stage.gateway.account();
    await post(`/keys/${keyId}/limits`, { budget_rub: 50, user_budget_rub: 20, user_reset: 'day' });
    const hold = (amount_rub: number, user: string) =>
      post('/holds', { account, amount_rub, reason: 'job', key: keyId, user });
    const { json: ann } = await hold(15, 'ann');
    const over = await hold(15, 'ann');
    expect(over.status).to.equal(402);
    expect(over.json.error.message).to.contain('end user "ann"').and.contain(' 5.00 RUB of it is left.');
    expect((await hold(18, 'bob')).status).to.equal(200);
    const third = await hold(18, 'eve');
    expect(third.json.error.message)
      .to.contain('The budget of the key "test key" does not cover')
      .and.contain(' 17.00 RUB of it is left.');
    await post(`/holds/${ann.hold_id}/settle`, { amount_rub: 1 });
    expect((await hold(18, 'ann')).status).to.equal(200);
    const [sum] = await stage.gateway.store.ledger.budgets([getBudgetKeyId({ id: keyId, budgetKey: null })]);
    expect(sum?.spent).to.equal(37_000_000n);
    const all = (await get(`/accounts/${account}/charges?state=held`)).json.charges;
    for (const { request_id } of all) await post(`/holds/${request_id}/release`, {});
  });

  it('are refused like calls: without money, before the first top-up, of a suspended account, with a foreign key', async () => {
    const { gateway } = stage;
    const [paid, other, empty] = [await gateway.account(), await gateway.account(), await gateway.account('0')];
    const hold = async (body: object) => {
      const { status, json } = await post('/holds', { reason: 'job', amount_rub: 1001, ...body });
      return [status, json.error.message];
    };
    expect((await hold({ account: paid.id }))[0]).to.equal(402);
    expect((await hold({ account: empty.id }))[0]).to.equal(402);
    expect((await hold({ account: 'acc_none' }))[0]).to.equal(404);
    expect((await hold({ account: paid.id, key: other.keyId }))[0]).to.equal(404);
    expect((await hold({ account: paid.id, user: 'ann' }))[0]).to.equal(400);
    expect((await hold({ account: paid.id, reason: 'x'.repeat(101) }))[0]).to.equal(400);
    expect((await hold({ account: paid.id, lease_seconds: 604_801 }))[0]).to.equal(400);
    await gateway.store.accounts.setStatus(paid.id, 'suspended');
    expect((await hold({ account: paid.id, amount_rub: 5 }))[0]).to.equal(403);
  });

  it('take counts that sums and reports can hold, however many calls have them', async () => {
    const { id: account } = await stage.gateway.account();
    const settle = async (seconds: number) => {
      const { json } = await post('/holds', { account, amount_rub: 1, reason: 'job' });
      const reply = await post(`/holds/${json.hold_id}/settle`, { amount_rub: 1, usage: { seconds } });
      if (reply.status !== 200) await post(`/holds/${json.hold_id}/release`, {});
      return reply;
    };
    const most = 1_000_000_000;
    for (const above of [most + 1, Number.MAX_SAFE_INTEGER]) {
      const { status, json } = await settle(above);
      expect([status, json.error?.message]).to.deep.equal([400, json.error?.message]);
      expect(json.error.message).to.contain('whole numbers up to 1000000000');
    }
    for (let calls = 0; calls < 2; calls += 1) expect((await settle(most)).status).to.equal(200);
    const { status, json } = await get(`/accounts/${account}/usage?by=model&state=settled`);
    expect([status, json.rows?.[0]?.seconds]).to.deep.equal([200, 2 * most]);
    expect((await get('/ledger/verify')).json).to.include({ ok: true });
  });

  it('are exact when many are made at once', async () => {
    const { id: account } = await stage.gateway.account();
    const all = await Promise.all(
      Array.from({ length: 30 }, () => post('/holds', { account, amount_rub: 100, reason: 'job' })),
    );
    const held = all.filter(({ status }) => status === 200);
    expect(held).to.have.length(10);
    expect(await balanceOf(account)).to.equal(0);
    await Promise.all(held.map(({ json }) => post(`/holds/${json.hold_id}/settle`, { amount_rub: 1 })));
    expect(await balanceOf(account)).to.equal(990);
  });

  it('are shown on the pages of their owner', async () => {
    const { id: account } = await stage.gateway.account();
    const { json } = await post('/holds', { account, amount_rub: 10, reason: 'gpu-render' });
    await post(`/holds/${json.hold_id}/settle`, { amount_rub: 4, usage: { seconds: 7 } });
    const owner = await setUpOwner(stage.gateway, account);
    expect((await owner.get('/account/calls?lang=en&kind=service')).text).to.contain('gpu-render');
    const { text } = await owner.get(`/account/calls/${json.hold_id}?lang=en`);
    expect(text).to.contain('<dd>service</dd>').and.to.contain('gpu-render').and.to.contain('4.00');
    expect((await owner.get('/account/usage?lang=en&by=kind')).text).to.contain('service');
  });
});

describe('holds of own services beside the sandbox alone', () => {
  it('take play money, because no model costs anything', async () => {
    const stage = await openManagementStage({ SANDBOX: 'on' }, undefined, {});
    const { gateway } = stage;
    try {
      const { id: account } = await gateway.account('0');
      const gift = {
        kind: 'topup',
        wallet: account,
        amount: 1_000_000_000n,
        paymentId: 'gift',
        at: Date.now(),
      } as const;
      await applied(gateway.store, { ...gift, isPlay: true } as Operation);
      const hold = { account, amount_rub: 10, reason: 'job' };
      const key = await stage.managementKey();
      const { status, json } = await stage.ask(key, '/manage/holds', hold);
      expect([status, json.state, json.balance_rub]).to.deep.equal([200, 'held', 990]);
      expect((await stage.ask(key, `/manage/holds/${json.hold_id}/release`, {})).json.balance_rub).to.equal(1000);
      await gateway.checkMoney();
    } finally {
      await gateway.stop();
    }
  });
});
