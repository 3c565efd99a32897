// The queue with a store that fails in every possible way: nothing is applied twice, lost, or answered wrongly.
import { expect } from 'chai';
import { createQueue, NoOutcome, type Queue, type QueueOptions } from '../../lib/ledger/queue.ts';
import type { Operation, Outcome } from '../../lib/money/decide.ts';
import { until } from '../../testkit/client.ts';
import {
  answerAfter,
  type FaultyOptions,
  type FaultyStore,
  lose,
  makeGate,
  openFaultyStore,
  refuse,
  refuseAfter,
  vanish,
  waitFor,
} from '../../testkit/faulty-store.ts';
import { heapMiB } from '../../testkit/garbage.ts';
import { longer } from '../../testkit/long.ts';

/** Longer than the tick of the queue, 100 ms. */
const SOON_MS = 150;

describe('the ledger queue', () => {
  let store: FaultyStore;
  let wallet: string;

  afterEach(() => store.close());

  async function openQueue(options: Partial<QueueOptions> = {}, faulty: FaultyOptions = {}): Promise<Queue> {
    store = await openFaultyStore(faulty);
    wallet = await store.wallet();
    return createQueue({ store: store.store.ledger, ...options });
  }

  const reserve = (chargeId: string, of = wallet): Operation => ({
    kind: 'reserve',
    wallet: of,
    chargeId,
    key: 'key',
    chargeKind: 'text',
    model: 'm',
    prices: '{}',
    amount: 10_000_000n,
    at: Date.now(),
    owner: 'me',
    lease: Date.now() + 60_000,
  });
  const release = (chargeId: string): Operation => ({ kind: 'release', wallet, chargeId, at: Date.now() });
  const once = { persistent: false };
  const forever = { persistent: true };
  const noOutcome = async (submitted: Promise<Outcome>) => {
    const error = await submitted.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof NoOutcome)) throw new Error(`answered ${error}`);
    expect(error.message).to.include(error.applied === 'never' ? 'did not accept' : 'has not confirmed');
    return error.applied;
  };
  const stateOf = async (chargeId: string) => (await store.real.ledger.charge(chargeId))?.state;
  const done = async (queue: Queue) => expect(await queue.drain(5000)).to.equal(0);

  it('commits the operations of one event-loop tick as one batch, and later ones as the next', async () => {
    const queue = await openQueue();
    const gate = makeGate();
    store.next('ledger.apply', waitFor(gate.opened));
    const first = ['a', 'b', 'c'].map((id) => queue.submit(reserve(id), once));
    await until(() => store.batches.length === 1);
    const second = ['d', 'e'].map((id) => queue.submit(reserve(id), once));
    expect(queue.size()).to.equal(5);
    gate.open();
    const outcomes = await Promise.all([...first, ...second]);
    expect(outcomes.map(({ status, charge }) => [status, charge?.id])).to.deep.equal(
      ['a', 'b', 'c', 'd', 'e'].map((id) => ['done', id]),
    );
    expect(store.batches).to.deep.equal([
      ['reserve:a', 'reserve:b', 'reserve:c'],
      ['reserve:d', 'reserve:e'],
    ]);
    expect(queue.size()).to.equal(0);
  });

  it('never sends a batch larger than the store takes', async () => {
    const queue = await openQueue({}, { shape: { batchMax: 2 } });
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => queue.submit(reserve(id), once)));
    expect(store.batches.map((batch) => batch.length)).to.deep.equal([2, 2, 1]);
  });

  const retried = [
    { name: 'was refused', behaviour: refuse, status: 'done' },
    { name: 'vanished', behaviour: vanish, status: 'done' },
    { name: 'was applied and its answer lost', behaviour: lose, status: 'exists' },
  ];
  for (const { name, behaviour, status } of retried) {
    it(`resends a batch that ${name} with the same operations, and applies it once`, async () => {
      const errors: unknown[] = [];
      const queue = await openQueue({ onRetry: (error, operations) => errors.push([error, operations]) });
      store.next('ledger.apply', behaviour, behaviour);
      const outcomes = await Promise.all(['a', 'b'].map((id) => queue.submit(reserve(id), once)));
      expect(outcomes.map((outcome) => [outcome.status, outcome.charge?.state])).to.deep.equal([
        [status, 'held'],
        [status, 'held'],
      ]);
      expect(store.batches).to.deep.equal(Array(3).fill(['reserve:a', 'reserve:b']));
      expect(errors).to.have.length(2);
      expect(await store.read(wallet)).to.include({ held: 20_000_000n, seq: 3 });
    });
  }

  it('resends a batch without later operations', async () => {
    const queue = await openQueue();
    store.next('ledger.apply', vanish);
    const first = queue.submit(reserve('a'), once);
    await until(() => store.batches.length === 1);
    const second = queue.submit(reserve('b'), once);
    await Promise.all([first, second]);
    expect(store.batches).to.deep.equal([['reserve:a'], ['reserve:a'], ['reserve:b']]);
  });

  it('answers `never` if the store has refused all the time, and drops the operation', async () => {
    const queue = await openQueue({ answerWithinMs: SOON_MS });
    store.always('ledger.apply', refuse);
    expect(await noOutcome(queue.submit(reserve('a'), once))).to.equal('never');
    store.always('ledger.apply', undefined);
    await done(queue);
    expect(await stateOf('a')).to.equal(undefined);
  });

  it('drops operations that waited behind a batch for too long', async () => {
    const queue = await openQueue({ answerWithinMs: SOON_MS }, { shape: { batchMax: 1 } });
    const gate = makeGate();
    store.next('ledger.apply', waitFor(gate.opened));
    const first = queue.submit(reserve('a'), { persistent: true });
    const second = queue.submit(reserve('b'), once);
    expect(await Promise.all([noOutcome(first), noOutcome(second)])).to.deep.equal(['unknown', 'never']);
    gate.open();
    await done(queue);
    expect([await stateOf('a'), await stateOf('b')]).to.deep.equal(['held', undefined]);
    expect(store.batches).to.deep.equal([['reserve:a']]);
  });

  it('answers `unknown` while an operation may be applied, and reports the outcome later', async () => {
    const queue = await openQueue({ answerWithinMs: SOON_MS });
    const gate = makeGate();
    store.next('ledger.apply', answerAfter(gate.opened));
    const late: Outcome[] = [];
    const onLate = (outcome: Outcome) => void late.push(outcome);
    expect(await noOutcome(queue.submit(reserve('a'), { persistent: false, onLate }))).to.equal('unknown');
    expect(late).to.have.length(0);
    gate.open();
    await done(queue);
    expect(late.map(({ status, charge }) => [status, charge?.state])).to.deep.equal([['done', 'held']]);
  });

  it('never drops an operation that may be applied, whatever later attempts answer', async () => {
    const queue = await openQueue({ answerWithinMs: SOON_MS });
    store.next('ledger.apply', lose, refuse, refuse, refuse, refuse, refuse);
    const late: Outcome[] = [];
    const onLate = (outcome: Outcome) => void late.push(outcome);
    expect(await noOutcome(queue.submit(reserve('a'), { persistent: false, onLate }))).to.equal('unknown');
    await done(queue);
    expect(late.map(({ status, charge }) => [status, charge?.state])).to.deep.equal([['exists', 'held']]);
  });

  it('drops an operation that is refused after its caller was answered `unknown`', async () => {
    const queue = await openQueue({ answerWithinMs: SOON_MS });
    const gate = makeGate();
    store.next('ledger.apply', refuseAfter(gate.opened));
    const late: Outcome[] = [];
    const onLate = (outcome: Outcome) => void late.push(outcome);
    expect(await noOutcome(queue.submit(reserve('a'), { persistent: false, onLate }))).to.equal('unknown');
    gate.open();
    await done(queue);
    expect(store.batches).to.have.length(1);
    expect(late).to.have.length(0);
    expect(await stateOf('a')).to.equal(undefined);
  });

  it('keeps retrying a persistent operation after its caller was answered `unknown`, also after other errors', async () => {
    const queue = await openQueue({ answerWithinMs: SOON_MS });
    await queue.submit(reserve('a'), once);
    store.always('ledger.apply', refuse);
    const late: Outcome[] = [];
    const onLate = (outcome: Outcome) => void late.push(outcome);
    expect(await noOutcome(queue.submit(release('a'), { persistent: true, onLate }))).to.equal('unknown');
    store.always('ledger.apply', undefined);
    store.next('ledger.apply', async () => {
      throw new TypeError('not even an error of the store');
    });
    await done(queue);
    expect(late.map(({ status, charge }) => [status, charge?.state])).to.deep.equal([['done', 'released']]);
  });

  it('refuses new operations if too many wait, but accepts those that end a charge', async () => {
    const queue = await openQueue({ waitingMax: 2 });
    await queue.submit(reserve('a'), once);
    const gate = makeGate();
    store.next('ledger.apply', waitFor(gate.opened));
    const running = queue.submit(reserve('b'), once);
    await until(() => store.batches.length === 2);
    const waiting = ['c', 'd'].map((id) => queue.submit(reserve(id), once));
    expect(await noOutcome(queue.submit(reserve('e'), once))).to.equal('never');
    const ending = queue.submit(release('a'), forever);
    expect(queue.size()).to.equal(4);
    gate.open();
    expect((await Promise.all([running, ...waiting, ending])).map(({ status }) => status)).to.deep.equal(
      Array(4).fill('done'),
    );
    expect(await stateOf('e')).to.equal(undefined);
    expect((await queue.submit(reserve('e'), once)).status).to.equal('done');
  });

  it('resolves to the number of operations left if draining takes too long', async () => {
    const queue = await openQueue();
    const gate = makeGate();
    store.next('ledger.apply', waitFor(gate.opened));
    const submitted = ['a', 'b'].map((id) => queue.submit(reserve(id), once));
    expect(await queue.drain(50)).to.equal(2);
    gate.open();
    expect(await queue.drain(5000)).to.equal(0);
    await Promise.all(submitted);
  });

  it('returns refusals of the ledger like any outcome', async () => {
    const queue = await openQueue();
    const op = { ...reserve('a'), amount: 10_000_000_000n } as Operation;
    expect((await queue.submit(op, once)).status).to.equal('insufficient');
    expect((await queue.submit(reserve('b', 'nobody'), once)).status).to.equal('no_wallet');
  });

  it('separates the lanes of wallets: a failing one does not delay another', async () => {
    const queue = await openQueue({}, { shape: { lane: 'wallet' } });
    const other = await store.wallet();
    const gate = makeGate();
    store.next('ledger.apply', refuseAfter(gate.opened));
    const stuck = queue.submit(reserve('a'), once);
    await until(() => store.batches.length === 1);
    const behind = queue.submit(reserve('b'), once);
    expect((await queue.submit(reserve('c', other), once)).status).to.equal('done');
    expect(await stateOf('b')).to.equal(undefined);
    gate.open();
    expect((await Promise.all([stuck, behind])).map(({ status }) => status)).to.deep.equal(['done', 'done']);
    expect(store.batches).to.deep.equal([['reserve:a'], ['reserve:c'], ['reserve:a'], ['reserve:b']]);
    // A deleted lane opens again.
    expect((await queue.submit(reserve('d'), once)).status).to.equal('done');
  });

  it('deletes the lane of a wallet without operations', async () => {
    store = await openFaultyStore();
    const none: Outcome = { status: 'no_wallet' };
    const apply = async (batch: readonly unknown[]) => batch.map(() => none);
    const queue = createQueue({ store: { ...store.store.ledger, lane: 'wallet', apply } });
    const submitMany = async (name: string, count: number) => {
      for (let at = 0; at < count; at += 100) {
        await Promise.all(
          Array.from({ length: 100 }, (_, of) => queue.submit(reserve('c', `${name}-${at + of}`), once)),
        );
      }
      return heapMiB();
    };
    const before = await submitMany('first', 2000);
    expect((await submitMany('second', longer(10_000, 20_000))) - before).to.be.below(longer(5, 10));
  });

  it('applies every operation except the one that no store can apply', async () => {
    const queue = await openQueue();
    await queue.submit(reserve('a'), once);
    const settle = {
      kind: 'settle',
      wallet,
      chargeId: 'a',
      at: 1,
      usage: '{"tokens_input":1,"tokens_output":1}',
    } as const;
    const impossible = queue.submit({ ...settle, amount: -1n }, forever);
    impossible.catch(() => undefined);
    const others = Array.from({ length: 20 }, (_, at) => queue.submit(reserve(`of-${at}`), once));
    const outcomes = await Promise.all(others);
    expect(new Set(outcomes.map(({ status }) => status))).to.deep.equal(new Set(['done']));
    expect(await stateOf('a')).to.equal('held');
    expect(queue.size()).to.equal(1);
    expect((await queue.submit(reserve('later'), once)).status).to.equal('done');
  });

  it('has only one batch of a lane in flight, even while it waits to retry', async () => {
    const queue = await openQueue({}, { shape: { batchMax: 4 } });
    let inFlight = 0;
    let most = 0;
    let failures = 6;
    store.always('ledger.apply', async (call, args) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inFlight -= 1;
      failures -= 1;
      return failures < 0 ? call() : refuse(call, args);
    });
    const submitted: Promise<Outcome>[] = [];
    for (let at = 0; at < 60; at += 1) {
      submitted.push(queue.submit(reserve(`of-${at}`), once));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const outcomes = await Promise.all(submitted);
    expect(outcomes.map(({ status, charge }) => `${status} ${charge?.id}`)).to.deep.equal(
      submitted.map((_, at) => `done of-${at}`),
    );
    expect(most).to.equal(1);
    expect(await store.read(wallet)).to.include({ held: 600_000_000n, seq: 61 });
  });
});
