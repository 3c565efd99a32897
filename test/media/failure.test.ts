// Failures of a fetch: what they reveal about their cause.
import { expect } from 'chai';
import { FetchFailure, failAs } from '../../lib/media/failure.ts';

describe('failures of a fetch', () => {
  const { signal } = new AbortController();
  const thrownBy = (error: unknown, call = signal) =>
    failAs('broken', call, () => Promise.reject(error)).then(
      () => expect.fail('it did not fail'),
      (thrown: unknown) => thrown,
    );

  it('have a reason, a status and an error code, but nothing else of the original message', async () => {
    const coded = (code: unknown) => Object.assign(new Error('connect to 10.0.0.1'), { code });
    for (const [cause, message] of [
      [coded('ECONNRESET'), 'broken (ECONNRESET)'],
      [coded('UND_ERR_SOCKET'), 'broken (UND_ERR_SOCKET)'],
      [coded('https://secret.example'), 'broken'],
      [coded(7), 'broken'],
      [new Error('connect to 10.0.0.1'), 'broken'],
      ['10.0.0.1', 'broken'],
    ] as const) {
      expect(await thrownBy(cause), String(cause)).to.include({ name: 'FetchFailure', reason: 'broken', message });
    }
    expect(new FetchFailure('status', { status: 404 })).to.include({ message: 'status 404', status: 404 });
  });

  it('are kept, unless the call has ended with a reason', async () => {
    const own = new FetchFailure('redirects');
    expect(await thrownBy(own)).to.equal(own);
    const over = AbortSignal.abort('gone');
    expect(await thrownBy(own, over)).to.equal('gone');
  });
});
