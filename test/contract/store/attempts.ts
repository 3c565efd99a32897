// Attempts at upstreams: written once with the end of their call or not at all, replaced by what a later end knows, and
// added up by time.
import { expect } from 'chai';
import { DAY_MS } from '../../../lib/base/durations.ts';
import {
  ATTEMPT_ENDINGS,
  type Attempt,
  CERTAINTIES,
  type NewAttempt,
  toAttemptRows,
} from '../../../lib/money/attempt.ts';
import type { Operation } from '../../../lib/money/decide.ts';
import type { AttemptPosition, AttemptSearch, CostGroup } from '../../../lib/store/ports/attempts.ts';
import {
  AT,
  applied,
  charge,
  giveBack,
  newAttempt,
  newId,
  newWallet,
  RUB,
  rejection,
  reserve,
  type StoreContext,
  settle,
  statuses,
} from './context.ts';

const REFUSED = newAttempt({
  upstream: 'other',
  upstreamModel: null,
  keyPlace: null,
  requestId: null,
  ending: 'refused',
  firstMs: null,
  totalMs: 0,
  usage: null,
  certainty: 'none',
  cost: null,
});
const LOST = newAttempt({ upstream: null, upstreamModel: null, ending: 'lost', certainty: 'possible', cost: null });

export function attemptContract(context: StoreContext): void {
  const read = (...charges: string[]) => context.store.attempts.list(charges);

  async function held(): Promise<{ wallet: string; id: string }> {
    const wallet = await newWallet(context.store);
    const id = newId('req');
    await applied(context.store, reserve(wallet, { chargeId: id }));
    return { wallet, id };
  }

  /** A settled call with these attempts, so that sums find them at a time of their own. */
  async function booked(attempts: readonly NewAttempt[], more: { wallet?: string; amount?: bigint } = {}) {
    const wallet = more.wallet ?? (await newWallet(context.store));
    const id = newId('req');
    await applied(context.store, reserve(wallet, { chargeId: id }));
    await applied(context.store, settle(wallet, id, { attempts, ...more }));
    return { wallet, id };
  }

  it('are numbered, and the last one is marked', async () => {
    const { wallet, id } = await booked([REFUSED, newAttempt()]);
    expect(await read(id)).to.deep.equal(toAttemptRows({ charge: id, wallet }, [REFUSED, newAttempt()]));
    const [first, last] = await read(id);
    expect([first?.number, first?.last, last?.number, last?.last]).to.deep.equal([1, false, 2, true]);
  });

  it('keep every ending, every certainty and the largest amounts', async () => {
    const most = 2n ** 63n - 1n;
    const cost = { currency: 'USD', prices: '{"request":"1"}', rate: most, cost: most, costRub: most };
    const all = [
      ...ATTEMPT_ENDINGS.map((ending) => newAttempt({ ending })),
      ...CERTAINTIES.map((certainty) => newAttempt({ certainty })),
      newAttempt({ cost }),
    ];
    const { wallet, id } = await booked(all);
    expect(await read(id)).to.deep.equal(toAttemptRows({ charge: id, wallet }, all));
  });

  for (const kind of ['release', 'expire'] as const) {
    it(`are written with a hold that ends by ${kind}`, async () => {
      const { wallet, id } = await held();
      await applied(context.store, giveBack(kind, wallet, id, { attempts: [LOST] }));
      expect(await read(id)).to.deep.equal(toAttemptRows({ charge: id, wallet }, [LOST]));
    });
  }

  it('are written once, however often the end of their call is sent', async () => {
    const { wallet, id } = await held();
    const end = settle(wallet, id, { attempts: [REFUSED, newAttempt()] });
    expect(await statuses(context.store, end, end)).to.deep.equal(['done', 'exists']);
    expect(await statuses(context.store, end)).to.deep.equal(['exists']);
    const other = giveBack('release', wallet, id, { attempts: [LOST] });
    expect(await statuses(context.store, other)).to.deep.equal(['exists']);
    expect(await read(id)).to.deep.equal(toAttemptRows({ charge: id, wallet }, [REFUSED, newAttempt()]));
  });

  it('are written once by concurrent processes', async () => {
    const { wallet, id } = await held();
    const end = settle(wallet, id, { attempts: [newAttempt()] });
    const stores = [context.store, await context.other()];
    const all = await Promise.all(Array.from({ length: 8 }, (_, at) => stores[at % 2]?.ledger.apply([end])));
    expect(all.flat().filter((outcome) => outcome?.status === 'done')).to.have.length(1);
    expect(await read(id)).to.have.length(1);
  });

  it('are not written with a refused operation', async () => {
    const { wallet, id } = await held();
    expect(await statuses(context.store, giveBack('refund', wallet, id, { attempts: [LOST] }))).to.deep.equal([
      'not_settled',
    ]);
    expect(await read(id)).to.deep.equal([]);
  });

  it('replace what was known when the hold expired', async () => {
    for (const inOneBatch of [true, false]) {
      const { wallet, id } = await held();
      const late = settle(wallet, id, { attempts: [newAttempt({ totalMs: 70_000 })] });
      const operations = [giveBack('expire', wallet, id, { attempts: [LOST, LOST] }), late];
      if (inOneBatch) await applied(context.store, ...operations);
      else for (const op of operations) await applied(context.store, op);
      expect(await read(id)).to.deep.equal(toAttemptRows({ charge: id, wallet }, [newAttempt({ totalMs: 70_000 })]));
    }
  });

  it('of a job are replaced by those of its refund', async () => {
    const wallet = await newWallet(context.store);
    const id = newId('req');
    await applied(context.store, charge(wallet, { chargeId: id }));
    const running = newAttempt({ ending: 'running', certainty: 'possible' });
    await context.store.attempts.put(toAttemptRows({ charge: id, wallet }, [REFUSED, running]));
    const failed = { ...running, ending: 'failed' } as const;
    await applied(context.store, giveBack('refund', wallet, id, { attempts: [REFUSED, failed] }));
    expect(await read(id)).to.deep.equal(toAttemptRows({ charge: id, wallet }, [REFUSED, failed]));
  });

  it('stay when a refund has none of its own', async () => {
    const { wallet, id } = await booked([newAttempt()]);
    await applied(context.store, giveBack('refund', wallet, id));
    expect(await read(id)).to.have.length(1);
  });

  it('are found newest first, by route, ending and reason', async () => {
    const at = AT - 700 * DAY_MS;
    const failed = newAttempt({ ...REFUSED, at, ending: 'failed', reason: '503 overloaded' });
    const one = await booked([failed, newAttempt({ at: at + 1 })]);
    const other = await booked([newAttempt({ at: at + 2, model: 'model-2' })]);
    const search = async (more: Partial<AttemptSearch> = {}) => {
      const found = await context.store.attempts.search({ from: at, to: at + 10, limit: 9, ...more });
      return found.map(({ charge: id, number }) => `${id === one.id ? 'one' : 'other'} ${number}`);
    };
    expect(await search()).to.deep.equal(['other 1', 'one 2', 'one 1']);
    expect(await search({ limit: 1 })).to.deep.equal(['other 1']);
    expect(await search({ before: { at: at + 2, charge: other.id, number: 1 } })).to.deep.equal(['one 2', 'one 1']);
    expect(await search({ wallet: one.wallet })).to.deep.equal(['one 2', 'one 1']);
    expect(await search({ model: 'model-2' })).to.deep.equal(['other 1']);
    expect(await search({ upstream: 'other' })).to.deep.equal(['one 1']);
    expect(await search({ ending: 'answered' })).to.deep.equal(['other 1', 'one 2']);
    expect(await search({ reason: '503 overloaded' })).to.deep.equal(['one 1']);
    expect(await search({ reason: '' })).to.deep.equal(['other 1', 'one 2']);
    expect(await search({ isFault: true })).to.deep.equal(['one 1']);
    expect((await context.store.attempts.list([one.id]))[0]).to.include({ reason: '503 overloaded' });
  });

  it('fail the whole batch if one cannot be written', async () => {
    const { wallet, id } = await held();
    const wrong = settle(wallet, id, { attempts: [newAttempt({ ending: 'unheard of' as 'lost' })] });
    expect(await rejection(context.store.ledger.apply([wrong]))).to.be.an('error');
    expect((await context.store.ledger.charge(id))?.state).to.equal('held');
    expect(await read(id)).to.deep.equal([]);
    await applied(context.store, settle(wallet, id, { attempts: [newAttempt()] }));
    expect(await read(id)).to.have.length(1);
  });

  it('are read by call, in order', async () => {
    const calls = [await booked([REFUSED, newAttempt()]), await booked([newAttempt()])];
    const ids = calls.map(({ id }) => id);
    const found = await read(...ids.toReversed(), newId('req'));
    expect(found.map(({ charge: id, number }) => `${id} ${number}`)).to.deep.equal(
      [`${ids[0]} 1`, `${ids[0]} 2`, `${ids[1]} 1`].sort(),
    );
    expect(await read()).to.deep.equal([]);
  });

  it('are put over existing rows', async () => {
    const { wallet, id } = await booked([newAttempt()]);
    const [row] = toAttemptRows({ charge: id, wallet }, [newAttempt({ ending: 'cut' })]) as [Attempt];
    for (let times = 0; times < 2; times += 1) await context.store.attempts.put([row]);
    expect(await read(id)).to.deep.equal([row]);
    await context.store.attempts.put([]);
  });

  it('are listed by time, page by page', async () => {
    const from = AT + 400 * DAY_MS;
    const times = [3, 1, 2, 2, 5].map((ms) => from + ms);
    for (const at of times) await booked([newAttempt({ at }), newAttempt({ at })]);
    const found: Attempt[] = [];
    for (let after: AttemptPosition | undefined; ; ) {
      const page = await context.store.attempts.page({ from, to: from + 5, limit: 3, ...(after && { after }) });
      found.push(...page);
      after = page.at(-1);
      if (!after) break;
    }
    expect(found.map(({ at }) => at - from)).to.deep.equal([1, 1, 2, 2, 2, 2, 3, 3]);
    expect(new Set(found.map(({ charge: id, number }) => `${id} ${number}`)).size).to.equal(8);
  });

  it('add up by day, model, upstream and account, with what their calls were charged', async () => {
    const from = Math.floor((AT + 500 * DAY_MS) / DAY_MS) * DAY_MS;
    const to = from + 2 * DAY_MS;
    const costs = (costRub: bigint) => ({ ...(newAttempt().cost as NonNullable<Attempt['cost']>), costRub });
    const at = from + 5;
    const first = await booked(
      [
        newAttempt({ at, upstream: 'bad', ending: 'failed', certainty: 'possible', cost: costs(7n) }),
        newAttempt({ at, cost: costs(1000n) }),
      ],
      { amount: 5000n },
    );
    const unpriced = newAttempt({ at: at + DAY_MS, model: 'model-2', upstream: null, cost: null });
    await booked([unpriced], { wallet: first.wallet, amount: 300n });
    const refunded = await booked([newAttempt({ at, certainty: 'estimated', ending: 'left', cost: costs(20n) })]);
    await applied(context.store, giveBack('refund', refunded.wallet, refunded.id));
    const sums = async (by: CostGroup) => {
      const found = await context.store.attempts.sums({ by, from, to });
      const rows = found.map(({ group, ...row }) => [group, Object.values(row).map(Number)] as const);
      return Object.fromEntries(rows);
    };
    // Calls, attempts, charged, reported, estimated, possible, unpriced.
    const day = (time: number) => new Date(time).toISOString().slice(0, 10);
    expect(await sums('day')).to.deep.equal({
      [day(from)]: [2, 3, 5000, 1000, 20, 7, 0],
      [day(from + DAY_MS)]: [1, 1, 300, 0, 0, 0, 1],
    });
    expect(await sums('model')).to.deep.equal({
      'model-1': [2, 3, 5000, 1000, 20, 7, 0],
      'model-2': [1, 1, 300, 0, 0, 0, 1],
    });
    expect(await sums('upstream')).to.deep.equal({
      bad: [0, 1, 0, 0, 0, 7, 0],
      vendor: [2, 2, 5000, 1000, 20, 0, 0],
      '': [1, 1, 300, 0, 0, 0, 1],
    });
    expect(await sums('account')).to.deep.equal({
      [first.wallet]: [2, 3, 5300, 1000, 0, 7, 1],
      [refunded.wallet]: [1, 1, 0, 0, 20, 0, 0],
    });
    expect(await context.store.attempts.sums({ by: 'day', from: to })).to.deep.equal([]);
  });

  it('of calls that do not exist are found', async () => {
    const { wallet } = await booked([newAttempt()]);
    const ids = Array.from({ length: 5 }, () => newId('req')).sort();
    const lost = ids.flatMap((charge, at) =>
      toAttemptRows({ charge, wallet }, at === 0 ? [REFUSED, newAttempt()] : [newAttempt()]),
    );
    await context.store.attempts.put(lost);
    const found: string[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Awaited<ReturnType<typeof context.store.attempts.unknownCharges>> =
        await context.store.attempts.unknownCharges(after, 2);
      expect(page.found.length).to.be.most(2);
      found.push(...page.found.map((row) => `${row.charge} ${row.wallet}`));
      after = page.next;
    }
    expect(found).to.deep.equal(ids.map((id) => `${id} ${wallet}`));
  });

  it('of many calls are written in one batch', async () => {
    const wallet = await newWallet(context.store, 10_000n);
    const ids = Array.from({ length: 60 }, () => newId('req'));
    await applied(context.store, ...ids.map((chargeId): Operation => reserve(wallet, { chargeId, amount: RUB })));
    await applied(
      context.store,
      ...ids.map((id): Operation => settle(wallet, id, { attempts: [REFUSED, newAttempt()] })),
    );
    expect(await read(...ids)).to.have.length(120);
  });
}
