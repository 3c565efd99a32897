// How the upstreams are: routes that are open, keys that rest.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { RouteChange } from '../call/health.ts';
import type { UpstreamHealth } from '../call/upstreams.ts';
import { KEY_FAULTS } from '../plugin/keys.ts';
import { begin } from './series.ts';

export interface UpstreamMetrics {
  readonly onRouteChange: (change: RouteChange) => void;
  /** Looked up at each scrape; an upstream that left the catalog has no series any more, but for its counter. */
  watchUpstreams(look: () => readonly UpstreamHealth[]): void;
}

export function createUpstreamMetrics(registry: Registry): UpstreamMetrics {
  let look: () => readonly UpstreamHealth[] = () => [];
  const registers = [registry];
  const openings = new Counter({
    name: 'tollgate_upstream_route_openings_total',
    help: 'Times that a route failed again and again and was put behind the others.',
    labelNames: ['upstream'],
    registers,
    collect() {
      begin(
        this,
        look().map(({ upstream }) => ({ upstream })),
      );
    },
  });
  new Gauge({
    name: 'tollgate_upstream_routes_open',
    help: 'Routes that fail again and again and are asked after the others.',
    labelNames: ['upstream'],
    registers,
    collect() {
      this.reset();
      for (const { upstream, routesOpen } of look()) this.set({ upstream }, routesOpen);
    },
  });
  new Gauge({
    name: 'tollgate_upstream_keys_resting',
    help: 'Keys that an upstream refuses, by the kind of its refusal; they rest while there are others.',
    labelNames: ['upstream', 'kind'],
    registers,
    collect() {
      this.reset();
      for (const { upstream, keys } of look()) {
        for (const kind of KEY_FAULTS) this.set({ upstream, kind }, keys[kind]);
      }
    },
  });
  return {
    onRouteChange({ to, way: { upstream } }) {
      if (to === 'open') openings.inc({ upstream });
    },
    watchUpstreams(given) {
      look = given;
    },
  };
}
