// Opens the HTTP server of the gateway, and reports every finished request to the log, the metrics, the throttle and the
// counts of refused requests.

import { createRefusalCounter, type RefusalCounter } from '../accounts/refusal-counter.ts';
import { styleAt as apiStyleAt } from '../api/response-styles.ts';
import type { Throttle } from '../api/throttle.ts';
import type { Config } from '../config.ts';
import type { SandboxState } from '../console/fault-words.ts';
import { choosePageStyle, isPagePath } from '../console/response-style.ts';
import { type FinishedRequest, logRequest } from '../http/access-log.ts';
import { warnOfProxyOnce } from '../http/client-address.ts';
import type { Log } from '../http/log.ts';
import { onPreResponse, onRequest } from '../http/reply.ts';
import { createHttp, type Http } from '../http/server.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../store/store.ts';

interface ServerTerms extends SandboxState {
  /** Other workers of this start listen on the same port. */
  readonly sharesPort: boolean;
  readonly headersTimeoutMs: number | undefined;
}

type ServerConfig = Pick<Config, 'host' | 'port' | 'clientStallMs' | 'publicUrl' | 'trustedProxies'>;

export function openHttp(config: ServerConfig, { sharesPort, headersTimeoutMs, ...state }: ServerTerms): Http {
  const pageStyle = choosePageStyle(state);
  return createHttp({
    host: config.host,
    port: config.port,
    sharesPort,
    headersTimeoutMs,
    stallMs: config.clientStallMs,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    // Paths of the pages get HTML errors even where there is no page.
    styleAt: (path) => (isPagePath(path) ? pageStyle : apiStyleAt(path)),
  });
}

/** Counts a client error of a known key; no page could show those of others. */
function noteRefusal(
  { note }: Pick<RefusalCounter, 'note'>,
  { status, message, notes: { account, key, fault: code } }: FinishedRequest,
): void {
  if (status < 400 || status >= 500 || code === undefined || message === undefined) return;
  if (typeof account === 'string' && typeof key === 'string') note({ account, key, code, status, message });
}

interface RequestReports {
  readonly store: Pick<Store, 'refusals'>;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'onBadHttp' | 'onRequestEnd'> | undefined;
  readonly throttle: Pick<Throttle, 'noteEnd'>;
  readonly onRequestEnd: ((request: FinishedRequest) => void) | undefined;
}

/** Returns the counter of refused requests, which must be closed before the store. */
export function reportRequests({ server, onBadHttp }: Http, reports: RequestReports): RefusalCounter {
  const { store, log, metrics, throttle } = reports;
  const onError = (err: unknown) => log.warn({ err }, 'could not count refused requests');
  const refusals = createRefusalCounter({ store: store.refusals, onError });
  onBadHttp((refusal) => {
    metrics?.onBadHttp(refusal);
    log.info(refusal, 'not an HTTP request');
  });
  const onRequestEnd = (finished: FinishedRequest) => {
    throttle.noteEnd(finished);
    noteRefusal(refusals, finished);
    metrics?.onRequestEnd(finished);
    reports.onRequestEnd?.(finished);
  };
  const checkProxy = warnOfProxyOnce(log);
  server.ext('onRequest', (request, h) => {
    logRequest(request, log, onRequestEnd);
    if (isPagePath(request.path)) checkProxy(request);
    return onRequest(request, h);
  });
  server.ext('onPreResponse', onPreResponse);
  return refusals;
}
