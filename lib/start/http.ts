// Opens the HTTP server of the gateway, and reports what arrives at it: the log, the metrics and the throttle learn of
// every request.
import type { Cooldown } from '../api/cooldown.ts';
import { faceAt as apiFaceAt } from '../api/response-styles.ts';
import type { Config } from '../config.ts';
import { isPagePath, pageFaceOf } from '../console/response-style.ts';
import { logRequest, type PastRequest } from '../http/access-log.ts';
import { warnOfProxyOnce } from '../http/client-address.ts';
import type { Log } from '../http/log.ts';
import { onPreResponse, onRequest } from '../http/reply.ts';
import { createHttp, type Http } from '../http/server.ts';
import type { Metrics } from '../metrics/metrics.ts';

export interface ServerTerms {
  readonly sandbox: boolean;
  /** Other workers of this start listen on the same port. */
  readonly sharesPort: boolean;
  readonly headersTimeoutMs: number | undefined;
}

type ServerConfig = Pick<Config, 'host' | 'port' | 'clientStallMs' | 'publicUrl' | 'trustedProxies'>;

export function openHttp(config: ServerConfig, { sandbox, sharesPort, headersTimeoutMs }: ServerTerms): Http {
  const pageFace = pageFaceOf({ sandbox });
  return createHttp({
    host: config.host,
    port: config.port,
    sharesPort,
    headersTimeoutMs,
    stallMs: config.clientStallMs,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    // Paths of the pages get HTML errors even where there is no page.
    faceAt: (path) => (isPagePath(path) ? pageFace : apiFaceAt(path)),
  });
}

export interface RequestReports {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'onBadHttp' | 'onPast'> | undefined;
  readonly cooldown: Pick<Cooldown, 'past'>;
}

export function reportRequests({ server, onBadHttp }: Http, { log, metrics, cooldown }: RequestReports): void {
  onBadHttp((refusal) => {
    metrics?.onBadHttp(refusal);
    log.info(refusal, 'not an HTTP request');
  });
  const onPast = (past: PastRequest) => {
    cooldown.past(past);
    metrics?.onPast(past);
  };
  const checkProxy = warnOfProxyOnce(log);
  server.ext('onRequest', (request, h) => {
    logRequest(request, log, onPast);
    if (isPagePath(request.path)) checkProxy(request);
    return onRequest(request, h);
  });
  server.ext('onPreResponse', onPreResponse);
}
