// Paid calls on a real ledger: the order in which calls that end together are asked, ended and billed.
import { expect } from 'chai';
import { type CallContext, GONE } from '../../lib/calls/context.ts';
import { createPaidCalls } from '../../lib/calls/paid.ts';
import { createLedger, type Ledger } from '../../lib/ledger/ledger.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';

const RUB = 1_000_000n;
const quiet = { debug: () => undefined, warn: () => undefined, error: () => undefined };

describe('paid calls', () => {
  let store: FaultyStore;
  before(async () => {
    store = await openFaultyStore();
  });
  after(() => store.close());

  function contextOf(requestId: string, accountId: string, signal: AbortSignal): CallContext {
    const log = { ...quiet, note: () => undefined };
    return { requestId, accountId, keyId: 'key', signal, onFirst: () => undefined, log };
  }

  it('fail if they cannot be billed, and their holds are returned', async () => {
    const wallet = await store.wallet();
    const ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log: quiet });
    const errors: object[] = [];
    const context = contextOf('req-broken', wallet, new AbortController().signal);
    const { ending, due, paid } = await createPaidCalls(ledger).run({
      context: { ...context, log: { ...context.log, error: (fields) => void errors.push(fields) } },
      terms: { kind: 'text', model: 'm', prices: '{}', amount: 10n * RUB },
      attempts: [],
      ask: async () => ({ type: 'finish', result: 'an answer' }),
      computeDue: () => {
        throw new RangeError('not an integer');
      },
    });
    expect(ending).to.have.property('type', 'error');
    expect([due, paid.charged]).to.deep.equal([undefined, 0n]);
    expect(await store.store.ledger.wallet(wallet)).to.include({ held: 0n, charged: 0n });
    expect(errors[0]).to.have.property('err').that.is.instanceOf(RangeError);
  });

  it('are settled, not returned, if their usage costs nothing', async () => {
    const wallet = await store.wallet();
    const ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log: quiet });
    const { paid } = await createPaidCalls(ledger).run({
      context: contextOf('req-free', wallet, new AbortController().signal),
      terms: { kind: 'text', model: 'm', prices: '{}', amount: RUB },
      attempts: [],
      ask: async () => ({ type: 'finish', result: 'an answer' }),
      computeDue: () => ({ amount: 0n, usage: { tokens_input: 1, tokens_output: 1 } }),
    });
    expect(paid).to.include({ charged: 0n, reserved: RUB, confirmed: true });
    const charge = await store.store.ledger.charge('req-free');
    expect(charge).to.include({ state: 'settled', usage: '{"tokens_input":1,"tokens_output":1}' });
  });

  it("pass all terms to the hold, including what the wallet's calls have used above their holds", async () => {
    const wallet = await store.wallet();
    const ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log: quiet });
    const requests: object[] = [];
    const hold: Ledger['hold'] = (request) => {
      requests.push(request);
      return ledger.hold(request);
    };
    const calls = createPaidCalls({ ...ledger, hold });
    const terms = { kind: 'text', model: 'm', prices: '{}', amount: 10n * RUB } as const;
    const budget = { name: 'k', reset: 'day', zone: 'UTC', limit: 100n * RUB } as const;
    const idempotency = { id: 'repeat', body: 'hash', awaited: true, expiresAt: Date.now() + 60_000 };
    const caps = [{ kind: 'run', id: 'run:a', name: 'a', limit: 100n * RUB }] as const;
    const told = { requestId: 'req-all', budget, caps, idempotency, waitedMs: 7 };
    const inside = { ...contextOf('req-inside', wallet, new AbortController().signal) };
    const call = { terms, attempts: [], computeDue: () => undefined };
    await calls.run({
      ...call,
      terms: { ...terms, excess: 5n * RUB },
      context: { ...inside, ...told },
      overshoot: (reserved) => reserved + 1n,
      async ask() {
        await calls.run({ ...call, context: inside, ask: async () => ({ type: 'gone' }) });
        return { type: 'gone' };
      },
    });
    await calls.run({
      ...call,
      context: { ...inside, requestId: 'req-after' },
      ask: async () => ({ type: 'gone' }),
    });
    const common = { ...terms, wallet, key: 'key', budget: undefined, caps: undefined, idempotency: undefined };
    expect(requests).to.deep.equal([
      { ...common, excess: 5n * RUB, chargeId: 'req-all', budget, caps, idempotency, owed: 0n, waitedMs: 7 },
      { ...common, chargeId: 'req-inside', owed: 15n * RUB + 1n, waitedMs: 0 },
      { ...common, chargeId: 'req-after', owed: 0n, waitedMs: 0 },
    ]);
  });

  it('count as overshoot until they are settled', async () => {
    const wallet = await store.wallet();
    const ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log: quiet });
    const owed: (bigint | undefined)[] = [];
    const terms = { kind: 'text', model: 'm', prices: '{}', amount: 10n * RUB } as const;
    const call = { terms, attempts: [], ask: async () => ({ type: 'finish', result: 'an answer' }) as const };
    const { signal } = new AbortController();
    const calls = createPaidCalls({
      ...ledger,
      hold(request) {
        owed.push(request.owed);
        return ledger.hold(request);
      },
      async settle(hold, due) {
        await calls.run({ ...call, context: contextOf('req-beside', wallet, signal), computeDue: () => undefined });
        return ledger.settle(hold, due);
      },
    });
    const usage = { tokens_input: 1, tokens_output: 1 };
    await calls.run({
      ...call,
      context: contextOf('req-above', wallet, signal),
      overshoot: () => RUB,
      computeDue: () => ({ amount: 11n * RUB, usage }),
    });
    expect(owed).to.deep.equal([0n, RUB]);
  });

  it('are billed as soon as they finish', async () => {
    const wallet = await store.wallet();
    const ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log: quiet });
    const events: string[] = [];
    await createPaidCalls(ledger).run({
      context: contextOf('req-finished', wallet, new AbortController().signal),
      terms: { kind: 'text', model: 'm', prices: '{}', amount: 10n * RUB },
      attempts: [],
      async ask() {
        setImmediate(() => events.push('a turn'));
        return { type: 'finish', result: 'an answer' };
      },
      computeDue: () => void events.push('billed'),
    });
    expect(events).to.deep.equal(['billed', 'a turn']);
  });

  it('are all closed before the first is billed if their clients leave together', async () => {
    const wallet = await store.wallet();
    const ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log: quiet });
    const calls = createPaidCalls(ledger);
    const events: string[] = [];
    const controllers = ['one', 'two', 'three'].map((name) => ({ name, controller: new AbortController() }));
    const runs = controllers.map(({ name, controller }) =>
      calls.run({
        context: contextOf(`req-${name}`, wallet, controller.signal),
        terms: { kind: 'text', model: 'm', prices: '{}', amount: 10n * RUB },
        attempts: [],
        ask: () =>
          new Promise((_resolve, reject) => {
            events.push('asked');
            controller.signal.addEventListener('abort', () => {
              events.push('over');
              reject(new Error('aborted'));
            });
            if (events.length === controllers.length) leave();
          }),
        computeDue: () => {
          events.push('billed');
          return { amount: RUB, usage: { tokens_input: 1, tokens_output: 1 } };
        },
      }),
    );
    /** As connections do that close together: each is told of by itself, the last in the next turn. */
    function leave(): void {
      const [one, two, three] = controllers.map(({ controller }) => controller) as [
        AbortController,
        AbortController,
        AbortController,
      ];
      setImmediate(() => one.abort(GONE));
      setImmediate(() => two.abort(GONE));
      setImmediate(() => setImmediate(() => three.abort(GONE)));
    }
    const endings = await Promise.all(runs);
    expect(endings.map(({ ending }) => ending.type)).to.deep.equal(['gone', 'gone', 'gone']);
    expect(events).to.deep.equal([...Array(3).fill('asked'), ...Array(3).fill('over'), ...Array(3).fill('billed')]);
    expect(await store.read(wallet)).to.include({ held: 0n, charged: 3n * RUB });
  });
});
