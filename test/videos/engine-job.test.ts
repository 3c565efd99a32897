// The job that a video is charged with: how long it is this process's, and how long it may take.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createRouteHealth } from '../../lib/call/health.ts';
import type { VideoModel } from '../../lib/catalog/model.ts';
import { videoIdOf } from '../../lib/jobs/id.ts';
import { createVideoEngine, type VideoEngineOptions, type VideoStart } from '../../lib/videos/engine.ts';

const AT = 5_000_000;
const REQUEST = `req_${'0'.repeat(32)}`;
const ID = videoIdOf(REQUEST);
const ROUTE = { upstream: 'up', key: 'video up film', provider: { video: { start: async () => ({ id: 'up_1' }) } } };

describe('the job of a video', () => {
  it('is held by its process until its start is noted, for a lease, and has its time from the charge on', async () => {
    const events: string[] = [];
    let made: object | undefined;
    const engine = createVideoEngine({
      jobs: {
        change: async ({ kind }: { kind: string }) => {
          events.push(`${kind} begins`);
          await sleep(20);
          events.push(`${kind} ends`);
          return { status: 'done', job: { id: ID, phase: 'running', version: 2 } };
        },
      },
      ledger: {
        charge: async (_asked: object, { job }: { job: object }) => {
          events.push('charge');
          made = job;
          return { job: { ...job, version: 1, phase: 'starting' }, charge: { charged: 5n } };
        },
      },
      worker: {
        hold: (id: string) => {
          events.push(`hold ${id}`);
          return () => events.push('let go');
        },
        firstLook: () => AT + 10,
        expect: (id: string, dueAt: number) => events.push(`expect ${id} in ${dueAt - AT}`),
      },
      ...{ ownerId: 'me', leaseMs: 700, deadlineMs: 90_000, clock: { now: () => AT } },
      ...{ timeouts: { firstTokenTimeoutMs: 1000, totalTimeoutMs: 1000 }, health: createRouteHealth() },
      log: { warn: () => undefined },
    } as unknown as VideoEngineOptions);
    const terms = {
      ...{ price: { amount: 5n }, prices: '{}' },
      asked: { seconds: 5, size: { width: 16, height: 9 }, resolution: null, aspect: '16:9' },
    };
    const model = { id: 'film', type: 'video', routes: [ROUTE] } as unknown as VideoModel;
    const log = { debug: () => undefined, warn: () => undefined, error: () => undefined, note: () => undefined };
    const { signal } = new AbortController();
    await engine.start({ model, terms, prompt: 'a hill', image: undefined } as unknown as VideoStart, {
      ...{ requestId: REQUEST, accountId: 'w', keyId: 'key', signal, onFirst: () => undefined, log },
    });
    await sleep(0);
    expect(made).to.include({ id: ID, owner: 'me', createdAt: AT, lease: AT + 700, deadline: AT + 90_000 });
    expect(events).to.deep.equal([
      ...[`hold ${ID}`, 'charge', 'begin begins', 'begin ends', `expect ${ID} in 10`, 'let go'],
    ]);
  });
});
