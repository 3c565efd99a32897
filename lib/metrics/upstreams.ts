// Metrics of the upstreams: open routes and paused keys.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { RouteChange } from '../calls/health.ts';
import type { UpstreamHealth } from '../calls/upstreams.ts';
import { KEY_FAULTS } from '../upstream/host/key-ring.ts';
import { createMissingSeries } from './series.ts';

interface UpstreamMetrics {
  readonly onRouteChange: (change: RouteChange) => void;
  /** The upstreams are read at each scrape; an upstream that left the catalog keeps only its counter. */
  watchUpstreams(readUpstreams: () => readonly UpstreamHealth[]): void;
}

export function createUpstreamMetrics(registry: Registry): UpstreamMetrics {
  let readHealth: () => readonly UpstreamHealth[] = () => [];
  const registers = [registry];
  const openings = new Counter({
    name: 'tollgate_upstream_route_openings_total',
    help: 'Times that a route kept failing and was put behind the others.',
    labelNames: ['upstream'],
    registers,
    collect() {
      createMissingSeries(
        this,
        readHealth().map(({ upstream }) => ({ upstream })),
      );
    },
  });
  new Gauge({
    name: 'tollgate_upstream_routes_open',
    help: 'Routes that keep failing and are tried last.',
    labelNames: ['upstream'],
    registers,
    collect() {
      this.reset();
      for (const { upstream, outages } of readHealth()) this.set({ upstream }, outages.length);
    },
  });
  new Gauge({
    name: 'tollgate_upstream_keys_resting',
    help: 'Keys that an upstream refuses, by the kind of refusal; they are paused while there are others.',
    labelNames: ['upstream', 'kind'],
    registers,
    collect() {
      this.reset();
      for (const { upstream, keys } of readHealth()) {
        for (const kind of KEY_FAULTS) this.set({ upstream, kind }, keys[kind]);
      }
    },
  });
  return {
    onRouteChange({ to, route: { upstream } }) {
      if (to === 'open') openings.inc({ upstream });
    },
    watchUpstreams(given) {
      readHealth = given;
    },
  };
}
