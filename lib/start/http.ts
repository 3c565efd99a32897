// Opens the HTTP server of the gateway, and reports every finished request to the log, the metrics and the throttle.

import { styleAt as apiFaceAt } from '../api/response-styles.ts';
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
    styleAt: (path) => (isPagePath(path) ? pageStyle : apiFaceAt(path)),
  });
}

interface RequestReports {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'onBadHttp' | 'onRequestEnd'> | undefined;
  readonly throttle: Pick<Throttle, 'noteEnd'>;
  readonly onRequestEnd: ((request: FinishedRequest) => void) | undefined;
}

export function reportRequests({ server, onBadHttp }: Http, reports: RequestReports): void {
  const { log, metrics, throttle } = reports;
  onBadHttp((refusal) => {
    metrics?.onBadHttp(refusal);
    log.info(refusal, 'not an HTTP request');
  });
  const onRequestEnd = (finished: FinishedRequest) => {
    throttle.noteEnd(finished);
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
}
