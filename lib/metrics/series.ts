// Creates series with the value 0 before their first event: Prometheus sees no increase in a series that starts at 1.
import type { Counter } from 'prom-client';
import { FAULT_CODES, type FaultCode } from '../base/faults.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Model, ModelType } from '../catalog/model.ts';
import type { RefusalCause } from '../upstream/contract/fault.ts';
import { toClientFault } from '../upstream/host/client-fault.ts';
import { FAULT_KINDS, upstreamFault } from '../upstream/host/fault.ts';

/** Read at each scrape, because a catalog may be edited. */
export interface SeriesFacts {
  /** The current catalog. */
  readonly catalog: () => Catalog;
  /** The enabled payment providers by name. */
  readonly providers?: () => ReadonlyMap<string, unknown>;
  readonly routes: () => readonly { readonly method: string; readonly path: string }[];
}

type Labels<Name extends string> = Readonly<Record<Name, string | number>>;

export function createMissingSeries<Name extends string>(counter: Counter<Name>, series: Iterable<Labels<Name>>): void {
  for (const labels of series) counter.inc(labels, 0);
}

/** The usable models of one type or of all types. */
export function modelSeries({ catalog }: SeriesFacts, type?: ModelType): { model: string }[] {
  return usableModels(catalog(), type).map(({ id }) => ({ model: id }));
}

/** The upstreams of the usable models of one type or of all types. */
export function listUpstreams({ catalog }: SeriesFacts, type?: ModelType): readonly string[] {
  const routes = usableModels(catalog(), type).flatMap((model) => model.routes);
  return [...new Set(routes.map(({ upstream }) => upstream))];
}

/** The usable models with each of their upstreams. */
export function listRoutes({ catalog }: SeriesFacts): readonly { readonly model: string; readonly upstream: string }[] {
  return usableModels(catalog()).flatMap(({ id: model, routes }) => {
    const upstreams = new Set(routes.map(({ upstream }) => upstream));
    return [...upstreams].map((upstream) => ({ model, upstream }));
  });
}

/** The management API, which runs no models. */
const UNPAID = /^\/api\/v1\/(?:manage|account)\//;

/** Calls that succeed, and calls whose client leaves before or during the reply. */
export function requestSeries({ catalog, routes }: SeriesFacts): Labels<'endpoint' | 'model' | 'status' | 'outcome'>[] {
  const endpoints = routes().filter(({ method, path }) => method === 'post' && !UNPAID.test(path));
  return endpoints.flatMap(({ path: endpoint }) =>
    usableModels(catalog(), modelTypeAt(endpoint)).flatMap(({ id: model }) => [
      { endpoint, model, status: 200, outcome: 'ok' },
      { endpoint, model, status: 200, outcome: 'gone' },
      { endpoint, model, status: 0, outcome: 'gone' },
    ]),
  );
}

/** The type of the models behind a path. */
function modelTypeAt(path: string): ModelType {
  if (path.startsWith('/api/v1/videos')) return 'video';
  if (path === '/api/v1/embeddings') return 'embedding';
  return path.startsWith('/api/v1/images') ? 'image' : 'text';
}

/** Each possible end of an attempt at an upstream of the catalog. */
export function attemptSeries(facts: SeriesFacts): Labels<'upstream' | 'outcome' | 'kind'>[] {
  return listUpstreams(facts).flatMap((upstream) => ATTEMPT_ENDS.map((end) => ({ upstream, ...end })));
}

const REFUSALS: readonly RefusalCause[] = ['length', 'content', 'image'];
const BARE_CODES = FAULT_CODES.filter((code) => code.startsWith('upstream_') || code === 'internal');

const ATTEMPT_ENDS: readonly { outcome: string; kind: string }[] = [
  { outcome: 'ok', kind: '' },
  { outcome: 'gone', kind: '' },
  ...BARE_CODES.map((outcome) => ({ outcome, kind: '' })),
  ...FAULT_KINDS.map((kind) => ({ outcome: toFaultCode(upstreamFault(kind, '')), kind })),
  ...REFUSALS.map((about) => ({ outcome: toFaultCode(upstreamFault('request', '', { about })), kind: 'request' })),
];

function toFaultCode(error: Error): FaultCode {
  return toClientFault(error).data?.code ?? 'internal';
}

function usableModels({ models }: Catalog, wanted?: ModelType): readonly Model[] {
  return models.filter(({ type, routes }) => (wanted === undefined || type === wanted) && routes.length > 0);
}
