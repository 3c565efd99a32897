// Connects to one of the checked addresses: the name is only used to verify the certificate and is not resolved again.
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { withDeadline } from './deadline.ts';
import { FetchFailure } from './failure.ts';
import type { Target } from './url.ts';

/** Opens a TCP connection to an address. Every connection of a fetch starts here. */
export type Dial = (address: string, port: number) => Socket;

export interface Connecting {
  readonly dial: Dial;
  /** CA certificates to trust instead of Node's own. */
  readonly ca: string | undefined;
}

/** Limits the attempts for a name with many addresses. */
const ADDRESSES_TRIED_MAX = 3;
const ATTEMPT_MS = 3_000;

/** The default; the address is a literal, so no name is resolved. */
export const dialAddress: Dial = (address, port) => connect({ host: address, port, noDelay: true });

/** Tries the addresses in order; resolves to the first connection that is established, including TLS. */
export async function openConnection(
  target: Target,
  addresses: readonly string[],
  connecting: Connecting,
  signal: AbortSignal,
): Promise<Socket> {
  let cause: unknown;
  for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
    try {
      return await withDeadline(ATTEMPT_MS, signal, (ending) => attempt(target, address, connecting, ending));
    } catch (error) {
      signal.throwIfAborted();
      cause = error;
    }
  }
  throw new FetchFailure('no-connection', { cause });
}

async function attempt(
  target: Target,
  address: string,
  { dial, ca }: Connecting,
  signal: AbortSignal,
): Promise<Socket> {
  const plain = ignoreErrors(dial(address, target.port));
  try {
    await once(plain, 'connect', { signal });
    if (!target.secure) return plain;
    const socket = ignoreErrors(startTls(plain, target, ca));
    await once(socket, 'secureConnect', { signal });
    return socket;
  } catch (error) {
    // Destroys the TLS socket, too.
    plain.destroy();
    throw error;
  }
}

/** An error while nobody listens would end the process; waiting code is notified by `close`. */
function ignoreErrors(socket: Socket): Socket {
  return socket.on('error', () => {});
}

function startTls(socket: Socket, { host }: Target, ca: string | undefined): Socket {
  return connectTls({
    socket,
    // The certificate must match the host; an address is never sent as a server name.
    host,
    servername: isIP(host) === 0 ? host : undefined,
    ca,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    // Set explicitly, because the environment can disable verification.
    rejectUnauthorized: true,
  });
}
