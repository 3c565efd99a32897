// The payment services of several gateways on one real store, with a bank on loopback and a clock set by the test.

import { OperatorError } from '../../lib/base/operator-error.ts';
import type { OpenPayment } from '../../lib/catalog/payments.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { createPayments, type PaymentCounts, type Payments } from '../../lib/payments/payments.ts';
import { openStore } from '../../lib/store/open.ts';
import type { SavedMethodRow } from '../../lib/store/ports/payments.ts';
import type { User } from '../../lib/store/ports/users.ts';
import type { Store } from '../../lib/store/store.ts';
import type { PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import { createProvider, type OpenProvider } from '../../lib/upstream/host/settings.ts';
import { type Bank, startBank } from '../../testkit/bank.ts';
import till from '../../testkit/payments/till/index.ts';
import { newAccount, problemsOf, RUB, type StoreDatabase, type StoreKind } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

export interface Service {
  readonly payments: Payments;
  readonly store: Store;
  readonly changes: Payment[];
  readonly saved: SavedMethodRow[];
}

/** A stage for all tests of a suite, begun anew with one gateway's service for each. */
export function useStage(kind: StoreKind): { readonly stage: PaymentStage; service(): Service } {
  const stage = new PaymentStage();
  let service: Service | undefined;
  before(async function () {
    this.timeout(60_000);
    await stage.open(kind);
  });
  beforeEach(async () => {
    await stage.begin();
    service = stage.service();
  });
  afterEach(() => stage.rest());
  after(async function () {
    this.timeout(60_000);
    await stage.close();
  });
  return { stage, service: () => service as Service };
}

export class PaymentStage {
  bank: Bank = undefined as unknown as Bank;
  store: Store = undefined as unknown as Store;
  wallet = '';
  /** ms that the clock is ahead of the real one. */
  aheadMs = 0;
  readonly lines: { readonly level: string; readonly message: string }[] = [];
  /** Further settings of the till. */
  settings: object = {};
  shortfall: OpenPayment['shortfall'] = 'suspend';
  /** The till is switched off in the catalog. */
  isTillOff = false;
  #database: StoreDatabase | undefined;
  #opened: OpenProvider<PaymentProvider>[] = [];
  #services: Service[] = [];
  #stores: Store[] = [];

  readonly now = (): number => Date.now() + this.aheadMs;

  async open(kind: StoreKind): Promise<void> {
    this.#database = await kind.create();
    this.bank = await startBank();
    this.store = await this.openStore();
  }

  async begin(): Promise<void> {
    this.aheadMs = 0;
    this.lines.length = 0;
    this.settings = {};
    this.shortfall = 'suspend';
    this.isTillOff = false;
    const { bank } = this;
    bank.payments.clear();
    bank.asked.clear();
    Object.assign(bank, {
      hook: () => undefined,
      linkMs: 3_600_000,
      saves: null,
      charges: 'wait',
      refunds: 'succeeded',
    });
    this.wallet = await newAccount(this.store);
    await this.store.payments.removeOldWebhooks(Number.MAX_SAFE_INTEGER);
    await this.endOthers();
  }

  /** Somebody who has joined as an owner of the wallet. */
  async addOwner(given: Partial<User> = {}): Promise<User> {
    const user = makeUser(given);
    await this.store.users.add(user);
    await this.store.users.join({ user: user.id, account: this.wallet, role: 'owner' });
    return user;
  }

  /** Removes the orders of earlier tests. */
  async endOthers(): Promise<void> {
    const rows = await this.store.payments.list({ phases: ['created', 'pending', 'expired'], limit: 1000 });
    const ended = rows.map((row) => ({ ...row, phase: 'failed' as const, owner: null, lease: null, dueAt: null }));
    await this.store.payments.put('payments', ended);
  }

  /** Lets all leases expire and makes all payments due, by the store's clock. */
  async letTimePass(): Promise<void> {
    const now = Date.now();
    const rows = await this.store.payments.list({ wallet: this.wallet, limit: 100 });
    const due = rows.filter(({ dueAt }) => dueAt !== null);
    const next = due.map((one) => ({ ...one, dueAt: now, lease: one.lease === null ? null : now - 1000 }));
    await this.store.payments.put('payments', next);
  }

  get databaseUrl(): string {
    return this.#database?.url ?? '';
  }

  /** As another process would open it. */
  async openStore(): Promise<Store> {
    if (!this.#database) throw new OperatorError('the stage is not open');
    const store = await openStore(this.#database.url, { inProcess: true });
    this.#stores.push(store);
    return store;
  }

  /** The service of a gateway; `name` is its process. */
  service(name = 'own_1', store = this.store, counts?: PaymentCounts): Service {
    const [changes, saved]: [Payment[], SavedMethodRow[]] = [[], []];
    const note = (level: string) => (_fields: object, message: string) => void this.lines.push({ level, message });
    const settings = { baseUrl: this.bank.url, ...this.settings };
    const open = createProvider({ plugin: till, upstream: 'till', settings, log: { warn() {} } });
    this.#opened.push(open as OpenProvider<PaymentProvider>);
    const provider = open.provider as PaymentProvider;
    const payments = createPayments({
      store,
      providers: () => new Map(this.isTillOff ? [] : [['till', { name: 'till', provider, shortfall: this.shortfall }]]),
      publicUrl: () => 'https://gate.example.com',
      ownerId: name,
      leaseMs: 500,
      clock: { now: this.now, canJudgeOthers: () => true },
      log: { info: note('info'), warn: note('warn'), error: note('error') },
      onSaved: (method) => void saved.push(method),
      counts,
    });
    payments.onChange((payment) => void changes.push(payment));
    const made = { payments, store, changes, saved };
    this.#services.push(made);
    return made;
  }

  order({ payments }: Service, rub = 1000, more: object = {}): Promise<Payment> {
    const amount = BigInt(rub) * RUB;
    const asked = { wallet: this.wallet, provider: 'till', amount, locale: 'en', saveMethod: false } as const;
    return payments.order({ ...asked, ...more });
  }

  /** Posts a webhook like the bank. */
  sendWebhook({ payments }: Pick<Service, 'payments'>, id: string | undefined) {
    return payments.handleWebhook('till', { headers: {}, body: JSON.stringify({ id }), address: '127.0.0.1' });
  }

  /** The bank's id of an order's payment. */
  refOf({ id }: Payment): string | undefined {
    return this.bank.ofOrder(id)[0]?.id;
  }

  /** An order that was paid. */
  async credited(service: Service, rub = 1000): Promise<Payment> {
    const payment = await this.order(service, rub);
    this.bank.pay(payment.id);
    return (await service.payments.poll(payment.id)) as Payment;
  }

  async topped(): Promise<bigint> {
    return (await this.store.ledger.wallet(this.wallet))?.topped ?? 0n;
  }

  async payment(id: string): Promise<Payment> {
    return (await this.store.payments.get(id)) as Payment;
  }

  problems(): Promise<readonly string[]> {
    return problemsOf(this.store, this.wallet);
  }

  async rest(): Promise<void> {
    for (const { payments } of this.#services.splice(0)) await payments.stop();
    for (const { close } of this.#opened.splice(0)) await close();
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
    await this.bank.close();
    await this.#database?.remove();
  }
}
