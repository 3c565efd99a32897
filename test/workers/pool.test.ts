// The workers of a primary as processes: who starts first, who takes the place of one that exits, and when, and how all end.
import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Log } from '../../lib/http/log.ts';
import type { ToPrimary } from '../../lib/workers/messages.ts';
import { createPool, type Pool, WorkerFailed } from '../../lib/workers/pool.ts';
import type { Mode } from './pool-worker.ts';

const EXEC = fileURLToPath(new URL('./pool-worker.ts', import.meta.url));
const LONG_MS = 60_000;

describe('a pool of workers', () => {
  let pool: Pool;
  let events: EventEmitter;
  let pauses: unknown[];
  let ended: number[];
  /** The processes of the test so far. */
  let forked: Worker[];
  let messages: (readonly [worker: number, kind: string])[];
  const flags = [...process.execArgv];
  const onFork = (worker: Worker) => void forked.push(worker);
  /** Until a fork has been told of. */
  const turn = () => new Promise(setImmediate);

  const setMode = (mode: Mode) => {
    process.env.POOL_WORKER_MODE = mode;
  };
  beforeEach(() => {
    cluster.setupPrimary({ exec: EXEC });
    setMode('listens');
    events = new EventEmitter();
    [pauses, ended, messages, forked] = [[], [], [], []];
    cluster.on('fork', onFork);
    pool = createPool({
      size: 2,
      group: 'own_test',
      port: 4242,
      log: {
        info: () => void events.emit('replaced'),
        error: (fields: { pause_ms: number }) => {
          pauses.push(fields.pause_ms);
          events.emit('exited');
        },
      } as unknown as Log,
      onMessage: (message: ToPrimary, _answer, worker) => {
        messages.push([worker, message.kind]);
        events.emit(message.kind);
      },
      onEnd: (worker) => {
        ended.push(worker);
        events.emit('end');
      },
    });
  });
  afterEach(async () => {
    mock.timers.reset();
    mock.restoreAll();
    process.execArgv.splice(0, process.execArgv.length, ...flags);
    setMode('listens');
    for (const worker of forked) worker.process.kill('SIGKILL');
    await pool.stop(LONG_MS);
    cluster.off('fork', onFork);
  });

  /** Ends the last one that was started, which listens, and waits until the pool has noticed. */
  async function end(): Promise<void> {
    const exited = once(events, 'exited');
    forked.at(-1)?.process.kill('SIGKILL');
    await exited;
  }

  it('starts the first worker, then the others, without --env-file', async () => {
    process.execArgv.push('--env-file=/nowhere/.env', '--no-deprecation');
    const report = (await pool.start()) as unknown as { terms: object; flags: readonly string[] };
    expect(report.terms).to.deep.equal({ group: 'own_test', port: 4242, isFirst: true });
    expect(report.flags).to.include('--no-deprecation').and.not.to.include('--env-file=/nowhere/.env');
    expect([pool.alive(), pool.replaced()]).to.deep.equal([2, 0]);
    const ids = forked.map(({ id }) => id);
    expect(pool.broadcast({ kind: 'scrape' })).to.deep.equal(ids);
    while (messages.filter(([, kind]) => kind === 'scraped').length < 2) await once(events, 'scraped');
    expect(messages.map(([id]) => id)).to.include.members(ids);
  });

  it('does not start if one worker cannot', async () => {
    setMode('fails');
    const error: unknown = await pool.start().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(WorkerFailed);
    expect((error as Error).message).to.equal('worker 1 ended with 3');
    expect([ended.length, pauses, pool.alive()]).to.deep.equal([1, [], 0]);
  });

  it('replaces a worker that exits, with growing pauses for early exits, which reset after a long life', async () => {
    await pool.start();
    mock.timers.enable({ apis: ['setTimeout'] });
    for (const [at, pauseMs] of [250, 500, 1000].entries()) {
      await end();
      expect([pauses.at(-1), pool.alive()]).to.deep.equal([pauseMs, 1]);
      const replaced = once(events, 'replaced');
      mock.timers.tick(pauseMs - 1);
      await turn();
      expect(forked).to.have.length(2 + at);
      mock.timers.tick(1);
      await replaced;
      expect(pool.alive()).to.equal(2);
    }
    expect([ended.length, pool.replaced()]).to.deep.equal([3, 3]);
    const now = performance.now.bind(performance);
    mock.method(performance, 'now', () => now() + LONG_MS + 1);
    await end();
    expect(pauses).to.deep.equal([250, 500, 1000, 250]);
  });

  it('retries a replacement that cannot start, with pauses up to half a minute', async () => {
    await pool.start();
    mock.timers.enable({ apis: ['setTimeout'] });
    await end();
    setMode('fails');
    const expected = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
    for (const pauseMs of expected.slice(0, -1)) {
      const exited = once(events, 'exited');
      mock.timers.tick(pauseMs);
      await exited;
    }
    expect(pauses).to.deep.equal(expected);
    setMode('listens');
    const replaced = once(events, 'replaced');
    mock.timers.tick(30_000);
    await replaced;
    expect([pool.alive(), pool.replaced()]).to.deep.equal([2, expected.length]);
  }).timeout(30_000);

  it('stops listening and starting workers, and replaces none', async () => {
    await pool.start();
    mock.timers.enable({ apis: ['setTimeout'] });
    await end();
    setMode('waits');
    const hits = once(events, 'hits');
    mock.timers.tick(250);
    await hits;
    expect(pool.broadcast({ kind: 'reload' })).to.have.length(1);
    expect(await pool.stop(LONG_MS)).to.equal(true);
    expect([pool.alive(), ended.length]).to.deep.equal([0, 3]);
    mock.timers.tick(LONG_MS);
    await turn();
    expect(forked).to.have.length(3);
  });

  it('stops during a pause before a replacement, without starting one', async () => {
    await pool.start();
    mock.timers.enable({ apis: ['setTimeout'] });
    await end();
    expect(await pool.stop(LONG_MS)).to.equal(true);
    mock.timers.tick(LONG_MS);
    await turn();
    expect([forked.length, ended.length, pauses]).to.deep.equal([2, 2, [250]]);
  });

  it('kills workers that do not stop in time, and reports it', async () => {
    setMode('stays');
    await pool.start();
    mock.timers.enable({ apis: ['setTimeout'] });
    const stopped = pool.stop(1000);
    mock.timers.tick(999);
    expect(ended).to.deep.equal([]);
    mock.timers.tick(1);
    expect(await stopped).to.equal(false);
    expect(ended).to.have.length(2);
  });

  it('reports a worker that stops with a failure', async () => {
    setMode('stops badly');
    await pool.start();
    expect(await pool.stop(LONG_MS)).to.equal(false);
  });
});
