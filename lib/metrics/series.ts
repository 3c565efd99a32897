// Creates the series that alerts read before their first event: Prometheus sees no increase in one that starts with it.
import type { Counter } from 'prom-client';
import { FAULT_CODES, type FaultCode } from '../base/faults.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Model, ModelType } from '../catalog/model.ts';
import type { RefusalCause } from '../upstream/contract/fault.ts';
import { toClientFault } from '../upstream/host/client-fault.ts';
import { FAULT_KINDS, upstreamFault } from '../upstream/host/fault.ts';

/** Looked up at each scrape, because a catalog may be edited. */
export interface SeriesFacts {
  /** The current catalog. */
  readonly catalog: () => Catalog;
  /** The payment providers that are switched on, by name. */
  readonly providers?: () => ReadonlyMap<string, unknown>;
  readonly routes: () => readonly { readonly method: string; readonly path: string }[];
}

type Labels<Name extends string> = Readonly<Record<Name, string | number>>;

/** Adds missing series. */
export function begin<Name extends string>(counter: Counter<Name>, series: Iterable<Labels<Name>>): void {
  for (const labels of series) counter.inc(labels, 0);
}

/** Models that can be used, of one type or all. */
export function modelSeries({ catalog }: SeriesFacts, type?: ModelType): { model: string }[] {
  return usableModels(catalog(), type).map(({ id }) => ({ model: id }));
}

/** Upstreams of the models of a type. */
export function upstreamsOf({ catalog }: SeriesFacts, type?: ModelType): readonly string[] {
  const routes = usableModels(catalog(), type).flatMap((model) => model.routes);
  return [...new Set(routes.map(({ upstream }) => upstream))];
}

/** Calls that end well, or whose client leaves, before or during the reply. */
export function requestSeries({ catalog, routes }: SeriesFacts): Labels<'endpoint' | 'model' | 'status' | 'outcome'>[] {
  const endpoints = routes().filter(({ method }) => method === 'post');
  return endpoints.flatMap(({ path: endpoint }) =>
    usableModels(catalog(), typeAt(endpoint)).flatMap(({ id: model }) => [
      { endpoint, model, status: 200, outcome: 'ok' },
      { endpoint, model, status: 200, outcome: 'gone' },
      { endpoint, model, status: 0, outcome: 'gone' },
    ]),
  );
}

/** The type of the models that answer at a path. */
function typeAt(path: string): ModelType {
  if (path.startsWith('/api/v1/videos')) return 'video';
  return path.startsWith('/api/v1/images') ? 'image' : 'text';
}

/** Each way in which an attempt at a catalog upstream may end. */
export function attemptSeries(facts: SeriesFacts): Labels<'upstream' | 'outcome' | 'kind'>[] {
  return upstreamsOf(facts).flatMap((upstream) => ATTEMPT_ENDS.map((end) => ({ upstream, ...end })));
}

const REFUSALS: readonly RefusalCause[] = ['length', 'content', 'picture'];
const BARE_CODES = FAULT_CODES.filter((code) => code.startsWith('upstream_') || code === 'internal');

const ATTEMPT_ENDS: readonly { outcome: string; kind: string }[] = [
  { outcome: 'ok', kind: '' },
  { outcome: 'gone', kind: '' },
  ...BARE_CODES.map((outcome) => ({ outcome, kind: '' })),
  ...FAULT_KINDS.map((kind) => ({ outcome: codeOf(upstreamFault(kind, '')), kind })),
  ...REFUSALS.map((about) => ({ outcome: codeOf(upstreamFault('request', '', { about })), kind: 'request' })),
];

function codeOf(error: Error): FaultCode {
  return toClientFault(error).data?.code ?? 'internal';
}

function usableModels({ models }: Catalog, wanted?: ModelType): readonly Model[] {
  return models.filter(({ type, routes }) => (wanted === undefined || type === wanted) && routes.length > 0);
}
