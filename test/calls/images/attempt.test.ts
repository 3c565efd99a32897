// One attempt at a route: its reports, the stored result, and that nothing is left running.
import { mock } from 'node:test';
import { expect } from 'chai';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import { GONE } from '../../../lib/calls/context.ts';
import { type AttemptOptions, attemptImage } from '../../../lib/calls/images/attempt.ts';
import { ReplyQueue } from '../../../lib/calls/images/reply-queue.ts';
import type { KeepRequest } from '../../../lib/media/results.ts';
import { AnswerMemory, type AnswerSizes } from '../../../lib/stream/answer-memory.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { readPluginRun } from '../../../lib/upstream/host/plugin-run.ts';
import { itTimed } from '../../../testkit/timed.ts';

const MIB = 1024 * 1024;

/** An attempt at a route within an hour, by a client that stays. */
function makeOptions(route: object, more: object): AttemptOptions {
  return {
    route,
    call: { prompt: 'a hill', images: [] },
    context: { accountId: 'a', signal: new AbortController().signal },
    deadline: performance.now() + HOUR_MS,
    memory: new AnswerMemory(new ReplyQueue(), 'a'),
    onRun: () => undefined,
    onImages: () => undefined,
    ...more,
  } as unknown as AttemptOptions;
}

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
    const options = makeOptions(route, {
      results: { keep },
      onImages: (count: number) => void events.push(`${count} image`),
    });
    const set = mock.method(globalThis, 'setTimeout');
    const clear = mock.method(globalThis, 'clearTimeout');
    const ending = await attemptImage(options);
    const cleared = clear.mock.calls.map(({ arguments: [timer] }) => timer);
    const [limit] = set.mock.calls.filter(({ arguments: [, ms = 0] }) => ms > HOUR_MS / 2);
    clearTimeout(limit?.result);
    expect(ending).to.deep.equal({ type: 'finish', result: { id: 'file' } });
    expect(events).to.deep.equal(['made', '1 image', 'kept']);
    expect(kept[0]).to.include({ kind: 'image', account: 'a', proxy: 'http://proxy.example:3128' });
    expect(cleared).to.include(limit?.result);
  });

  it('looks at sixteen of its images at the most, and counts no more', async () => {
    const route = { provider: { image: async () => ({ images: Array(1000).fill({ url: 'x' }) }) }, upstream: 'up' };
    let counted = 0;
    let kept = 0;
    const options = makeOptions(route, {
      results: {
        async keep() {
          kept += 1;
          throw upstreamFault('protocol', 'not an image');
        },
      },
      onImages: (count: number) => {
        counted = count;
      },
    });
    const ending = await attemptImage(options);
    expect([ending.type, kept, counted]).to.deep.equal(['error', 16, 16]);
  });

  it('holds what its reply takes until its end, and nothing of what a plugin reads after that', async () => {
    const held: AnswerSizes[] = [];
    let releases = 0;
    const releaseAll = () => {
      releases += 1;
    };
    const memory = new AnswerMemory(
      { reserveAnswer: () => ({ hold: (sizes) => void held.push(sizes), releaseAll }) },
      'a',
    );
    const left = new AbortController();
    const finished = Promise.withResolvers<void>();
    const read = (bytes: number) => {
      const memory = readPluginRun()?.memory;
      memory?.noteEvent(bytes);
      return memory?.waitForRoom();
    };
    const image = async () => {
      await read(3 * MIB);
      left.abort(GONE);
      await new Promise((resolve) => setImmediate(resolve));
      await read(5 * MIB);
      finished.resolve();
      return { images: [] };
    };
    const options = makeOptions(
      { provider: { image }, upstream: 'up' },
      {
        context: { accountId: 'a', signal: left.signal },
        memory,
      },
    );
    expect(await attemptImage(options)).to.deep.equal({ type: 'gone' });
    await finished.promise;
    expect([held, releases]).to.deep.equal([[{ kept: 0, open: 3 * MIB }], 1]);
  });

  itTimed('leaves half of the time to another route, however many of its images cannot be fetched', async () => {
    const route = { provider: { image: async () => ({ images: Array(4).fill({ url: 'x' }) }) }, upstream: 'up' };
    let kept = 0;
    const options = makeOptions(route, {
      results: {
        async keep() {
          kept += 1;
          await new Promise((resolve) => setTimeout(resolve, 300));
          throw upstreamFault('timeout', 'no answer');
        },
      },
      deadline: performance.now() + 500,
    });
    expect((await attemptImage(options)).type).to.equal('error');
    expect([kept, options.deadline > performance.now()]).to.deep.equal([1, true]);
  });

  it('does not blame its route if there is no room for its reply until the end', async () => {
    const queue = new ReplyQueue(1);
    void queue.reserveAnswer().hold({ kept: 0, open: 1 });
    const image = async () => {
      const memory = readPluginRun()?.memory;
      memory?.noteEvent(3 * MIB);
      await memory?.waitForRoom();
      return { images: [] };
    };
    const options = makeOptions(
      { provider: { image }, upstream: 'up' },
      {
        memory: new AnswerMemory(queue, 'a'),
        deadline: performance.now() + 20,
      },
    );
    const ending = await attemptImage(options);
    expect(ending.type === 'error' && ending.fault.data?.code).to.equal('no_room_for_answer');
  });
});
