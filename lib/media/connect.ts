// Connects to one of the checked addresses: the name only serves to verify the certificate and is not resolved again.
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

/** For a name with many addresses. */
const ADDRESSES_TRIED_MAX = 3;
const ATTEMPT_MS = 3_000;

/** The system's own; the address is a literal, so nothing is looked up. */
export const dialAddress: Dial = (address, port) => connect({ host: address, port, noDelay: true });

/** The first connection that is established, including TLS, in the order of the addresses. */
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
    // And with it what was begun on it.
    plain.destroy();
    throw error;
  }
}

/** An error between two listeners would end the process; anyone waiting hears of the close. */
function ignoreErrors(socket: Socket): Socket {
  return socket.on('error', () => {});
}

function startTls(socket: Socket, { host }: Target, ca: string | undefined): Socket {
  return connectTls({
    socket,
    // The certificate must match the host; an address is never sent as a server name.
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    // Even if the environment disables verification.
    rejectUnauthorized: true,
  });
}
