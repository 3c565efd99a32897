import { expect } from 'chai';
import { type Fault, fault } from '../../lib/base/faults.ts';
import { GONE } from '../../lib/calls/context.ts';
import { type Ending, toAbortEnding } from '../../lib/calls/ending.ts';
import { createRouteHealth, type RouteHealth, type RouteRef } from '../../lib/calls/health.ts';
import { askRoutes } from '../../lib/calls/routes.ts';
import { toClientFault } from '../../lib/upstream/host/client-fault.ts';
import { upstreamFault } from '../../lib/upstream/host/fault.ts';

const ROUTES = ['a', 'b', 'c'].map((upstream): RouteRef => ({ upstream, key: upstream }));
const WELL: Ending<string> = { type: 'finish', result: 'done' };
const DOWN: Ending<string> = { type: 'error', fault: toClientFault(upstreamFault('server', 'no')) };
const REFUSED: Ending<string> = { type: 'error', fault: toClientFault(upstreamFault('request', 'no')) };

describe('the routes of a call', () => {
  let now: number;
  let health: RouteHealth;
  let asked: string[];
  let ends: Record<string, Ending<string>>;

  beforeEach(() => {
    now = 0;
    health = createRouteHealth({ now: () => now });
    asked = [];
    ends = { a: WELL, b: WELL, c: WELL };
  });

  const log = { debug() {}, warn() {}, error() {}, note() {} };
  async function ask({ signal = new AbortController().signal, routes = ROUTES, committed = false, lateMs = 0 } = {}) {
    asked = [];
    const ending = await askRoutes<RouteRef, string>({
      routes,
      health,
      context: { signal, log },
      deadline: performance.now() + 1000 - lateMs,
      isCommitted: () => committed,
      async attempt({ upstream }) {
        asked.push(upstream);
        return ends[upstream] as Ending<string>;
      },
    });
    return ending.type === 'finish' ? ending.result : ending;
  }

  it('are tried in order until one answers', async () => {
    ends = { a: DOWN, b: DOWN, c: WELL };
    expect([await ask(), asked.join('')]).to.deep.equal(['done', 'abc']);
    expect([await ask({ routes: [] }), asked]).to.deep.equal([{ type: 'error', fault: fault('upstream_failed') }, []]);
  });

  it('are not blamed for a failure of the gateway, and no other route is tried', async () => {
    const ours: Ending<string> = { type: 'error', fault: fault('result_not_kept') };
    ends = { a: ours, b: WELL, c: WELL };
    for (let call = 0; call < 5; call += 1) expect([await ask(), asked.join('')]).to.deep.equal([ours, 'a']);
    expect(ROUTES.map(health.findOutage)).to.deep.equal([undefined, undefined, undefined]);
  });

  it('are tried last while they fail, and all are tried before a call fails', async () => {
    ends = { a: DOWN, b: DOWN, c: WELL };
    for (let call = 0; call < 3; call += 1) await ask();
    expect([await ask(), asked.join('')]).to.deep.equal(['done', 'c']);
    ends = { a: WELL, b: DOWN, c: DOWN };
    expect([await ask(), asked.join('')]).to.deep.equal(['done', 'ca']);
    ends = { a: DOWN, b: DOWN, c: DOWN };
    expect(await ask()).to.equal(DOWN);
    expect([...asked].sort()).to.deep.equal(['a', 'b', 'c']);
  });

  it('are tried by one of many calls once they are due', async () => {
    ends = { a: DOWN, b: WELL, c: WELL };
    for (let call = 0; call < 3; call += 1) await ask();
    now = 1_000;
    const firsts: string[] = [];
    const attempt = async ({ upstream }: RouteRef) => {
      firsts.push(upstream);
      await new Promise((resolve) => setImmediate(resolve));
      return ends[upstream] as Ending<string>;
    };
    const { signal } = new AbortController();
    const options = { routes: ROUTES, health, context: { signal, log }, deadline: performance.now() + 1000 };
    const calls = Array.from({ length: 5 }, () => askRoutes({ ...options, attempt, isCommitted: () => false }));
    for (const ending of await Promise.all(calls)) expect(ending).to.equal(WELL);
    expect(firsts.join('')).to.equal('abbbbb');
  });

  it('are not tried after output was delivered, the request was refused, or the deadline passed', async () => {
    ends.a = DOWN;
    expect([await ask({ committed: true }), asked.join('')]).to.deep.equal([DOWN, 'a']);
    expect([await ask({ lateMs: 1000 }), asked.join('')]).to.deep.equal([DOWN, 'a']);
    ends.a = REFUSED;
    expect([await ask(), asked.join('')]).to.deep.equal([REFUSED, 'a']);
  });

  it('are logged on failure: permanent failures as alerts, upstream messages at debug only', async () => {
    const lines: unknown[] = [];
    const keep = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
    const logged = { debug: keep('debug'), warn: keep('warn'), error: keep('error'), note() {} };
    const fails = async (error: Fault) => {
      lines.length = 0;
      await askRoutes<RouteRef, string>({
        routes: ROUTES.slice(0, 1),
        health,
        context: { signal: new AbortController().signal, log: logged },
        deadline: performance.now() + 1000,
        isCommitted: () => false,
        attempt: async () => ({ type: 'error', fault: error }),
      });
      return lines;
    };
    const denied = upstreamFault('auth', 'no', { status: 401 });
    expect(await fails(toClientFault(denied))).to.deep.equal([
      ['error', { alert: 'upstream', upstream: 'a', kind: 'auth', status: 401 }, 'an upstream refuses our key'],
      ['debug', { upstream: 'a', err: denied }, 'what the upstream said'],
    ]);
    const busy = upstreamFault('rate', 'no', { status: 429 });
    expect(await fails(toClientFault(busy))).to.deep.equal([
      ['warn', { upstream: 'a', kind: 'rate', status: 429 }, 'a route failed'],
      ['debug', { upstream: 'a', err: busy }, 'what the upstream said'],
    ]);
    expect(await fails(fault('upstream_truncated'))).to.deep.equal([
      ['warn', { upstream: 'a', fault: 'upstream_truncated' }, 'a route failed'],
    ]);
    const mistake = new RangeError('a prompt\nof two lines');
    const [line] = (await fails(toClientFault(mistake))) as [[string, { at: string }, string]];
    expect(line[1]).to.include({ upstream: 'a', fault: 'upstream_failed', error: 'RangeError' });
    expect(line[1].at).to.match(/^at .*routes\.test\.ts/);
  });

  it('are not judged by calls that the client or a shutdown ended', async () => {
    for (const reason of [GONE, fault('shutting_down')]) {
      for (let call = 0; call < 10; call += 1) {
        const controller = new AbortController();
        const ending = await askRoutes<RouteRef, string>({
          routes: ROUTES,
          health,
          context: { signal: controller.signal, log },
          deadline: performance.now() + 1000,
          isCommitted: () => false,
          async attempt() {
            controller.abort(reason);
            // A closed upstream may end as one that failed.
            return call % 2 === 0 ? toAbortEnding(controller.signal) : DOWN;
          },
        });
        expect(ending.type).to.equal(reason === GONE ? 'gone' : 'error');
      }
    }
    expect(health.findOutage(ROUTES[0] as RouteRef)).to.equal(undefined);
  });
});
