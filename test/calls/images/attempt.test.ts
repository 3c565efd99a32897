// One attempt at a route: its reports, the stored result, and that nothing is left running.
import { mock } from 'node:test';
import { expect } from 'chai';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import { type AttemptOptions, attemptImage } from '../../../lib/calls/images/attempt.ts';
import type { Route } from '../../../lib/catalog/model.ts';
import type { KeepRequest } from '../../../lib/media/results.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';

describe('an image attempt', () => {
  afterEach(() => mock.restoreAll());

  it('reports its request and its images, the first of which is stored through the proxy of its route', async () => {
    const events: string[] = [];
    const kept: KeepRequest[] = [];
    const image = async () => {
      events.push('made');
      return { images: [{ bytes: new Uint8Array([1]) }] };
    };
    const route = { provider: { image }, model: 'm', options: {}, upstream: 'up', proxy: 'http://proxy.example:3128' };
    const keep = async (_source: unknown, request: KeepRequest) => {
      events.push('kept');
      kept.push(request);
      return { id: 'file' };
    };
    const options = {
      route: route as unknown as Route,
      call: { prompt: 'a hill', images: [] },
      results: { keep },
      context: { accountId: 'a', signal: new AbortController().signal },
      deadline: performance.now() + HOUR_MS,
      onAsk: () => void events.push('asked'),
      onImages: (count: number) => void events.push(`${count} image`),
    } as unknown as AttemptOptions;
    const set = mock.method(globalThis, 'setTimeout');
    const clear = mock.method(globalThis, 'clearTimeout');
    const ending = await attemptImage(options);
    const cleared = clear.mock.calls.map(({ arguments: [timer] }) => timer);
    const [limit] = set.mock.calls.filter(({ arguments: [, ms = 0] }) => ms > HOUR_MS / 2);
    clearTimeout(limit?.result);
    expect(ending).to.deep.equal({ type: 'finish', result: { id: 'file' } });
    expect(events).to.deep.equal(['asked', 'made', '1 image', 'kept']);
    expect(kept[0]).to.include({ kind: 'image', account: 'a', proxy: 'http://proxy.example:3128' });
    expect(cleared).to.include(limit?.result);
  });

  it('looks at sixteen of its images at the most, and counts no more', async () => {
    const route = { provider: { image: async () => ({ images: Array(1000).fill({ url: 'x' }) }) }, upstream: 'up' };
    let counted = 0;
    let kept = 0;
    const options = {
      route: route as unknown as Route,
      call: { prompt: 'a hill', images: [] },
      results: {
        async keep() {
          kept += 1;
          throw upstreamFault('protocol', 'not an image');
        },
      },
      context: { accountId: 'a', signal: new AbortController().signal },
      deadline: performance.now() + HOUR_MS,
      onAsk: () => undefined,
      onImages: (count: number) => {
        counted = count;
      },
    } as unknown as AttemptOptions;
    const ending = await attemptImage(options);
    expect([ending.type, kept, counted]).to.deep.equal(['error', 16, 16]);
  });
});
