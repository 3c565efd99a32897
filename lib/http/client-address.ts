// The one place that says where a request comes from: its peer, or the client that a trusted proxy names.
import type { Request } from '@hapi/hapi';
import { findClient, readAddress, type TrustedProxies } from '../base/network.ts';
import { getRequestState } from './context.ts';
import type { Log } from './log.ts';

declare module '@hapi/hapi' {
  interface ServerOptionsApp {
    trustedProxies?: TrustedProxies | undefined;
  }
}

const UNKNOWN = 'unknown';

/** In full, in its usual form. Found once: a connection that is lost has no address any more. */
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

/** Tells the operator of the first proxy that names clients and is not trusted: all people behind it count as one. */
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
