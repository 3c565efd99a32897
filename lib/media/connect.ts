// A connection to one of the checked addresses: the name serves only to verify the certificate, nothing resolves it again.
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { within } from './deadline.ts';
import { FetchFailure } from './failure.ts';
import type { Target } from './url.ts';

/** Opens a TCP connection to an address. Every connection of a fetch begins here. */
export type Dial = (address: string, port: number) => Socket;

export interface Connecting {
  readonly dial: Dial;
  /** Certificates of authorities to believe instead of Node's own. */
  readonly ca: string | undefined;
}

/** Of a name with many addresses. */
const ADDRESSES_TRIED_MAX = 3;
const ATTEMPT_MS = 3_000;

/** The system's own; the address is a literal, so it looks nothing up. */
export const dialAddress: Dial = (address, port) => connect({ host: address, port, noDelay: true });

/** The first connection that is established, TLS included, in the order of the addresses. */
export async function openConnection(
  target: Target,
  addresses: readonly string[],
  connecting: Connecting,
  signal: AbortSignal,
): Promise<Socket> {
  let cause: unknown;
  for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
    try {
      return await within(ATTEMPT_MS, signal, (ending) => attempt(target, address, connecting, ending));
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
  const plain = quiet(dial(address, target.port));
  let socket = plain;
  try {
    await once(plain, 'connect', { signal });
    if (!target.secure) return plain;
    socket = quiet(secured(plain, target, ca));
    await once(socket, 'secureConnect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    plain.destroy();
    throw error;
  }
}

/** An error between two listeners would end the process; whoever waits hears of the close. */
function quiet(socket: Socket): Socket {
  return socket.on('error', () => {});
}

function secured(socket: Socket, { host }: Target, ca: string | undefined): Socket {
  return connectTls({
    socket,
    // The certificate must be for it; an address is never sent as a server's name.
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    // Even where the environment switches verification off.
    rejectUnauthorized: true,
  });
}
