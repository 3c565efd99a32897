// Statements add up: over any split of a wallet's life into spans, each begins with what the last one ended with.
import { expect } from 'chai';
import { readStatement } from '../../lib/ledger/statement.ts';
import { SQLITE } from '../../testkit/stores.ts';
import {
  AT,
  adjust,
  applied,
  charge,
  giveBack,
  grant,
  newAccount,
  newId,
  RUB,
  reserve,
  settle,
  topup,
  useStore,
  walletOf,
} from '../contract/store/context.ts';

describe('the statement of a wallet', () => {
  const context = useStore(SQLITE);

  async function fillWallet() {
    const { store } = context;
    const id = await newAccount(store);
    const [running, refunded] = [newId('req'), newId('req')];
    await applied(store, topup(id, 1000n * RUB, { at: AT }));
    await applied(store, grant(id, 50n * RUB, { at: AT + 5 }));
    await applied(store, charge(id, { chargeId: refunded, amount: 3_141_593n, at: AT + 10 }));
    await applied(store, reserve(id, { chargeId: running, at: AT + 15 }));
    await applied(store, { ...adjust(id, -20n * RUB), at: AT + 20 });
    await applied(store, settle(id, running, { amount: 1_000_001n, at: AT + 25 }));
    await applied(store, giveBack('refund', id, refunded, { at: AT + 30 }));
    await applied(store, reserve(id, { at: AT + 35 }));
    return id;
  }

  it('adds up over every split, exactly', async () => {
    const { store } = context;
    const id = await fillWallet();
    const { avail, held } = await walletOf(store, id);
    for (const edge of [AT + 1, AT + 10, AT + 16, AT + 21, AT + 26, AT + 31, AT + 40]) {
      const first = await readStatement(store.ledger, id, { from: AT, to: edge, now: AT + 100 });
      const second = await readStatement(store.ledger, id, { from: edge, to: AT + 1000, now: AT + 100 });
      expect([first?.opening, second?.opening], `${edge - AT}`).to.deep.equal([0n, first?.closing]);
      expect([second?.closing, second?.held]).to.deep.equal([avail + held, held]);
      for (const part of [first, second]) {
        const moved = part?.movements.reduce((sum, { amount }) => sum + amount, 0n) ?? 0n;
        expect((part?.opening ?? 0n) + moved - (part?.charged ?? 0n)).to.equal(part?.closing);
      }
    }
  });

  it('says of each movement what it was, and is none without a wallet', async () => {
    const { store } = context;
    const id = await newAccount(store);
    const span = { from: AT, to: AT + 40, now: AT + 100 };
    await applied(store, topup(id, 1000n * RUB, { paymentId: `bank-${id}` }), { ...adjust(id, -RUB), at: AT + 20 });
    expect((await readStatement(store.ledger, id, span))?.movements).to.deep.equal([
      { at: AT, kind: 'topup', amount: 1000n * RUB, note: `bank-${id}` },
      { at: AT + 20, kind: 'adjust', amount: -RUB, note: 'test' },
    ]);
    expect(await readStatement(store.ledger, 'acc_none', span)).to.equal(undefined);
  });

  it('is read anew if a payment comes in meanwhile, and not at all if one always does', async () => {
    const { store } = context;
    const id = await fillWallet();
    /** A ledger into which a payment comes during each of the first reads. */
    const read = (payments: number) => {
      let left = payments;
      const movements: typeof store.ledger.movements = async (...query) => {
        const found = await store.ledger.movements(...query);
        if (left-- > 0) await applied(store, topup(id, 7n * RUB, { at: AT + 50 }));
        return found;
      };
      return readStatement({ ...store.ledger, movements }, id, { from: AT, to: AT + 60, now: AT + 100 });
    };
    const moved = (found: Awaited<ReturnType<typeof read>>) => [
      found?.movements.map(({ amount }) => amount / RUB),
      found?.furtherMovements,
      (found?.closing ?? 0n) + (found?.charged ?? 0n),
    ];
    expect(moved(await read(1))).to.deep.equal([[1000n, 50n, -20n, 7n], 0n, 1037n * RUB]);
    expect(moved(await read(4))).to.deep.equal([[1000n, 50n, -20n, 7n, 7n, 7n, 7n, 7n], 0n, 1065n * RUB]);
    expect(await read(5)).to.equal(undefined);
  });

  it('lists what moved otherwise than by calls', async () => {
    const id = await fillWallet();
    const found = await readStatement(context.store.ledger, id, { from: AT + 1, to: AT + 27, now: AT + 100 });
    expect(found?.movements.map(({ kind, amount, at }) => [kind, amount / RUB, at - AT])).to.deep.equal([
      ['grant', 50n, 5],
      ['adjust', -20n, 20],
    ]);
    expect([found?.charged, found?.furtherMovements, found?.held]).to.deep.equal([4_141_594n, 0n, undefined]);
    expect(await readStatement(context.store.ledger, newId('acc'), { from: 0, to: AT, now: AT })).to.equal(undefined);
  });
});
