// Automatic top-ups while the store, the bank and the emails fail: each call fails once, before or after its effect.
// Nothing is charged twice, nothing is lost, and the next round continues.
import { expect } from 'chai';
import type { AlertContent } from '../../lib/alerts/watch.ts';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { readTopupBounds } from '../../lib/catalog/topup-bounds.ts';
import { createLedger } from '../../lib/ledger/ledger.ts';
import { type AutoTopup, createAutoTopup } from '../../lib/payments/auto-topup.ts';
import { AMOUNT_UNUSABLE } from '../../lib/payments/topup-rules.ts';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';
import { until } from '../../testkit/client.ts';
import { createFaultyStore, type Faults, lose, makeGate, refuse, waitFor } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { adjust, applied, newAccount, newId, RUB, rejection, type StoreKind } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { type Service, useStage } from './service-stage.ts';

type Call = Parameters<Faults['next']>[0];

const READS: readonly (readonly [call: Call, nth: number])[] = [
  ['payments.autoTopup', 1],
  ['payments.autoTopup', 2],
  ['ledger.wallet', 1],
  ['ledger.wallet', 2],
  ['users.listAccountMembers', 1],
  ['users.listAccountMembers', 2],
  ['payments.list', 1],
  ['payments.consents', 1],
  ['users.get', 1],
  ['payments.method', 1],
  ['payments.method', 2],
  ['payments.get', 1],
  ['payments.get', 2],
];
const WRITES: readonly (readonly [call: Call, nth: number])[] = [
  ['payments.create', 1],
  ['payments.change', 1],
  ['payments.change', 2],
  ['ledger.apply', 1],
  ['payments.changeAutoTopup', 1],
];
const as: (call: () => Promise<unknown>) => Promise<unknown> = (call) => call();

for (const kind of longer([SQLITE], STORES))
  describe(`automatic top-ups in trouble on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let faults: Faults;
  let service: Service;
  let topups: AutoTopup;
  let told: (AlertContent & { readonly id: string })[];
  let letters: (() => Promise<void>)[];
  let warnings: { readonly fields: object; readonly message: string }[];

  beforeEach(async () => {
    faults = createFaultyStore(stage.store);
    service = stage.service('own_faulty', faults.store);
    [told, letters, warnings] = [[], [], []];
    topups = createAutoTopup({
      store: faults.store,
      payments: service.payments,
      bounds: () => readTopupBounds(),
      now: stage.now,
      log: { warn: (fields, message) => void warnings.push({ fields, message }) },
      alerts: {
        // One alert of a type per id, like the real ones.
        queueAlert: async (_account, content, id) => {
          const send = async () => {
            if (!told.some(({ type, ...of }) => type === content.type && of.id === id)) told.push({ ...content, id });
          };
          await (letters.shift() ?? send)();
        },
      },
      everyMs: 20,
    });
    await setUp();
  });
  afterEach(async () => {
    await topups.stop();
    expect(await stage.problems()).to.deep.equal([]);
    // The next test checks every wallet of the store.
    const rows = await stage.store.payments.page('autoTopups', { limit: 1000 });
    await stage.store.payments.put(
      'autoTopups',
      rows.map((each) => ({ ...each, enabled: false, order: null })),
    );
  });

  /** A wallet with 200 RUB and a card; below 300 it is topped up by 500. */
  async function setUp(): Promise<void> {
    await stage.credited(use.service());
    const method = await stage.store.payments.saveMethod(newMethod(stage.wallet, { provider: 'till' }));
    const { id: user } = await stage.addOwner();
    const consent = { id: newId('con'), wallet: stage.wallet, user, kind: 'auto_topup', textVersion: '1', text: 'yes' };
    await stage.store.payments.addConsent({ ...consent, at: Date.now(), address: '' } as never);
    const wish = { threshold: 300n * RUB, amount: 500n * RUB, cap: 100_000n * RUB, method: method.id };
    await stage.store.payments.changeAutoTopup(newAuto(stage.wallet, { ...wish, consent: consent.id }));
    await applied(stage.store, adjust(stage.wallet, -800n * RUB));
    stage.bank.payments.clear();
    stage.bank.asked.clear();
    stage.bank.charges = 'pay';
  }

  const row = async () => (await stage.store.payments.autoTopup(stage.wallet)) as AutoTopupRow;
  const types = () => told.map(({ type }) => type);
  const avail = async () => (await stage.store.ledger.wallet(stage.wallet))?.avail;
  const fail = (call: Call, nth: number, behaviour: typeof refuse) =>
    faults.next(call, ...Array.from({ length: nth - 1 }, () => as), behaviour);

  /** Checks and polls until no order is open. */
  async function goOn(): Promise<void> {
    await stage.letTimePass();
    service.payments.start();
    await until(async () => {
      await topups.checkAllWallets();
      return (await row()).order === null && told.length > 0;
    }, 20_000);
  }

  async function expectOneCharge(): Promise<void> {
    await topups.checkAllWallets();
    expect([stage.bank.payments.size, types(), await avail()]).to.deep.equal([1, ['topup.succeeded'], 700n * RUB]);
    expect(await row()).to.include({ order: null, dayCount: 1, monthSum: 500n * RUB, declines: 0, pausedAt: null });
    const entries = await stage.store.ledger.entries(stage.wallet, { limit: 10 });
    expect(entries.filter(({ kind }) => kind === 'pay').length).to.equal(2);
  }

  const failures = [
    ...READS.map(([call, nth]) => [call, nth, 'fails', refuse] as const),
    ...WRITES.map(([call, nth]) => [call, nth, 'fails', refuse] as const),
    ...WRITES.map(([call, nth]) => [call, nth, 'loses its answer', lose] as const),
  ];
  for (const [call, nth, how, behaviour] of failures) {
    it(`charge once if call ${nth} of ${call} ${how}`, async () => {
      let struck = false;
      fail(call, nth, (...args) => {
        struck = true;
        return behaviour(...args);
      });
      await topups.checkWallet(stage.wallet).catch(() => undefined);
      await goOn();
      expect(struck, 'it was never called').to.equal(true);
      await expectOneCharge();
    });
  }

  for (const [name, send] of [
    ['is not stored', async () => Promise.reject(new Error('no mail'))],
    [
      'is stored but its answer is lost',
      async () => {
        const id = (await row()).order ?? '';
        told.push({ type: 'topup.succeeded', data: {}, id });
        throw new Error('lost');
      },
    ],
  ] as const) {
    it(`report a success once if its alert ${name}, and charge nothing meanwhile`, async () => {
      letters.push(send);
      await rejection(topups.checkWallet(stage.wallet));
      expect((await row()).order).to.be.a('string');
      await goOn();
      await expectOneCharge();
    });
  }

  it('pause an order that cannot start only once its alert is stored', async () => {
    await stage.store.payments.changeAutoTopup({ ...(await row()), amount: 500n * RUB + 1n });
    letters.push(async () => Promise.reject(new Error('no mail')));
    await rejection(topups.checkWallet(stage.wallet));
    expect((await row()).pausedAt).to.equal(null);
    await topups.checkAllWallets();
    expect([(await row()).reason, types()]).to.deep.equal([AMOUNT_UNUSABLE, ['topup.paused']]);
  });

  it('charge once if the bank’s answer is lost or the bank cannot be reached', async () => {
    for (const when of ['before', 'after'] as const) {
      let count = 0;
      stage.bank.hook = (asked, at) => {
        if (asked !== 'start' || at !== when || count > 0) return undefined;
        count += 1;
        throw new Error('down');
      };
      await topups.checkWallet(stage.wallet);
      expect((await row()).order).to.be.a('string');
      await goOn();
      expect([count, stage.bank.payments.size, types()]).to.deep.equal([1, 1, ['topup.succeeded']]);
      expect(await avail()).to.equal(700n * RUB);
      await applied(stage.store, adjust(stage.wallet, -500n * RUB));
      stage.bank.payments.clear();
      told.length = 0;
    }
  });

  it('go on after a failure of the bank, even if its webhook comes before its answer', async () => {
    stage.bank.hook = async (asked, when) => {
      const [made] = stage.bank.payments.values();
      if (asked !== 'start' || when !== 'after' || !made) return undefined;
      Object.assign(made, { status: 'canceled', reason: { kind: 'technical', code: 'issuer_unavailable' } });
      expect(await stage.sendWebhook(service, made.id)).to.equal('done');
      return undefined;
    };
    await topups.checkWallet(stage.wallet);
    expect(await row()).to.include({ order: null, declines: 0, pausedAt: null });
    expect(types()).to.deep.equal([]);
  });

  for (const [how, behaviour] of [
    ['fails', refuse],
    ['loses its answer', lose],
  ] as const) {
    it(`count a decline once if storing it ${how}`, async () => {
      stage.bank.charges = 'decline';
      fail('payments.changeAutoTopup', 1, behaviour);
      await rejection(topups.checkWallet(stage.wallet));
      await topups.checkAllWallets();
      await topups.checkAllWallets();
      expect(await row()).to.include({ order: null, declines: 1, dayCount: 1, monthSum: 0n });
      expect([types(), stage.bank.payments.size]).to.deep.equal([['topup.declined'], 1]);
    });

    it(`pause an order that cannot start, even if storing that ${how} at first`, async () => {
      await stage.store.payments.changeAutoTopup({ ...(await row()), amount: 500n * RUB + 1n });
      fail('payments.changeAutoTopup', 1, behaviour);
      await rejection(topups.checkWallet(stage.wallet));
      await topups.checkAllWallets();
      expect((await row()).reason).to.equal(AMOUNT_UNUSABLE);
      expect([stage.bank.payments.size, types()]).to.deep.equal([0, ['topup.paused']]);
      expect(warnings.at(-1)?.fields).to.have.property('reason').that.contains('kopecks');
    });

    it(`resume after a manual payment, even if storing that ${how} at first`, async () => {
      await stage.store.payments.changeAutoTopup({ ...(await row()), pausedAt: stage.now() - 1, declines: 4 });
      await stage.credited(use.service(), 50);
      stage.bank.payments.clear();
      fail('payments.changeAutoTopup', 1, behaviour);
      await rejection(topups.checkWallet(stage.wallet));
      await goOn();
      expect([stage.bank.payments.size, types(), await avail()]).to.deep.equal([1, ['topup.succeeded'], 750n * RUB]);
    });
  }

  it('stay paused while manual payments cannot be read', async () => {
    await stage.store.payments.changeAutoTopup({ ...(await row()), pausedAt: stage.now() - 1, declines: 4 });
    await stage.credited(use.service(), 50);
    stage.bank.payments.clear();
    fail('payments.list', 1, refuse);
    await rejection(topups.checkWallet(stage.wallet));
    expect(stage.bank.payments.size).to.equal(0);
    await goOn();
    expect([stage.bank.payments.size, types()]).to.deep.equal([1, ['topup.succeeded']]);
  });

  describe('remember a call refused for lack of money', () => {
    /** Refuses a call of 1,200 RUB, of which the wallet has 1,000: far more than the threshold. */
    async function refuseCall(): Promise<void> {
      const log = { warn() {}, error() {} };
      const ledger = topups.watch(createLedger({ store: stage.store, ownerId: newId('own'), leaseMs: 60_000, log }));
      const call = { chargeId: newId('req'), wallet: stage.wallet, key: 'key', kind: 'text', model: 'm', prices: '{}' };
      await rejection(ledger.hold({ ...call, amount: 1200n * RUB } as never));
    }

    beforeEach(async () => {
      await applied(stage.store, adjust(stage.wallet, 800n * RUB));
      await topups.checkAllWallets();
    });

    it('until a check has succeeded', async () => {
      fail('payments.autoTopup', 1, refuse);
      await refuseCall();
      await until(() => warnings.length > 0);
      expect(warnings[0]).to.deep.include({ message: 'could not check an automatic top-up' });
      expect(stage.bank.payments.size).to.equal(0);
      await goOn();
      expect([stage.bank.payments.size, await avail()]).to.deep.equal([1, 1500n * RUB]);
    });

    it('during a check, for the next check', async () => {
      const gate = makeGate();
      faults.next('ledger.wallet', waitFor(gate.opened));
      const looking = topups.checkWallet(stage.wallet);
      await refuseCall();
      gate.open();
      await looking;
      expect(stage.bank.payments.size).to.equal(0);
      await topups.checkWallet(stage.wallet);
      expect(stage.bank.payments.size).to.equal(1);
    });
  });

  it('check all wallets, however many', async () => {
    const first = await row();
    const before = Array.from({ length: 200 }, (_, at) => ({ ...first, id: `a${String(at).padStart(3, '0')}` }));
    await stage.store.payments.put(
      'autoTopups',
      before.map((each) => ({ ...each, enabled: false })),
    );
    await goOn();
    await expectOneCharge();
  });

  it('check the other wallets if one fails, and all of them after a failed round', async () => {
    const other = await newAccount(stage.store);
    const method = await stage.store.payments.saveMethod(newMethod(other, { provider: 'till' }));
    const wish = { threshold: 300n * RUB, amount: 1000n * RUB, cap: 100_000n * RUB, method: method.id };
    await stage.store.payments.changeAutoTopup(newAuto(other, wish));
    const topped = async (wallet: string) => (await stage.store.ledger.wallet(wallet))?.topped;
    faults.next('payments.page', refuse);
    await topups.checkAllWallets();
    expect(warnings.at(-1)?.message).to.equal('could not check the automatic top-ups');
    const [first = '', second = ''] = [stage.wallet, other].sort();
    faults.always('payments.autoTopup', (call, [wallet]) => (wallet === first ? refuse(call, []) : call()));
    const before = await topped(first);
    await topups.checkAllWallets();
    expect(warnings.at(-1)).to.deep.include({ message: 'could not check an automatic top-up' });
    expect([await topped(first), (await topped(second)) ?? 0n]).to.deep.equal([
      before,
      second === other ? 1000n * RUB : 1500n * RUB,
    ]);
    faults.always('payments.autoTopup', undefined);
    faults.next('payments.page', refuse);
    topups.start();
    await until(async () => (await topped(first)) === (first === other ? 1000n * RUB : 1500n * RUB), 10_000);
  });

  it('start again after an outage in which nothing was started', async () => {
    stage.bank.hook = (asked) => (asked === 'start' ? 401 : undefined);
    await topups.checkWallet(stage.wallet);
    expect(stage.bank.payments.size).to.equal(0);
    stage.aheadMs = 25 * HOUR_MS;
    stage.bank.hook = () => undefined;
    await stage.letTimePass();
    service.payments.start();
    await until(async () => {
      await topups.checkAllWallets();
      return (await row()).order === null;
    }, 20_000);
    stage.aheadMs += HOUR_MS;
    await goOn();
    expect([stage.bank.payments.size, types(), await avail()]).to.deep.equal([1, ['topup.succeeded'], 700n * RUB]);
  });
}
