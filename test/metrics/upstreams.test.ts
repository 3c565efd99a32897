// What is shown of upstreams: routes that keep failing and keys that rest, as they are now.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { UpstreamHealth } from '../../lib/calls/upstreams.ts';
import { createUpstreamMetrics } from '../../lib/metrics/upstreams.ts';
import { parseExposition } from '../../testkit/exposition.ts';

const OPENINGS = 'tollgate_upstream_route_openings_total';
const OPEN = 'tollgate_upstream_routes_open';
const RESTING = 'tollgate_upstream_keys_resting';

describe('upstream metrics', () => {
  const healthOf = (upstream: string, routesOpen: number, rate: number): UpstreamHealth => {
    const outage = { models: ['m'], kind: 'server', openMs: 5, failedMs: 0 } as const;
    return { upstream, routes: 3, outages: Array(routesOpen).fill(outage), keys: { keys: 4, rate, auth: 1, quota: 0 } };
  };

  it('count a route each time it opens, and not when it closes', async () => {
    const registry = new Registry();
    const { onRouteChange } = createUpstreamMetrics(registry);
    const route = { upstream: 'one' } as never;
    for (const to of ['open', 'closed', 'open'] as const) onRouteChange({ route, to, kind: undefined, openMs: 0 });
    expect(parseExposition(await registry.metrics()).sum(OPENINGS, { upstream: 'one' })).to.equal(2);
  });

  it('show the current routes and keys, and only the openings of a removed upstream', async () => {
    const registry = new Registry();
    const { onRouteChange, watchUpstreams } = createUpstreamMetrics(registry);
    let upstreams = [healthOf('one', 2, 3), healthOf('two', 0, 0)];
    watchUpstreams(() => upstreams);
    onRouteChange({ route: { upstream: 'one' } as never, to: 'open', kind: undefined, openMs: 0 });
    const look = async () => {
      const { samples } = parseExposition(await registry.metrics());
      return Object.fromEntries(
        samples.map(({ name, labels, value }) => [[name, ...Object.values(labels).sort()].join(' '), value]),
      );
    };
    const of = (upstream: string, open: number, rate: number) => ({
      [`${OPEN} ${upstream}`]: open,
      [`${RESTING} ${upstream === 'one' ? 'one rate' : 'rate two'}`]: rate,
      [`${RESTING} auth ${upstream}`]: 1,
      [`${RESTING} ${upstream === 'one' ? 'one quota' : 'quota two'}`]: 0,
    });
    const counts = { [`${OPENINGS} one`]: 1, [`${OPENINGS} two`]: 0 };
    expect(await look()).to.deep.equal({ ...counts, ...of('one', 2, 3), ...of('two', 0, 0) });
    upstreams = [healthOf('two', 1, 0)];
    expect(await look()).to.deep.equal({ ...counts, ...of('two', 1, 0) });
  });
});
