// A paid call on a real ledger: in which order calls that end together ask, end and pay.
import { expect } from 'chai';
import { type CallContext, GONE } from '../../lib/call/context.ts';
import { createPaidCalls } from '../../lib/call/paid.ts';
import { createLedger } from '../../lib/ledger/ledger.ts';
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

  it('that cannot be billed fail, and their holds are returned', async () => {
    const wallet = await store.wallet();
    const ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log: quiet });
    const errors: object[] = [];
    const context = contextOf('req-broken', wallet, new AbortController().signal);
    const { ending, due, paid } = await createPaidCalls(ledger).run({
      context: { ...context, log: { ...context.log, error: (fields) => void errors.push(fields) } },
      terms: { kind: 'text', model: 'm', prices: '{}', amount: 10n * RUB },
      ask: async () => ({ type: 'finish', result: 'an answer' }),
      owed: () => {
        throw new RangeError('not an integer');
      },
    });
    expect(ending).to.have.property('type', 'error');
    expect([due, paid.charged]).to.deep.equal([undefined, 0n]);
    expect(await store.store.ledger.wallet(wallet)).to.include({ held: 0n, charged: 0n });
    expect(errors[0]).to.have.property('err').that.is.instanceOf(RangeError);
  });

  it('whose clients leave together are all over before the first of them is billed', async () => {
    const wallet = await store.wallet();
    const ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log: quiet });
    const calls = createPaidCalls(ledger);
    const events: string[] = [];
    const controllers = ['one', 'two', 'three'].map((name) => ({ name, controller: new AbortController() }));
    const runs = controllers.map(({ name, controller }) =>
      calls.run({
        context: contextOf(`req-${name}`, wallet, controller.signal),
        terms: { kind: 'text', model: 'm', prices: '{}', amount: 10n * RUB },
        ask: () =>
          new Promise((_resolve, reject) => {
            events.push('asked');
            controller.signal.addEventListener('abort', () => {
              events.push('over');
              reject(new Error('aborted'));
            });
            if (events.length === controllers.length) leave();
          }),
        owed: () => {
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
