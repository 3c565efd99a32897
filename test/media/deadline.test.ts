// Time limits of a fetch: their errors, and that they leave nothing behind.
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { rejectOnAbort, waitForStep } from '../../lib/base/abort.ts';
import { withDeadline } from '../../lib/media/deadline.ts';
import { FetchFailure } from '../../lib/media/failure.ts';

const never = () => new Promise<never>(() => {});
const thrownBy = (running: Promise<unknown>) =>
  running.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  );
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('deadlines of a fetch', () => {
  let call: AbortController;
  beforeEach(() => {
    call = new AbortController();
  });
  afterEach(() => expect(getEventListeners(call.signal, 'abort')).to.deep.equal([]));

  it('return a result that arrives in time', async () => {
    expect(await withDeadline(60_000, call.signal, async () => 'in time')).to.equal('in time');
    expect(await rejectOnAbort(Promise.resolve('in time'), call.signal)).to.equal('in time');
  });

  it('abort with a failure when the time is up', async () => {
    const thrown = await thrownBy(withDeadline(1, call.signal, aborted));
    expect(thrown).to.be.instanceOf(FetchFailure).and.to.have.property('reason', 'slow');
  });

  it('abort with the reason of a call that ends first', async () => {
    const inner = thrownBy(withDeadline(60_000, call.signal, aborted));
    const outer = thrownBy(rejectOnAbort(never(), call.signal));
    call.abort('gone');
    expect([await inner, await outer]).to.deep.equal(['gone', 'gone']);
  });

  it('start nothing for an ended call', async () => {
    const over = AbortSignal.abort('gone');
    expect(await thrownBy(withDeadline(60_000, over, () => expect.fail('it ran')))).to.equal('gone');
    expect(await thrownBy(rejectOnAbort(never(), over))).to.equal('gone');
    expect(await thrownBy(waitForStep(performance.now(), 60_000, over))).to.equal('gone');
  });
});
