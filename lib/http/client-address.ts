// The one place that says where a request comes from: its peer, or the client that a trusted proxy names.
import type { Request } from '@hapi/hapi';
import { findClient, readAddress, type TrustedProxies } from '../base/network.ts';
import type { Log } from './log.ts';
import { getRequestState } from './request-state.ts';

declare module '@hapi/hapi' {
  interface ServerOptionsApp {
    trustedProxies?: TrustedProxies | undefined;
  }
}

const UNKNOWN = 'unknown';

/** The full address in its canonical form. Cached, because a closed socket has no address. */
export function findClientAddress(request: Request): string {
  const state = getRequestState(request);
  state.address ??= resolveAddress(request);
  return state.address;
}

function resolveAddress({ raw: { req }, server }: Request): string {
  const peer = readAddress(req.socket.remoteAddress ?? '') ?? UNKNOWN;
  const trusted = server.settings.app?.trustedProxies;
  return trusted ? findClient(peer, readForwardedFor(req.headers), trusted) : peer;
}

/** Node joins repeated headers with commas. */
function readForwardedFor(headers: Request['raw']['req']['headers']): string | undefined {
  return [headers['x-forwarded-for']].flat().join(',') || undefined;
}

/** Warns once about a proxy that names clients but is not trusted: everybody behind it counts as one client. */
export function warnOfProxyOnce(log: Pick<Log, 'warn'>): (request: Request) => void {
  let warned = false;
  return (request) => {
    if (warned || !isUntrustedProxy(request)) return;
    warned = true;
    log.warn({ proxy: findClientAddress(request) }, 'a proxy that TRUSTED_PROXIES does not name sends X-Forwarded-For');
  };
}

function isUntrustedProxy(request: Request): boolean {
  const {
    raw: { req },
    server,
  } = request;
  if (req.headers['x-forwarded-for'] === undefined) return false;
  const { hops, includes } = server.settings.app?.trustedProxies ?? { hops: 0, includes: () => false };
  return hops === 0 && !includes(readAddress(req.socket.remoteAddress ?? '') ?? UNKNOWN);
}
