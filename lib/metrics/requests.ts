// Metrics of requests and of attempts at upstreams, each counted once, when it is over.
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Ending } from '../calls/ending.ts';
import type { CountedRequest } from '../http/access-log.ts';
import type { BadHttp } from '../http/bad-input.ts';
import { isUpstreamFault } from '../upstream/host/fault.ts';
import { attemptSeries, createMissingSeries, modelSeries, requestSeries, type SeriesFacts } from './series.ts';

interface RequestMetrics {
  readonly onRequestEnd: (request: CountedRequest) => void;
  readonly onBadHttp: (refusal: BadHttp) => void;
  readonly onAttempt: (upstream: string, ending: Ending) => void;
}

/** hapi's name for the route of unknown paths. */
const NO_ROUTE = '/{p*}';
const OTHER = 'other';
const UNKNOWN = 'unknown';

/** Seconds. Answers take from milliseconds to the total upstream timeout. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600];

export function createRequestMetrics(registry: Registry, facts: SeriesFacts): RequestMetrics {
  const { onRequestEnd, onBadHttp } = createReplyMetrics(registry, facts);
  return { onRequestEnd, onBadHttp, onAttempt: createAttemptMetrics(registry, facts) };
}

function createReplyMetrics(
  registry: Registry,
  facts: SeriesFacts,
): Pick<RequestMetrics, 'onRequestEnd' | 'onBadHttp'> {
  const registers = [registry];
  const { requests, internals } = createRequestCounters(registry, facts);
  const durations = new Histogram({
    name: 'tollgate_request_duration_seconds',
    help: 'From the arrival of a request to the end of its reply, for requests with outcome ok.',
    labelNames: ['endpoint', 'stream'],
    buckets: [0.005, 0.01, 0.025, ...BUCKETS],
    registers,
  });
  /** Models with a measured time: `zero` would reset their values. */
  const timed = new Set<string>();
  const firsts = new Histogram({
    name: 'tollgate_first_fragment_seconds',
    help: 'From the arrival of a request to the first fragment of its answer.',
    labelNames: ['model'],
    buckets: BUCKETS,
    registers,
    collect() {
      for (const { model } of modelSeries(facts, 'text')) if (!timed.has(model)) this.zero({ model });
    },
  });
  const estimates = new Counter({
    name: 'tollgate_usage_estimated_total',
    help: 'Answers billed by estimate because the upstream reported implausible usage.',
    labelNames: ['model'],
    registers,
    collect() {
      createMissingSeries(this, [...modelSeries(facts, 'text'), ...modelSeries(facts, 'embedding')]);
    },
  });
  const malformed = new Counter({
    name: 'tollgate_malformed_requests_total',
    help: 'Input that was not HTTP, by the status of the answer.',
    labelNames: ['status'],
    registers,
  });
  return {
    onRequestEnd(request) {
      const { route, status, ms, notes } = request;
      const endpoint = endpointLabel(route);
      const model = modelLabel(request, (name) => facts.catalog().byName.has(name));
      const outcome = outcomeLabel(request);
      requests.inc({ endpoint, model, status, outcome });
      if (outcome === 'internal') internals.inc({ endpoint });
      if (outcome === 'ok') durations.observe({ endpoint, stream: `${notes.stream === true}` }, ms / 1000);
      if (notes.first_ms !== undefined) {
        timed.add(model);
        firsts.observe({ model }, notes.first_ms / 1000);
      }
      if (notes.doubt !== undefined) estimates.inc({ model });
    },
    onBadHttp: ({ status }) => malformed.inc({ status }),
  };
}

function createRequestCounters(registry: Registry, facts: SeriesFacts) {
  const registers = [registry];
  const requests = new Counter({
    name: 'tollgate_requests_total',
    help: 'Requests that are over, by endpoint, model, HTTP status and outcome (ok, gone or the code of the fault).',
    labelNames: ['endpoint', 'model', 'status', 'outcome'],
    registers,
    collect() {
      createMissingSeries(this, requestSeries(facts));
    },
  });
  const internals = new Counter({
    name: 'tollgate_internal_errors_total',
    help: 'Requests that failed by a fault of our own.',
    labelNames: ['endpoint'],
    registers,
    collect() {
      createMissingSeries(
        this,
        facts.routes().map(({ path }) => ({ endpoint: endpointLabel(path) })),
      );
    },
  });
  return { requests, internals };
}

function createAttemptMetrics(registry: Registry, facts: SeriesFacts): RequestMetrics['onAttempt'] {
  const attempts = new Counter({
    name: 'tollgate_upstream_attempts_total',
    help: 'Attempts at an upstream, by outcome (ok, gone or the code of the fault) and kind of its failure.',
    labelNames: ['upstream', 'outcome', 'kind'],
    registers: [registry],
    collect() {
      createMissingSeries(this, attemptSeries(facts));
    },
  });
  return (upstream, ending) => {
    if (ending.type !== 'error') return attempts.inc({ upstream, outcome: OUTCOMES[ending.type], kind: '' });
    const { cause, data } = ending.fault;
    attempts.inc({ upstream, outcome: data?.code ?? 'internal', kind: isUpstreamFault(cause) ? cause.kind : '' });
  };
}

const OUTCOMES = { finish: 'ok', gone: 'gone' } as const;

function endpointLabel(route: string): string {
  return route === NO_ROUTE ? OTHER : route;
}

/** Empty if a request names no model; all unknown names share one label. */
function modelLabel({ method, route, notes }: CountedRequest, isModel: (name: string) => boolean): string {
  if (notes.model !== undefined && isModel(notes.model)) return notes.model;
  return method === 'post' && route !== NO_ROUTE ? UNKNOWN : '';
}

function outcomeLabel({ status, aborted, notes }: CountedRequest): string {
  if (notes.ending === 'gone' || (aborted && status === 0)) return 'gone';
  if (notes.fault !== undefined) return notes.fault;
  if (notes.err !== undefined) return 'internal';
  return aborted ? 'gone' : 'ok';
}
