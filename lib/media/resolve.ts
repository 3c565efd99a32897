// Resolves a host to checked addresses; the connection is then made to one of these.
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { rejectOnAbort } from '../base/abort.ts';
import { isPublicAddress } from './address.ts';
import { withDeadline } from './deadline.ts';
import { FetchFailure, failAs } from './failure.ts';
import type { Target } from './url.ts';

/** Resolves to all addresses of a name; to an empty list, or rejects, if it has none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface Resolvers {
  /** For untrusted names. */
  readonly publicNames: Resolve;
  /** For names of trusted origins. */
  readonly trustedNames: Resolve;
}

const DNS_TIMEOUT_MS = 4_000;
const TRY_MS = 1_500;
const TRIES = 2;
/** How long to wait for the addresses of one family when those of the other have arrived. */
const OTHER_FAMILY_MS = 1_000;

export const systemResolvers: Resolvers = { publicNames: createDnsResolve(), trustedNames: resolveBySystem };

/**
 * Queries name servers only, by default the system's. `getaddrinfo` would block one of the few threads that files and
 * crypto need while a name server is slow, and it resolves local names.
 */
export function createDnsResolve(servers?: readonly string[]): Resolve {
  return async (name, signal) => {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const queries = [resolver.resolve4(name), resolver.resolve6(name)];
    let timer: NodeJS.Timeout | undefined;
    try {
      await Promise.any(queries);
      timer = setTimeout(cancel, OTHER_FAMILY_MS);
      const answers = await Promise.allSettled(queries);
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** By `getaddrinfo`, which knows the hosts file and the names of containers. */
async function resolveBySystem(name: string): Promise<readonly string[]> {
  const answers = await lookup(name, { all: true });
  return answers.map(({ address }) => address);
}

/** Resolves to the addresses of a target, all of them public unless the target is trusted. */
export async function resolveAddresses(
  target: Target,
  resolvers: Resolvers,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses = isIP(target.host) === 0 ? await resolve(target, resolvers, signal) : [target.host];
  if (addresses.length === 0) throw new FetchFailure('unknown-host');
  // A mix of internal and public addresses may be DNS rebinding.
  if (!target.trusted && !addresses.every(isPublicAddress)) throw new FetchFailure('not-public');
  return addresses;
}

async function resolve(
  { host, trusted }: Target,
  resolvers: Resolvers,
  outer: AbortSignal,
): Promise<readonly string[]> {
  const resolveName = trusted ? resolvers.trustedNames : resolvers.publicNames;
  // Stops waiting for a resolver that ignores its signal.
  return withDeadline(DNS_TIMEOUT_MS, outer, (signal) =>
    failAs('unknown-host', signal, () => rejectOnAbort(resolveName(host, signal), signal)),
  );
}
