// Batches of operations: one transaction, idempotent, refusals change nothing.
import { expect } from 'chai';
import { CHARGE_KINDS, type Operation } from '../../../lib/money/decide.ts';
import { AMOUNT_MAX } from '../../../lib/money/money.ts';
import {
  AT,
  adjust,
  applied,
  balances,
  charge,
  everythingOf,
  giveBack,
  newAccount,
  newId,
  newWallet,
  problemsOf,
  RUB,
  reserve,
  type StoreKind,
  settle,
  statuses,
  topup,
  USED,
  useStore,
  walletOf,
} from './context.ts';

export function ledgerContract(kind: StoreKind): void {
  const context = useStore(kind);

  it('declares its lane and largest batch, and accepts one of that size', async () => {
    const { store } = context;
    expect(store.ledger.lane).to.be.oneOf(['store', 'wallet']);
    const wallet = await newWallet(store, 10_000n);
    const batch = Array.from({ length: store.ledger.batchMax }, () => reserve(wallet));
    expect(new Set(await statuses(store, ...batch))).to.deep.equal(new Set(['done']));
    expect((await walletOf(store, wallet)).held).to.equal(BigInt(store.ledger.batchMax) * RUB);
  });

  it('takes calls of every kind', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const calls = CHARGE_KINDS.map(
      (chargeKind) => ({ ...reserve(wallet), chargeKind }) as Operation & { chargeId: string },
    );
    expect(await statuses(store, ...calls)).to.deep.equal(CHARGE_KINDS.map(() => 'done'));
    for (const { chargeId } of calls) await applied(store, settle(wallet, chargeId));
    const kinds = (await store.ledger.charges(wallet, { limit: 10 })).map((each) => each.kind);
    expect(kinds).to.have.members(CHARGE_KINDS);
  });

  it('returns outcomes in order, each with the wallet and charge right after the operation', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const chargeId = newId('req');
    const outcomes = await applied(
      store,
      reserve(wallet, { chargeId, amount: 10n * RUB }),
      settle(wallet, chargeId, { amount: 4n * RUB }),
      giveBack('refund', wallet, chargeId),
    );
    expect(outcomes.map(({ status, charge }) => [status, charge?.state])).to.deep.equal([
      ['done', 'held'],
      ['done', 'settled'],
      ['done', 'refunded'],
    ]);
    expect(outcomes.map((outcome) => outcome.wallet && balances(outcome.wallet))).to.deep.equal([
      [990, 10, 0, 1000, 0],
      [996, 0, 4, 1000, 0],
      [1000, 0, 0, 1000, 0],
    ]);
  });

  it('commits before it answers, visible to another opener', async () => {
    const { store } = context;
    const other = await context.other();
    const wallet = await newWallet(store);
    for (let turn = 1; turn <= 20; turn += 1) {
      const chargeId = newId('req');
      const [outcome] = await applied(store, reserve(wallet, { chargeId }));
      expect(await other.ledger.wallet(wallet)).to.deep.equal(outcome?.wallet);
      expect(await other.ledger.charge(chargeId)).to.deep.equal(outcome?.charge);
    }
  });

  describe('idempotence', () => {
    it('changes nothing if a batch is repeated', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const first = newId('req');
      const second = newId('req');
      const third = newId('req');
      const batch = [
        topup(wallet, 1000n * RUB),
        adjust(wallet, -RUB),
        reserve(wallet, { chargeId: first }),
        settle(wallet, first),
        reserve(wallet, { chargeId: second }),
        giveBack('release', wallet, second),
        charge(wallet, { chargeId: third }),
        giveBack('refund', wallet, third),
      ];
      expect(new Set(await statuses(store, ...batch))).to.deep.equal(new Set(['done']));
      const before = await everythingOf(store, wallet);
      expect(new Set(await statuses(store, ...batch))).to.deep.equal(new Set(['exists']));
      expect(await everythingOf(store, wallet)).to.deep.equal(before);
    });

    it('applies an operation once if a batch contains it twice', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const once = reserve(wallet);
      const paid = topup(wallet, RUB);
      expect(await statuses(store, once, once, paid, paid)).to.deep.equal(['done', 'exists', 'done', 'exists']);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([1000, 1, 0, 1001, 0]);
    });

    it('answers a repeat from another opener with the current charge', async () => {
      const { store } = context;
      const other = await context.other();
      const wallet = await newWallet(store);
      const op = reserve(wallet);
      const [outcome] = await applied(store, op);
      expect(await applied(other, op)).to.deep.equal([{ ...outcome, status: 'exists' }]);
    });

    it('accepts a payment once over all wallets', async () => {
      const { store } = context;
      const first = await newWallet(store);
      const second = await newWallet(store);
      const paymentId = newId('pay');
      expect(await statuses(store, topup(first, RUB, { paymentId }))).to.deep.equal(['done']);
      expect(await statuses(store, topup(second, RUB, { paymentId }))).to.deep.equal(['id_taken']);
      expect(await statuses(store, topup(first, 2n * RUB, { paymentId }))).to.deep.equal(['id_taken']);
      expect(balances(await walletOf(store, second))).to.deep.equal([1000, 0, 0, 1000, 0]);
    });
  });

  describe('refusals', () => {
    const refused: readonly [string, (wallet: string, chargeId: string) => Operation][] = [
      ['insufficient', (wallet) => reserve(wallet, { amount: 1000n * RUB })],
      ['insufficient', (wallet) => charge(wallet, { amount: 1000n * RUB })],
      ['insufficient', (wallet) => adjust(wallet, -1000n * RUB)],
      ['no_charge', (wallet) => settle(wallet, newId('req'))],
      ['no_charge', (wallet) => giveBack('release', wallet, newId('req'))],
      ['not_settled', (wallet, chargeId) => giveBack('refund', wallet, chargeId)],
      ['exists', (wallet, chargeId) => reserve(wallet, { chargeId })],
    ];
    for (const [status, makeOperation] of refused) {
      it(`changes nothing: ${makeOperation('wallet', 'charge').kind} is ${status}`, async () => {
        const { store } = context;
        const wallet = await newWallet(store);
        const chargeId = newId('req');
        await applied(store, reserve(wallet, { chargeId }));
        const before = await everythingOf(store, wallet);
        const [outcome] = await applied(store, makeOperation(wallet, chargeId));
        expect(outcome?.status).to.equal(status);
        expect(outcome?.wallet).to.deep.equal(before.wallet);
        expect(await everythingOf(store, wallet)).to.deep.equal(before);
      });
    }

    it('refuses an unknown wallet', async () => {
      const { store } = context;
      const nobody = newId('acc');
      expect(await applied(store, topup(nobody, 1000n * RUB))).to.deep.equal([{ status: 'no_wallet' }]);
      expect(await store.ledger.wallet(nobody)).to.equal(undefined);
      expect(await store.ledger.entries(nobody, { limit: 10 })).to.deep.equal([]);
    });

    it('refuses a first call without money and a first payment that is too small', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const batch = [reserve(wallet), topup(wallet, 999n * RUB), charge(wallet)];
      expect(await statuses(store, ...batch)).to.deep.equal(['never_topped', 'first_topup_too_small', 'never_topped']);
      expect((await everythingOf(store, wallet)).entries).to.deep.equal([]);
    });

    it('does not count an adjustment as a payment', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      const calls = [reserve(wallet), charge(wallet)];
      expect(await statuses(store, adjust(wallet, 5000n * RUB))).to.deep.equal(['done']);
      expect(await statuses(store, ...calls)).to.deep.equal(['never_topped', 'never_topped']);
      expect(await statuses(store, topup(wallet, 1000n * RUB), ...calls)).to.deep.equal(['done', 'done', 'done']);
    });

    it('starts nothing on a suspended wallet, but ends running calls', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const chargeId = newId('req');
      await applied(store, reserve(wallet, { chargeId }));
      await store.accounts.setStatus(wallet, 'suspended');
      expect(await statuses(store, reserve(wallet), charge(wallet))).to.deep.equal(['suspended', 'suspended']);
      expect(await statuses(store, settle(wallet, chargeId))).to.deep.equal(['done']);
      await store.accounts.setStatus(wallet, 'active');
      expect(await statuses(store, reserve(wallet))).to.deep.equal(['done']);
    });

    it('refuses a charge of another wallet', async () => {
      const { store } = context;
      const owner = await newWallet(store);
      const thief = await newWallet(store);
      const chargeId = newId('req');
      await applied(store, reserve(owner, { chargeId }));
      for (const op of [
        settle(thief, chargeId),
        giveBack('release', thief, chargeId),
        reserve(thief, { chargeId }),
        giveBack('refund', thief, chargeId),
      ]) {
        expect(await statuses(store, op)).to.deep.equal(['id_taken']);
      }
      expect(balances(await walletOf(store, thief))).to.deep.equal([1000, 0, 0, 1000, 0]);
      expect((await store.ledger.charge(chargeId))?.state).to.equal('held');
    });

    it('do not affect the rest of the batch', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const batch = [reserve(wallet, { amount: 600n * RUB }), reserve(wallet, { amount: 600n * RUB }), reserve(wallet)];
      expect(await statuses(store, ...batch)).to.deep.equal(['done', 'insufficient', 'done']);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([399, 601, 0, 1000, 0]);
    });
  });

  it('accepts several wallets in one batch, whatever its lane, and changes nothing if it is repeated', async () => {
    const { store } = context;
    const first = await newWallet(store);
    const second = await newWallet(store);
    const ended = newId('req');
    const refunded = newId('req');
    await applied(store, reserve(first, { chargeId: ended }));
    const budget = { budget: { period: AT, limit: null } };
    const batch = [
      ...[settle(first, ended), reserve(newId('acc')), reserve(second, { amount: 2n * RUB }), reserve(first, budget)],
      ...[charge(second, { chargeId: refunded }), topup(second, 5n * RUB), giveBack('refund', second, refunded)],
    ];
    const rest = ['done', 'done', 'done', 'done', 'done'];
    expect(await statuses(store, ...batch)).to.deep.equal(['done', 'no_wallet', ...rest]);
    const there = [await everythingOf(store, first), await everythingOf(store, second)];
    expect(there.map(({ wallet }) => balances(wallet))).to.deep.equal([
      [998, 1, 1, 1000, 0],
      [1003, 2, 0, 1005, 0],
    ]);
    expect(there.map(({ entries }) => entries.length)).to.deep.equal([4, 5]);
    expect((await store.ledger.charge(ended))?.state).to.equal('settled');
    expect((await store.ledger.charge(refunded))?.state).to.equal('refunded');
    for (const wallet of [first, second]) expect(await problemsOf(store, wallet)).to.deep.equal([]);
    const again = rest.map(() => 'exists');
    expect(await statuses(store, ...batch)).to.deep.equal(['exists', 'no_wallet', ...again]);
    expect([await everythingOf(store, first), await everythingOf(store, second)]).to.deep.equal(there);
  });

  it('accepts exactly as many concurrent holds as the balance covers', async () => {
    const openers = [context.store, await context.other(), await context.other(2)];
    const wallet = await newWallet(context.store);
    const tries = openers.map(async (store) => {
      const found: string[] = [];
      for (let batch = 0; batch < 5; batch += 1) {
        const operations = Array.from({ length: 5 }, () => reserve(wallet, { amount: 27n * RUB }));
        found.push(...(await statuses(store, ...operations)));
      }
      return found;
    });
    const found = (await Promise.all(tries)).flat();
    expect(found.filter((status) => status === 'done')).to.have.length(37);
    expect(found.filter((status) => status === 'insufficient')).to.have.length(38);
    expect(balances(await walletOf(context.store, wallet))).to.deep.equal([1, 999, 0, 1000, 0]);
  });

  it('accepts an empty batch', async () => {
    expect(await context.store.ledger.apply([])).to.deep.equal([]);
  });

  describe('values', () => {
    it('keeps amounts exact beyond what a double holds', async () => {
      const { store } = context;
      const wallet = await newAccount(store);
      await applied(store, ...Array.from({ length: 10 }, () => topup(wallet, AMOUNT_MAX)), topup(wallet, 1n));
      await applied(store, reserve(wallet, { amount: AMOUNT_MAX - 1n }), adjust(wallet, -AMOUNT_MAX));
      expect(await walletOf(store, wallet)).to.deep.include({
        avail: 8n * AMOUNT_MAX + 2n,
        held: AMOUNT_MAX - 1n,
        topped: 10n * AMOUNT_MAX + 1n,
        adjusted: -AMOUNT_MAX,
      });
    });

    it('keeps an overshoot, a negative balance and absent tokens', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const chargeId = newId('req');
      await applied(store, reserve(wallet, { chargeId, amount: 1000n * RUB }));
      const op = { kind: 'settle', wallet, chargeId, at: AT + 5, amount: 1003n * RUB } as const;
      await applied(store, { ...op, usage: null });
      expect(balances(await walletOf(store, wallet))).to.deep.equal([-3, 0, 1003, 1000, 0]);
      const [entry] = await store.ledger.entries(wallet, { limit: 1 });
      expect(entry).to.deep.include({ kind: 'settle', overshoot: 3n * RUB, chargedAfter: 1003n * RUB });
      expect(await store.ledger.charge(chargeId)).to.deep.include({ usage: null });
    });

    it('charges a settlement after the expiry once, as overshoot', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const chargeId = newId('req');
      await applied(store, reserve(wallet, { chargeId, amount: 1000n * RUB }));
      await applied(store, giveBack('expire', wallet, chargeId));
      await applied(store, reserve(wallet, { amount: 1000n * RUB }));
      const late = settle(wallet, chargeId, { amount: 4n * RUB, at: AT + 5 });
      expect(await statuses(store, late, late)).to.deep.equal(['done', 'exists']);
      expect(await statuses(store, late, giveBack('expire', wallet, chargeId))).to.deep.equal(['exists', 'exists']);
      expect(balances(await walletOf(store, wallet))).to.deep.equal([-4, 1000, 4, 1000, 0]);
      const settled = { state: 'settled', charged: 4n * RUB, usage: USED, owner: null, endedAt: AT + 5 };
      expect(await store.ledger.charge(chargeId)).to.deep.include(settled);
      const entries = await store.ledger.listChargeEntries(chargeId);
      expect(entries.map(({ kind }) => kind)).to.deep.equal(['reserve', 'expire', 'settle']);
      expect(entries.at(-1)).to.deep.include({ held: 0n, overshoot: 4n * RUB, chargedAfter: 4n * RUB });
      expect(await store.ledger.chargedAt(wallet, AT + 5)).to.equal(4n * RUB);
      expect(await problemsOf(store, wallet)).to.deep.equal([]);
      expect(await statuses(store, giveBack('refund', wallet, chargeId), late)).to.deep.equal(['done', 'exists']);
    });

    it('keeps any text unchanged', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const reason = `it's "quoted", two\nlines, 50 %, \u0001, Привет 🙂; DROP TABLE wallets`;
      await applied(store, adjust(wallet, RUB, { reason }));
      expect((await store.ledger.entries(wallet, { limit: 1 }))[0]?.note).to.equal(reason);
    });
  });
}
