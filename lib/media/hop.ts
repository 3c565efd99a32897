// One HTTP request on a connection of its own, pinned to a checked address or through the operator's proxy.
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { Client, connectOnce, ProxyAgent } from '../platform/undici.ts';
import { exchange } from '../upstream/host/exchange.ts';
import { type Connecting, openConnection } from './connect.ts';
import { FetchFailure, failAs } from './failure.ts';
import type { Reply } from './reply.ts';
import { type Resolvers, resolveAddresses } from './resolve.ts';
import { readUrl, type Target, type UrlRules } from './url.ts';

export const REDIRECTS_MAX = 3;

export interface Network extends Connecting {
  readonly resolvers: Resolvers;
}

interface FetchPlan {
  readonly rules: UrlRules;
  readonly network: Network;
  readonly signal: AbortSignal;
  /** Headers for the first origin only, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Makes the request a POST. */
  readonly body?: string;
  /** URL of the operator's proxy, which then resolves the names and makes the connections. */
  readonly proxy?: string | undefined;
}

/** Resolves to the first reply that is not a redirect; each hop is checked. Throws a `FetchFailure`. */
export async function followRedirects(first: Target, plan: Omit<FetchPlan, 'body'>): Promise<Reply> {
  let target = first;
  let { headers } = plan;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    const reply = await requestOnce(target, headers, plan);
    if (!REDIRECTS.has(reply.status)) return reply;
    reply.close();
    const next = resolveRedirect(target, reply.headers.location, plan.rules);
    // Dropped for good: the other host could redirect them anywhere.
    if (next.origin !== target.origin) headers = {};
    target = next;
  }
  throw new FetchFailure('redirects');
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function resolveRedirect(from: Target, location: unknown, rules: UrlRules): Target {
  // A repeated header would be a list.
  const url = typeof location === 'string' ? URL.parse(location, from.origin + from.path) : null;
  if (!url) throw new FetchFailure('redirects');
  const target = readUrl(url.href, rules);
  if (typeof target === 'string') throw new FetchFailure('not-public');
  return target;
}

const OWN_HEADERS = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'tollgate' };

/** Sends one request; does not follow redirects. Throws a `FetchFailure`. */
export async function requestOnce(
  target: Target,
  headers: Readonly<Record<string, string>>,
  plan: Omit<FetchPlan, 'headers' | 'rules'>,
): Promise<Reply> {
  const { network, signal, proxy, body } = plan;
  const client = proxy === undefined ? await connectTo(target, plan) : createProxyClient(proxy, network);
  const close = () => void client.destroy().catch(() => {});
  const { origin, path } = target;
  const method = body === undefined ? 'GET' : 'POST';
  const sent = { ...headers, ...OWN_HEADERS };
  const request = { origin, path, method, headers: sent, body: body ?? null, reset: true } as const;
  try {
    return { ...(await failAs('broken', signal, () => exchange(client, request, signal))), close };
  } catch (error) {
    close();
    throw error;
  }
}

async function connectTo(
  target: Target,
  { network, signal }: Pick<FetchPlan, 'network' | 'signal'>,
): Promise<Dispatcher> {
  const addresses = await resolveAddresses(target, network.resolvers, signal);
  return createPinnedClient(target.origin, await openConnection(target, addresses, network, signal));
}

/** Without timeouts of undici: the deadline of the fetch applies. */
const OWN_CLOCK = { pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 } as const;

/** A client that only uses the given connection and never makes another. */
function createPinnedClient(origin: string, socket: Socket): Dispatcher {
  return new Client(origin, { ...OWN_CLOCK, connect: connectOnce(socket) });
}

function createProxyClient(uri: string, { ca }: Network): Dispatcher {
  return new ProxyAgent({
    ...OWN_CLOCK,
    uri,
    requestTls: { rejectUnauthorized: true, ca },
  });
}
