// Each call to the store and each request to the bank fails once: the caller repeats it, another gateway continues, and
// in the end the wallet has what the bank holds, once.
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import type { Wallet } from '../../lib/money/decide.ts';
import { parseDispute } from '../../lib/money/payment.ts';
import {
  decideReview,
  endDispute,
  type OperatorOutcome,
  openDispute,
  requestRefund,
} from '../../lib/payments/operator.ts';
import { type Call, mapCalls, READS } from '../../lib/store/port-calls.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';
import type { Asked, BankPayment } from '../../testkit/bank.ts';
import { until } from '../../testkit/client.ts';
import { lose, refuse } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { newAccount, RUB, type StoreKind } from '../contract/store/context.ts';
import { PaymentStage, type Service } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`payments whose calls fail, on ${kind.name}`, () => suite(kind));

/** What a test runs one life of short of: the calls that move money. */
const MONEY = ['payments.create', 'payments.change', 'ledger.apply', 'payments.saveMethod', 'settings.get'];
const CARD = { id: 'card-1', kind: 'card', brand: 'Visa', last4: '4242', expiry: '2030-01', fingerprint: 'f' };
const TRIES_MAX = 6;

function suite(kind: StoreKind): void {
  const stage = new PaymentStage();

  before(async function () {
    this.timeout(60_000);
    await stage.open(kind);
  });
  afterEach(() => stage.rest());
  after(async function () {
    this.timeout(60_000);
    await stage.close();
  });

  /** Repeats like a payer who reloads the page, a provider that resends its webhook, or an operator. */
  async function again<T>(run: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof StoreError) || tries === TRIES_MAX) throw error;
      }
    }
  }

  const entered = async (run: () => Promise<OperatorOutcome>) => {
    const { status } = await again(run);
    expect(status).to.be.oneOf(['done', 'exists']);
  };

  async function noticed(service: Service, id: string): Promise<void> {
    const [{ id: ref }] = stage.bank.ofOrder(id) as [BankPayment];
    await until(async () => (await again(() => stage.sendWebhook(service, ref))) === 'done');
  }

  /** Continues until only unpaid orders are open. */
  async function recover(): Promise<void> {
    const other = stage.service('own_other');
    const waits = async () => {
      const rows = await stage.store.payments.list({ wallet: stage.wallet, limit: 10 });
      const isOpen = (id: string) => stage.bank.ofOrder(id).every(({ status }) => status === 'pending');
      return rows.some(({ id, phase, dueAt }) => dueAt !== null && !(phase === 'pending' && isOpen(id)));
    };
    if (!(await waits())) return;
    other.payments.start();
    await until(async () => {
      await stage.letTimePass();
      return !(await waits());
    }, 20_000);
    await other.payments.stop();
  }

  /** Orders, pays at once, and returns; undefined if the bank refused the order. */
  async function credited(service: Service, paid: Partial<BankPayment> = {}): Promise<string | undefined> {
    stage.bank.saves = CARD;
    const { id } = await again(() => stage.order(service, 1000, { saveMethod: true }));
    const find = () => stage.bank.ofOrder(id)[0];
    if (!find() && (await stage.payment(id)).phase !== 'failed') {
      await stage.letTimePass();
      const other = stage.service('own_maker');
      other.payments.start();
      await until(async () => find() !== undefined || (await stage.payment(id)).phase === 'failed');
      await other.payments.stop();
    }
    if (!find()) return undefined;
    stage.bank.pay(id, paid);
    await again(() => service.payments.poll(id));
    if (!['credited', 'review'].includes((await stage.payment(id)).phase)) await recover();
    expect((await stage.payment(id)).phase).to.be.oneOf(['credited', 'review']);
    return id;
  }

  /** Each with the calls that it must make, so that none is missed unnoticed. */
  const LIVES: Readonly<
    Record<string, { readonly live: (service: Service) => Promise<void>; readonly calls: readonly string[] }>
  > = {
    'an order, its refund and a lost dispute': {
      calls: [
        ...['payments.create', 'payments.get', 'payments.list', 'payments.change', 'payments.saveMethod'],
        ...['ledger.wallet', 'ledger.apply'],
      ],
      async live(service) {
        const { store } = service;
        const id = await credited(service);
        if (id === undefined) return;
        const wish = { at: Date.now(), amount: 300n * RUB, reason: 'wish', refund: `rfd_${id}` };
        await entered(() => requestRefund(store, id, wish));
        await again(() => service.payments.poll(id));
        await recover();
        const dispute = { at: Date.now(), dispute: `cb_${id}`, amount: 400n * RUB };
        await entered(() => openDispute(store, id, dispute));
        await entered(() => endDispute(store, id, { at: Date.now(), how: 'lost', suspend: true }));
      },
    },
    'webhooks of a payment and of what went back, and a dispute that is won': {
      calls: ['payments.addWebhook', 'payments.find', 'payments.setWebhookVerdict', 'payments.change', 'ledger.apply'],
      async live(service) {
        const { store } = service;
        const { id } = await again(() => stage.order(service));
        if (stage.bank.ofOrder(id).length === 0) return;
        stage.bank.pay(id);
        await noticed(service, id);
        await entered(() => openDispute(store, id, { at: Date.now(), dispute: `cb_${id}` }));
        stage.bank.giveBack(id, 200n * RUB);
        await noticed(service, id);
        await entered(() => endDispute(store, id, { at: Date.now(), how: 'won', suspend: true }));
        stage.bank.giveBack(id, 300n * RUB);
        await noticed(service, id);
        expect(await stage.payment(id)).to.include({ phase: 'kept', refunded: 500n * RUB });
      },
    },
    'a payment that an operator decides on': {
      calls: ['payments.get', 'payments.change', 'ledger.apply'],
      async live(service) {
        const id = await credited(service, { amount: String(999n * RUB) });
        if (id === undefined) return;
        const verdict = { at: Date.now(), reason: 'seen', credit: 999n * RUB };
        await entered(() => decideReview(service.store, id, verdict));
      },
    },
    'play money, also by an operator': {
      calls: ['settings.get', 'payments.change', 'ledger.apply'],
      async live() {
        stage.settings = { live: false };
        const service = stage.service('own_play', plannedNow);
        await credited(service, { test: true });
        const id = await credited(service, { test: true, currency: 'USD' });
        if (id === undefined) return;
        const verdict = { at: Date.now(), reason: 'seen', credit: 1000n * RUB };
        await entered(() => decideReview(service.store, id, verdict));
      },
    },
  };

  /** The store of the current run. */
  let plannedNow: Store;
  /** Of the runs of a test: to read all wallets again after each run would take a third of the time. */
  const wallets = new Set<string>();
  afterEach(async () => {
    const { problems } = await verifyLedger(stage.store);
    expect(problems.filter(({ wallet }) => wallets.has(wallet))).to.deep.equal([]);
  });

  /** Resolves to the calls made. */
  async function run(name: string, at: number | undefined, how: 'refuse' | 'lose' = 'refuse'): Promise<string[]> {
    await stage.begin();
    stage.wallet = await newAccount(stage.store);
    const calls: string[] = [];
    plannedNow = mapCalls(stage.store, (call: Call, { port, name }) => (...args) => {
      calls.push(`${port}.${name}`);
      const isNext = calls.length - 1 === at;
      return isNext ? (how === 'lose' ? lose : refuse)(() => call(...args), args) : call(...args);
    });
    await LIVES[name]?.live(stage.service('own_1', plannedNow));
    await recover();
    await checkMoney();
    await stage.rest();
    return calls;
  }

  async function checkMoney(): Promise<void> {
    const { wallet, store, bank } = stage;
    const rows = await store.payments.list({ wallet, limit: 10 });
    const orders = rows.filter(({ phase }) => phase !== 'review').map(({ id }) => id);
    const lost = rows.reduce((sum, row) => sum + BigInt(parseDispute(row)?.taken ?? 0), 0n);
    const { topped, avail } = (await store.ledger.wallet(wallet)) as Wallet;
    expect(topped, 'in the wallet').to.equal(bank.holds(orders) - lost);
    expect(avail).to.equal(topped);
    for (const order of orders) expect(bank.ofOrder(order).length, 'payments at the bank').to.be.at.most(1);
    const entries = await store.ledger.entries(wallet, { limit: 50 });
    expect(new Set(entries.map(({ opId }) => opId)).size).to.equal(entries.length);
    wallets.add(wallet);
  }

  for (const [name, { calls: least }] of Object.entries(LIVES)) {
    it(`${name}, whichever call of the store fails`, async function () {
      this.timeout(600_000);
      const calls = await run(name, undefined);
      expect(calls).to.include.members([...least]);
      for (const [at, call] of calls.entries()) {
        if (!longer(MONEY.includes(call), true)) continue;
        const ways = isRead(call) ? (['refuse'] as const) : (['refuse', 'lose'] as const);
        for (const how of ways) {
          await run(name, at, how).catch((error: Error) => {
            error.message = `call ${at}, ${call}, ${how}: ${error.message}`;
            throw error;
          });
        }
      }
    });

    it(`${name}, whichever request to the bank fails`, async function () {
      this.timeout(600_000);
      await run(name, undefined);
      const requests = [...stage.bank.asked.values()].reduce((sum, count) => sum + count, 0);
      // What a bank says is the same to every store.
      const answers =
        kind === SQLITE ? longer(['lost'] as const, ['lost', 500, 400, 401, 404, 429] as const) : (['lost'] as const);
      for (const answer of answers) {
        for (let at = 0; at < requests; at += 1) {
          await runAtBank(name, at, answer).catch((error: Error) => {
            error.message = `request ${at} of ${requests}, ${answer}: ${error.message}`;
            throw error;
          });
        }
      }
    });
  }

  async function runAtBank(name: string, at: number, answer: 'lost' | number): Promise<void> {
    let count = -1;
    const hook = (_asked: Asked, when: 'before' | 'after') => {
      if (when === 'before') count += 1;
      if (count !== at) return undefined;
      if (answer === 'lost' && when === 'after') throw new Error('lost');
      return answer !== 'lost' && when === 'before' ? answer : undefined;
    };
    const begin = stage.begin;
    stage.begin = async () => {
      await begin.call(stage);
      stage.bank.hook = hook;
    };
    try {
      await run(name, undefined);
    } finally {
      stage.begin = begin;
    }
  }
}

function isRead(call: string): boolean {
  const [port = '', name = ''] = call.split('.');
  const reads: Readonly<Record<string, readonly string[]>> = READS;
  return reads[port]?.includes(name) === true;
}
