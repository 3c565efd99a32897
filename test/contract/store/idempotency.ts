// Keys against repeats: taken with the money of their call or not at all, freed by its failure, and the replies kept for them.
import { expect } from 'chai';
import { DAY_MS } from '../../../lib/base/durations.ts';
import type { Operation, OutcomeStatus, Wallet } from '../../../lib/money/decide.ts';
import type { IdempotencyRecord, IdempotencyTerms } from '../../../lib/money/idempotency.ts';
import type { Store } from '../../../lib/store/store.ts';
import {
  AT,
  charge,
  giveBack,
  newId,
  newWallet,
  problemsOf,
  RUB,
  reserve,
  type StoreContext,
  settle,
  USED,
} from './context.ts';

export function idempotencyContract(context: StoreContext): void {
  const terms = (more: Partial<IdempotencyTerms> = {}): IdempotencyTerms => ({
    id: newId('rep'),
    body: 'hash-1',
    awaited: true,
    expiresAt: AT + DAY_MS,
    ...more,
  });
  const under = (op: Operation, repeat: IdempotencyTerms): Operation => ({ ...op, idempotency: repeat }) as Operation;
  const apply = async (store: Store, ...ops: readonly Operation[]): Promise<(OutcomeStatus | undefined)[]> => {
    const outcomes = await store.ledger.apply(ops);
    return outcomes.map((outcome) => outcome?.status);
  };

  for (const [name, begin] of [
    ['a hold', reserve],
    ['a charge', charge],
  ] as const) {
    it(`are taken by ${name}, in its transaction, and by no other`, async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const repeat = terms();
      const first = newId('req');
      const second = newId('req');
      expect(await apply(store, under(begin(wallet, { chargeId: first }), repeat))).to.deep.equal(['done']);
      const kept: IdempotencyRecord = { ...repeat, wallet, charge: first, reply: null };
      expect(await store.idempotency.get(repeat.id)).to.deep.equal(kept);
      expect(await apply(store, under(begin(wallet, { chargeId: second }), repeat))).to.deep.equal(['repeated']);
      const other = under(begin(wallet, { chargeId: second }), { ...repeat, body: 'hash-2' });
      expect(await apply(store, other)).to.deep.equal(['key_misused']);
      expect(await store.ledger.charge(second)).to.equal(undefined);
      expect(await store.idempotency.get(repeat.id)).to.deep.equal(kept);
      expect((await store.ledger.wallet(wallet))?.seq).to.equal(2);
    });
  }

  it('are claimed once by many calls in one batch, and by the same operation again', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const repeat = terms();
    const ops = [1, 2, 3].map(() => under(reserve(wallet), repeat));
    expect(await apply(store, ...ops)).to.deep.equal(['done', 'repeated', 'repeated']);
    expect(await apply(store, ops[0] as Operation)).to.deep.equal(['exists']);
  });

  it('are claimed once by many concurrent processes', async () => {
    const stores = [context.store, await context.other()];
    const wallet = await newWallet(context.store);
    const repeat = terms();
    const tries = Array.from({ length: 20 }, (_, at) => apply(stores[at % 2] as Store, under(reserve(wallet), repeat)));
    const statuses = (await Promise.all(tries)).flat();
    expect(statuses.filter((status) => status === 'done')).to.have.length(1);
    expect(statuses.filter((status) => status === 'repeated')).to.have.length(19);
    expect((await context.store.ledger.wallet(wallet))?.held).to.equal(RUB);
  });

  it('are not claimed by a refused operation', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const repeat = terms();
    expect(await apply(store, under(reserve(wallet, { amount: 5000n * RUB }), repeat))).to.deep.equal(['insufficient']);
    expect(await store.idempotency.get(repeat.id)).to.equal(undefined);
    expect(await apply(store, under(reserve(wallet), repeat))).to.deep.equal(['done']);
  });

  it('are free again after a release, an expiry or a refund', async () => {
    const { store } = context;
    for (const [begin, ...ends] of [
      [reserve, 'release'],
      [reserve, 'expire'],
      [reserve, 'settle', 'refund'],
      [charge, 'refund'],
    ] as const) {
      const wallet = await newWallet(store);
      const repeat = terms();
      const first = newId('req');
      const second = newId('req');
      await apply(store, under(begin(wallet, { chargeId: first }), repeat));
      await store.idempotency.storeReply({ id: repeat.id, charge: first }, 'the reply of the first');
      for (const end of ends) {
        if (end === 'settle') await apply(store, settle(wallet, first));
        else await apply(store, giveBack(end, wallet, first));
      }
      const anew = { ...repeat, body: 'hash-2' };
      expect(await apply(store, under(begin(wallet, { chargeId: second }), anew)), ends.join()).to.deep.equal(['done']);
      expect(await store.idempotency.get(repeat.id)).to.deep.equal({ ...anew, wallet, charge: second, reply: null });
    }
  });

  describe('of a call that is settled after its hold has expired', () => {
    /** The first call has expired, and a second one has taken its key from another process. */
    async function late() {
      const other = await context.other();
      const wallet = await newWallet(context.store);
      const repeat = terms();
      const first = newId('req');
      const second = newId('req');
      await apply(context.store, under(reserve(wallet, { chargeId: first, amount: 10n * RUB }), repeat));
      await apply(other, giveBack('expire', wallet, first));
      await apply(other, under(reserve(wallet, { chargeId: second }), repeat));
      const op = { ...settle(wallet, first, { amount: 4n * RUB, at: AT + 5 }), idempotencyId: repeat.id } as Operation;
      return { other, wallet, repeat, first, second, op };
    }

    for (const state of ['held', 'settled'] as const) {
      it(`make it free while their second call is ${state}, once`, async () => {
        const { other, wallet, first, second, op } = await late();
        if (state === 'settled') await apply(other, settle(wallet, second));
        const { charged, avail } = (await other.ledger.wallet(wallet)) as Wallet;
        expect(await apply(context.store, op, op)).to.deep.equal(['done', 'exists']);
        const usage = JSON.stringify({ ...JSON.parse(USED), repeated_as: second });
        const free = { state: 'settled', charged: 0n, reserved: 10n * RUB, usage, endedAt: AT + 5, owner: null };
        expect(await other.ledger.charge(first)).to.deep.include(free);
        expect(await other.ledger.wallet(wallet)).to.deep.include({ charged, avail });
        const entries = await other.ledger.listChargeEntries(first);
        const nothing = { kind: 'settle', avail: 0n, held: 0n, charged: 0n, overshoot: 0n };
        expect(entries.at(-1)).to.deep.include(nothing);
        if (state === 'held') await apply(other, settle(wallet, second));
        expect(await problemsOf(other, wallet)).to.deep.equal([]);
      });
    }

    it('do not make it free if their second call failed or never existed', async () => {
      for (const end of ['release', 'expire', undefined] as const) {
        const { other, wallet, first, second, op } = await late();
        if (end) await apply(other, giveBack(end, wallet, second));
        const own = end ? op : ({ ...op, idempotencyId: newId('rep') } as Operation);
        expect(await apply(context.store, own)).to.deep.equal(['done']);
        expect(await other.ledger.charge(first)).to.deep.include({ state: 'settled', charged: 4n * RUB, usage: USED });
      }
    });

    it('let the late call be charged if it settles first: the second finds its key claimed', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const repeat = terms();
      const first = newId('req');
      const op = { ...settle(wallet, first), idempotencyId: repeat.id } as Operation;
      await apply(store, under(reserve(wallet, { chargeId: first }), repeat), giveBack('expire', wallet, first));
      expect(await apply(store, op, under(reserve(wallet), repeat))).to.deep.equal(['done', 'repeated']);
      expect((await store.ledger.wallet(wallet))?.charged).to.equal(RUB);
    });

    it('change nothing for an active hold', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const repeat = terms();
      const first = newId('req');
      await apply(store, under(reserve(wallet, { chargeId: first }), repeat));
      const op = { ...settle(wallet, first), idempotencyId: repeat.id } as Operation;
      expect(await apply(store, op)).to.deep.equal(['done']);
      expect((await store.ledger.wallet(wallet))?.charged).to.equal(RUB);
    });

    it('decide by earlier operations of the same batch', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const repeat = terms();
      const first = newId('req');
      const second = newId('req');
      const op = { ...settle(wallet, first), idempotencyId: repeat.id } as Operation;
      const again = under(reserve(wallet, { chargeId: second }), repeat);
      const begin = under(reserve(wallet, { chargeId: first }), repeat);
      const statuses = await apply(store, begin, giveBack('expire', wallet, first), again, op);
      expect(statuses).to.deep.equal(['done', 'done', 'done', 'done']);
      expect(await store.ledger.charge(first)).to.deep.include({ state: 'settled', charged: 0n });
    });
  });

  it('stay claimed after the settlement until they expire', async () => {
    const { store } = context;
    const wallet = await newWallet(store);
    const repeat = terms();
    const chargeId = newId('req');
    await apply(store, under(reserve(wallet, { chargeId }), repeat), settle(wallet, chargeId));
    expect(await apply(store, under(reserve(wallet), repeat))).to.deep.equal(['repeated']);
    const late = { ...repeat, expiresAt: AT + 2 * DAY_MS };
    expect(await apply(store, under(reserve(wallet, { at: AT + DAY_MS - 1 }), late))).to.deep.equal(['repeated']);
    expect(await apply(store, under(reserve(wallet, { at: AT + DAY_MS }), late))).to.deep.equal(['done']);
  });

  it('keep only the reply of their own call', async () => {
    const { idempotency } = context.store;
    const wallet = await newWallet(context.store);
    const repeat = terms();
    const chargeId = newId('req');
    await apply(context.store, under(reserve(wallet, { chargeId }), repeat));
    const of = { id: repeat.id, charge: chargeId };
    expect(await idempotency.storeReply({ ...of, charge: 'another' }, 'x')).to.equal(false);
    expect(await idempotency.storeReply({ ...of, id: 'unknown' }, 'x')).to.equal(false);
    const reply = `{"text":"ж👋${'x'.repeat(1_000_000)}"}`;
    for (let times = 0; times < 2; times += 1) expect(await idempotency.storeReply(of, reply)).to.equal(true);
    expect(await idempotency.get(repeat.id)).to.deep.equal({ ...repeat, wallet, charge: chargeId, reply });
    expect(await idempotency.storeReply(of, null)).to.equal(true);
    expect(await idempotency.get(repeat.id)).to.include({ awaited: false, reply: null });
  });

  it('are removed after they expired, a few at a time', async () => {
    const { idempotency } = context.store;
    const row = (expiresAt: number): IdempotencyRecord => ({
      ...terms({ expiresAt }),
      wallet: newId('acc'),
      charge: newId('req'),
      reply: null,
    });
    const old = row(1000);
    const older = row(999);
    const young = row(1001);
    await idempotency.put([old, young, older]);
    expect(await idempotency.clean(1000, 1)).to.equal(1);
    expect(await idempotency.get(older.id)).to.equal(undefined);
    expect(await idempotency.clean(1000, 10)).to.equal(1);
    expect(await idempotency.clean(1000, 10)).to.equal(0);
    expect(await idempotency.get(young.id)).to.deep.equal(young);
    await idempotency.clean(1001, 10);
  });

  it('are listed in order, and copied unchanged to another store any number of times', async () => {
    const { idempotency } = context.store;
    const rows = [1, 2, 3].map(
      (at): IdempotencyRecord => ({
        ...terms({ awaited: at === 1 }),
        wallet: newId('acc'),
        charge: newId('req'),
        reply: at === 2 ? 'ж' : null,
      }),
    );
    for (let times = 0; times < 2; times += 1) await idempotency.put(rows);
    const listed: IdempotencyRecord[] = [];
    for (let after = ''; ; ) {
      const page = await idempotency.page({ after, limit: 2 });
      expect(page.length).to.be.at.most(2);
      listed.push(...page);
      const last = page.at(-1);
      if (!last) break;
      after = last.id;
    }
    expect(listed).to.include.deep.members(rows);
    const ids = listed.map(({ id }) => id);
    expect(ids).to.deep.equal([...ids].sort());
  });
}
