// An operation that the store can never apply does not stop the others of its lane.
import { expect } from 'chai';
import { createQueue, NoOutcome } from '../../lib/ledger/queue.ts';
import type { Outcome } from '../../lib/money/decide.ts';
import type { LedgerStore } from '../../lib/store/ports/ledger.ts';
import { StoreError } from '../../lib/store/store.ts';

describe('the ledger queue with an operation that no store accepts', () => {
  it('splits a failing batch, answers the others, and gives up the bad operation in time', async function () {
    this.timeout(10_000);
    const sizes: number[] = [];
    const apply: LedgerStore['apply'] = async (batch) => {
      sizes.push(batch.length);
      if (batch.some((op) => op.wallet === 'bad')) throw new StoreError('it cannot be written', 'no');
      return batch.map((): Outcome => ({ status: 'done' }));
    };
    const store = { lane: 'store', batchMax: 8, apply } as unknown as LedgerStore;
    const queue = createQueue({ store, answerWithinMs: 1500 });
    const submit = (wallet: string, id: string) =>
      queue.submit({ kind: 'topup', wallet, at: 0, amount: 1n, paymentId: id }, { persistent: false });
    const bad = submit('bad', 'p0').catch((error: unknown) => error);
    const good = await Promise.all(['p1', 'p2', 'p3'].map((id) => submit('good', id)));
    expect(good.map(({ status }) => status)).to.deep.equal(['done', 'done', 'done']);
    expect(sizes[0]).to.equal(4);
    expect(sizes).to.include(1);
    const error = await bad;
    expect(error).to.be.instanceOf(NoOutcome).with.property('applied', 'never');
    expect(await queue.drain(2000)).to.equal(0);
  });
});
