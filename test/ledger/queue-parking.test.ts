// Operations that fail alone, and how long callers wait, with scripted stores.

import { mock } from 'node:test';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { expect } from 'chai';
import { createQueue, NoOutcome, type QueueOptions } from '../../lib/ledger/queue.ts';
import type { Operation, Outcome } from '../../lib/money/decide.ts';
import type { LedgerStore } from '../../lib/store/ports/ledger.ts';
import { StoreError } from '../../lib/store/store.ts';
import { makeGate } from '../../testkit/faulty-store.ts';

const DONE: Outcome = { status: 'done' };

describe('parking in the ledger queue', () => {
  const { now } = performance;
  afterEach(() => {
    performance.now = now;
    mock.timers.reset();
  });

  type Take = (batch: readonly Operation[]) => Promise<void> | void;

  /** A queue with one lane and a store that accepts every batch by default; records the payment ids of each batch. */
  function open(take: Take, options: Partial<QueueOptions & Pick<LedgerStore, 'batchMax'>> = {}) {
    const { batchMax = 8, ...more } = options;
    const batches: string[] = [];
    const apply: LedgerStore['apply'] = async (batch) => {
      batches.push(batch.map((op) => ('paymentId' in op ? op.paymentId : '')).join(' '));
      await take(batch);
      return batch.map(() => DONE);
    };
    const queue = createQueue({ store: { lane: 'store', batchMax, apply } as unknown as LedgerStore, ...more });
    const submit = (paymentId: string, wallet = 'w') =>
      queue.submit({ kind: 'topup', wallet, at: 0, amount: 1n, paymentId }, { persistent: false });
    return { batches, queue, submit };
  }
  const refusal = () => new StoreError('it cannot be written', 'no', undefined, 'batch');

  it('retries an operation that failed alone separately, and reports it once', async () => {
    let failures = 2;
    const parked: string[] = [];
    const take = () => {
      failures -= 1;
      if (failures >= 0) throw refusal();
    };
    const onParked: QueueOptions['onParked'] = (_error, op) => parked.push(op.wallet);
    const { batches, submit } = open(take, { onParked });
    expect(await submit('p1')).to.equal(DONE);
    expect(batches).to.deep.equal(Array(3).fill('p1'));
    expect(parked).to.deep.equal(['w']);
  });

  it('queues other operations of its wallet behind it until it succeeds', async () => {
    let isBad = true;
    const take: Take = (batch) => {
      if (isBad && batch.some((op) => op.wallet === 'bad')) throw refusal();
    };
    const { batches, submit } = open(take);
    const first = submit('p1', 'bad');
    while (batches.length === 0) await waitOneTick();
    await waitOneTick();
    const others = [submit('p2', 'bad'), submit('p3', 'good')];
    expect(await others[1]).to.equal(DONE);
    isBad = false;
    await Promise.all([first, ...others]);
    expect(batches).to.include('p3').and.not.include('p2 p3');
    await submit('p4', 'good');
    const both = [submit('p5', 'bad'), submit('p6', 'good')];
    await Promise.all(both);
    expect(batches.at(-1)).to.equal('p5 p6');
  });

  it('blames no operation for an error that is not from the store', async () => {
    let failures = 1;
    const take = () => {
      failures -= 1;
      if (failures >= 0) throw new TypeError('a mistake');
    };
    const parked: unknown[] = [];
    const { batches, submit } = open(take, { onParked: (error) => parked.push(error) });
    await Promise.all([submit('p1'), submit('p2')]);
    expect(batches).to.deep.equal(['p1 p2', 'p1 p2']);
    expect(parked).to.deep.equal([]);
  });

  it('lets a caller wait for 4.8 seconds by default, also after an idle time', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    let aheadMs = 0;
    const began = now.call(performance);
    performance.now = () => began + aheadMs;
    const gate = makeGate();
    const { queue, submit, batches } = open(() => (batches.length > 1 ? gate.opened : undefined));
    expect(await submit('p1')).to.equal(DONE);
    mock.timers.tick(1000);
    let answer: unknown;
    const stuck = submit('p2').catch((error: unknown) => {
      answer = error;
    });
    await waitOneTick();
    for (const [ms, isOver] of [
      [4799, false],
      [4800, true],
    ] as const) {
      aheadMs = ms;
      mock.timers.tick(1000);
      await waitOneTick();
      expect(answer instanceof NoOutcome, `after ${ms} ms`).to.equal(isOver);
    }
    gate.open();
    await stuck;
    while (queue.size() > 0) await waitOneTick();
  });

  it('tries an operation that failed alone no more once its caller has stopped waiting', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    let aheadMs = 0;
    const began = now.call(performance);
    performance.now = () => began + aheadMs;
    const gate = makeGate();
    const { queue, submit, batches } = open(async () => {
      await gate.opened;
      throw refusal();
    });
    const answer = submit('p1').catch((error: unknown) => error);
    await waitOneTick();
    aheadMs = 4800;
    mock.timers.tick(1000);
    expect(await answer)
      .to.be.instanceOf(NoOutcome)
      .with.property('applied', 'unknown');
    expect(queue.size()).to.equal(1);
    gate.open();
    await waitOneTick();
    expect([queue.size(), batches]).to.deep.equal([0, ['p1']]);
  });

  it('queues twenty thousand operations, and refuses more', async () => {
    const { submit, queue, batches } = open(() => undefined, { batchMax: 10_000 });
    const waiting = Array.from({ length: 20_000 }, (_, at) => submit(`p${at}`));
    const error = await submit('one more').catch((refused: unknown) => refused);
    expect(error).to.be.instanceOf(NoOutcome).with.property('applied', 'never');
    await Promise.all(waiting);
    expect([queue.size(), batches.length]).to.deep.equal([0, 2]);
  });
});
