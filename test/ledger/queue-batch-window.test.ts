// In a busy process a commit waits for more operations only if the previous batch had several.
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { expect } from 'chai';
import { createQueue } from '../../lib/ledger/queue.ts';
import type { Outcome } from '../../lib/money/decide.ts';
import type { LedgerStore } from '../../lib/store/ports/ledger.ts';
import { startEventLoopNoise } from './event-loop-noise.ts';

const TRIES = 20;

describe('the batch window of the ledger queue', () => {
  let endEchoes: () => void;
  before(async () => {
    endEchoes = await startEventLoopNoise();
  });
  after(() => endEchoes());

  /** How many of ten operations, one per tick, share a batch after a commit of the given size. */
  async function gathered(lane: 'store' | 'wallet', before: number): Promise<number> {
    const sizes: number[] = [];
    const apply: LedgerStore['apply'] = async (batch) => {
      sizes.push(batch.length);
      await waitOneTick();
      return batch.map((): Outcome => ({ status: 'done' }));
    };
    const queue = createQueue({ store: { lane, batchMax: 64, apply } as unknown as LedgerStore });
    let id = 0;
    const submit = () => {
      id += 1;
      const op = { kind: 'topup', wallet: 'w', at: 0, amount: 1n, paymentId: `p${id}` } as const;
      return queue.submit(op, { persistent: false });
    };
    const waiting = Array.from({ length: before }, submit);
    while (sizes.length === 0) await waitOneTick();
    for (let count = 0; count < 10; count += 1) {
      waiting.push(submit());
      await waitOneTick();
    }
    await Promise.all(waiting);
    expect(sizes[0]).to.equal(before);
    return sizes[1] as number;
  }

  async function mostGathered(lane: 'store' | 'wallet', before: number): Promise<number> {
    let most = 0;
    for (let tries = 0; tries < TRIES; tries += 1) most = Math.max(most, await gathered(lane, before));
    return most;
  }

  it('does not wait after a commit of one or two operations', async () => {
    for (const before of [1, 2]) expect(await mostGathered('store', before)).to.be.at.most(4);
  });

  it('gathers operations after a commit of three', async () => {
    expect(await mostGathered('store', 3)).to.be.greaterThan(5);
  });

  it('never gathers for a single wallet', async () => {
    expect(await mostGathered('wallet', 3)).to.be.at.most(4);
  });
});
