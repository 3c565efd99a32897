// `tollgate payment`, in both modes: payments, and decisions of operators, which apply once.
import { join } from 'node:path';
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { applied } from '../contract/store/context.ts';
import { changed, creditOf, newOrder, newSucceeded } from '../contract/store/payments.ts';
import { createRig, type Rig, runCommand } from './command.ts';

describe('cli payment', () => {
  let rig: Rig;
  let store: Store;
  let account: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'first')).account_id);
    store = await openStore(rig.databaseUrl, { inProcess: true });
  });
  after(async () => {
    await store.close();
    await rig.close();
  });

  const balance = async () => (await rig.json('wallet', 'show', account)).balance_rub;
  const reviewed = async () => {
    const { id } = await changed(store, await newSucceeded(store, account), { kind: 'review', reason: 'sum' });
    return id;
  };
  const credited = async () => {
    const payment = await newSucceeded(store, account);
    await applied(store, creditOf(payment));
    return payment.id;
  };

  it('checks a payment plugin by its folder, without a store', async () => {
    const folder = join(import.meta.dirname, '../../payments/sandbox');
    const env = { PATH: process.env.PATH, DATABASE_URL: 'nonsense' };
    const { code, stdout } = await runCommand(['payment', 'check', folder], env);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^\nprovider\n {2}✓ .*\n {2}✓ has a way to pay.*checks, all passed\n$/s);
  });

  it('lists payments by account and phase, and shows one', async () => {
    expect(await rig.text('payment', 'list')).to.include('No payments.');
    const order = newOrder(account);
    await store.payments.create(order);
    const id = await reviewed();
    const { payments } = await rig.json('payment', 'list', '--account', 'first', '--phase', 'review');
    expect(payments).to.have.length(1);
    expect(await rig.text('payment', 'list')).to.match(new RegExp(`^${order.id} .*created +1000\\.00 RUB`, 'm'));
    const json = await rig.json('payment', 'show', id);
    expect(json).to.include({ payment_id: id, account_id: account, phase: 'review', reason: 'sum', ordered_rub: 1000 });
    expect(json).to.deep.include({ provider_state: {}, refunds: [], dispute: null });
    expect(await rig.text('payment', 'show', id)).to.match(/^phase +review$/m);
    expect(await rig.refused(1, 'payment', 'show', 'pay_none')).to.include('no payment pay_none');
    expect(await rig.refused(2, 'payment', 'list', '--phase', 'lost')).to.include('lost');
  });

  it('lists payments in pages that lack none, also of those made at once', async () => {
    const { account_id: payer } = await rig.json('account', 'create', '--name', 'payer');
    const orders = [1, 2, 2, 2, 3].map((createdAt) => newOrder(String(payer), { createdAt }));
    for (const order of orders) await store.payments.create(order);
    const found: string[] = [];
    let next: unknown;
    do {
      const on = next === undefined ? [] : ['--before', String(next)];
      const page = await rig.json('payment', 'list', '--account', String(payer), '--limit', '2', ...on);
      found.push(...(page.payments as { payment_id: string }[]).map(({ payment_id: id }) => id));
      next = page.next;
    } while (typeof next === 'string');
    expect(found).to.have.members(orders.map(({ id }) => id));
    expect(await rig.text('payment', 'list', '--limit', '2')).to.match(
      /\nOlder payments: repeat with --before pay_\S+\n$/,
    );
    expect(await rig.refused(1, 'payment', 'list', '--before', 'pay_none')).to.include('no payment pay_none');
  });

  it('decides on a payment in review once', async () => {
    const one = await reviewed();
    const other = await reviewed();
    const decide = (id: string, ...how: string[]) => ['payment', 'decide', id, ...how, '--reason', 'seen'] as const;
    expect(await rig.refused(2, ...decide(one))).to.include('--credit');
    expect(await rig.refused(2, ...decide(one, '--credit', '5', '--reject'))).to.include('cannot be used');
    expect(await rig.refused(2, ...decide(one, '--credit', '999.995'))).to.include('whole kopecks');
    expect(await rig.json(...decide(one, '--credit', '999.5'))).to.include({ phase: 'credited', credited_rub: 999.5 });
    expect(await rig.json(...decide(one, '--credit', '999.5'))).to.include({ repeated: true });
    expect(await rig.refused(1, ...decide(one, '--reject'))).to.include('is credited');
    expect(await rig.json(...decide(other, '--reject'))).to.include({ phase: 'rejected', repeated: false });
    expect(await balance()).to.equal(999.5);
  });

  it('requests a refund once, and not more than the payment', async () => {
    const id = await credited();
    const ask = (rub: string) => ['payment', 'refund', id, rub, '--reason', 'wish', '--refund-id', 'mine'] as const;
    expect(await rig.refused(1, ...ask('1000.01'))).to.include('cannot be done');
    const json = await rig.json(...ask('300'));
    expect(json).to.include({ phase: 'credited', refunded_rub: 0, repeated: false });
    const [one, ...others] = json.refunds as { at: string }[];
    const wanted = { refund_id: 'mine', provider_refund_id: null, amount_rub: 300, state: 'asked', reason: 'wish' };
    expect([one, others]).to.deep.equal([{ ...wanted, at: one?.at }, []]);
    expect(await rig.json(...ask('300'))).to.include({ repeated: true });
    expect(await rig.text(...ask('300'))).to.match(/^It had been done before; nothing changed\.\npayment +pay_/);
    expect(await store.payments.get(id))
      .to.have.property('dueAt')
      .above(0);
    expect(await rig.refused(1, 'payment', 'refund', 'pay_none', '5', '--reason', 'r')).to.include('no payment');
    // Without an id of one's own, a repeat is another refund.
    const other = await credited();
    for (const refunds of [1, 2]) {
      expect((await rig.json('payment', 'refund', other, '10', '--reason', 'r')).refunds).to.have.length(refunds);
    }
    expect(await rig.text('payment', 'refund', other, '10', '--reason', 'r')).to.match(
      /^Refund requested; a running gateway sends it\.\npayment +pay_/,
    );
  });

  it('records a partial dispute, and names the amount left in refusals', async () => {
    const id = await credited();
    const enter = (...how: string[]) => ['payment', 'dispute', id, ...how] as const;
    for (const how of [
      ['--open', 'CB', '--won'],
      ['--open', 'CB', '--lost'],
      ['--won', '--lost'],
    ]) {
      expect(await rig.refused(2, ...enter(...how))).to.include('cannot be used');
    }
    const json = await rig.json(...enter('--open', 'CB', '--amount', '300'));
    expect(json.dispute).to.deep.equal({ dispute_id: 'CB', amount_rub: 300 });
    expect(await rig.json(...enter('--lost'))).to.include({ refunded_rub: 300, shortfall_rub: 0 });
    expect(await rig.text('payment', 'show', id))
      .to.match(/^gone back +300\.00 RUB$/m)
      .and.not.to.match(/^missing/m);
    expect(await rig.refused(1, ...enter('--won'))).to.match(/with 700\.00 RUB left: it cannot be done\.$/m);
    const { payments } = (await rig.json('payment', 'list', '--limit', '1')) as { payments: object[] };
    expect(payments).to.have.length(1);
  });

  it('records a dispute and its end', async () => {
    const lost = await credited();
    const won = await credited();
    const before = Number(await balance());
    const enter = (id: string, ...how: string[]) => ['payment', 'dispute', id, ...how] as const;
    expect(await rig.refused(2, ...enter(lost))).to.include('--open');
    for (const id of [lost, won]) {
      expect(await rig.json(...enter(id, '--open', `CB ${id}`))).to.include({ phase: 'disputed' });
    }
    expect(await balance()).to.equal(before);
    expect(await rig.json(...enter(won, '--won'))).to.include({ phase: 'kept' });
    expect(await rig.json(...enter(lost, '--lost'))).to.include({ phase: 'reversed', refunded_rub: 1000 });
    expect(await rig.json(...enter(lost, '--lost'))).to.include({ repeated: true });
    expect(await rig.refused(1, ...enter(won, '--lost'))).to.include('is kept');
    expect(await balance()).to.equal(before - 1000);
    expect((await rig.json('ledger', 'verify')).ok).to.equal(true);
    expect((await rig.json('wallet', 'show', account)).status).to.equal('active');
  });

  it('suspends an account that lacks the money of a lost dispute, unless told not to', async () => {
    const accounts: string[] = [];
    for (const [how, status] of [
      [[], 'suspended'],
      [['--no-suspend'], 'active'],
      [['--suspend'], 'suspended'],
    ] as const) {
      account = String((await rig.json('account', 'create', '--name', `n${accounts.push('')}`)).account_id);
      const id = await credited();
      await rig.json('wallet', 'adjust', account, '-400', '--reason', 'less is there than goes back');
      await rig.json('payment', 'dispute', id, '--open', `CB ${id}`);
      const json = await rig.json('payment', 'dispute', id, '--lost', ...how);
      expect(json).to.include({ refunded_rub: 1000, shortfall_rub: 400 });
      expect(await rig.text('payment', 'show', id)).to.match(/^missing +400\.00 RUB$/m);
      expect((await rig.json('wallet', 'show', account)).status).to.equal(status);
    }
  });
});
