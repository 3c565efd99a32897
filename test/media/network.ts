// A small Internet on loopback: names with public-looking addresses, servers behind them, and a record of every requested
// connection.
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { createFetcher, type Fetcher, type FetcherOptions } from '../../lib/media/fetcher.ts';
import { type Authority, createAuthority } from '../../testkit/certificates.ts';

/** What a server does with one request. */
export type Answer = (socket: Socket, head: string) => void;

export interface HostOptions {
  readonly address?: string;
  readonly port?: number;
  /** Of the certificate; the name of the host otherwise. None: plain HTTP. */
  readonly certificate?: readonly string[] | 'none';
}

export class Network {
  readonly authority: Authority = createAuthority();
  /** What the resolver answers, or does. */
  readonly names = new Map<string, readonly string[] | ((signal: AbortSignal) => Promise<readonly string[]>)>();
  readonly resolved: string[] = [];
  /** `address:port` of every connection, in order. */
  readonly dialled: string[] = [];
  /** The server name of each connection over TLS; false if it has none. */
  readonly serverNames: (string | false)[] = [];
  /** Heads of the requests that arrived. */
  readonly heads: string[] = [];
  readonly #routes = new Map<string, number>();
  readonly #silent = new Set<string>();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #dialledSockets = new Set<unknown>();
  readonly #strays: string[] = [];
  #seen = 0;
  #last = 0;

  /** A server under a name; its address is the next one of a public range. */
  async host(name: string, answer: Answer, options: HostOptions = {}): Promise<string> {
    const { address = this.nextAddress(), certificate = [name] } = options;
    const port = options.port ?? (certificate === 'none' ? 80 : 443);
    const onSocket = (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', (head) => {
        this.heads.push(head.toString('latin1'));
        answer(socket, head.toString('latin1'));
      });
    };
    const server =
      certificate === 'none'
        ? createServer(onSocket)
        : createTlsServer(this.authority.issue(...certificate), (socket: TLSSocket) => {
            this.serverNames.push(socket.servername ?? false);
            onSocket(socket);
          }).on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#servers.push(server);
    this.#routes.set(`${address}:${port}`, (server.address() as AddressInfo).port);
    if (!this.names.has(name)) this.names.set(name, [address]);
    return address;
  }

  nextAddress(): string {
    this.#last += 1;
    return `93.184.216.${this.#last}`;
  }

  /** An address that lets every connection wait. */
  silence(address: string): void {
    this.#silent.add(address);
  }

  fetcher(options: FetcherOptions = {}): Fetcher {
    const { ca } = this.authority;
    const limits = { imageMs: 30_000, stepMs: 20, resultIdleMs: 300, ...options.limits };
    return createFetcher({ ca, resolve: this.resolve, dial: this.dial, ...options, limits });
  }

  readonly resolve = async (name: string, signal: AbortSignal): Promise<readonly string[]> => {
    this.resolved.push(name);
    const answer = this.names.get(name);
    if (!answer) throw Object.assign(new Error(`queryA ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    return typeof answer === 'function' ? answer(signal) : answer;
  };

  readonly dial = (address: string, port: number): Socket => {
    this.dialled.push(`${address}:${port}`);
    const socket = this.#silent.has(address)
      ? new Socket()
      : connect({ host: '127.0.0.1', port: this.#routes.get(`${address}:${port}`) ?? 1 });
    this.#dialledSockets.add(socket);
    return socket;
  };

  /** From now on every client socket of this process is looked at. */
  watch(): void {
    channel('net.client.socket').subscribe(this.#onSocket);
  }

  /** That no connection was made besides those that went through `dial`. */
  async expectNoStrays(): Promise<void> {
    await new Promise(setImmediate);
    channel('net.client.socket').unsubscribe(this.#onSocket);
    expect(this.#strays).to.deep.equal([]);
    expect(this.#seen).to.be.above(0);
  }

  readonly #onSocket = (message: unknown): void => {
    const { socket } = message as { socket: unknown };
    // `dial` has not got it back yet.
    this.#seen += 1;
    setImmediate(() => {
      if (!this.#dialledSockets.has(socket)) this.#strays.push(String(new Error('a stray connection').stack));
    });
  };

  forget(): void {
    for (const list of [this.resolved, this.dialled, this.serverNames, this.heads]) list.length = 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

export interface ReplyParts {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly body?: Uint8Array | string;
  /** False: the connection stays open after the last byte. */
  readonly end?: boolean;
}

/** Answers with one reply; without a length of its own it gets the right one. */
export function reply({ status = 200, headers = {}, body = '', end = true }: ReplyParts): Answer {
  const lengths =
    'transfer-encoding' in headers || 'content-length' in headers ? {} : { 'content-length': body.length };
  const lines = Object.entries({ ...lengths, ...headers }).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${name}: ${one}\r\n`),
  );
  return (socket) => {
    socket.write(`HTTP/1.1 ${status} Test\r\n${lines.join('')}\r\n`);
    if (end) socket.end(body);
    else socket.write(body);
  };
}

export function redirect(location: string, status = 302): Answer {
  return reply({ status, headers: { location } });
}

/** Sends blocks as fast as they are taken, up to a number of bytes; tells how many were handed to the socket. */
export function flood(
  first: Uint8Array,
  block: Uint8Array,
  bytesMax: number,
): { readonly answer: Answer; sent(): number } {
  let sent = first.length;
  const answer: Answer = (socket) => {
    const more = () => {
      let taken = true;
      while (taken && !socket.destroyed && sent + block.length <= bytesMax) {
        taken = socket.write(block);
        sent += block.length;
      }
      if (taken) socket.end();
    };
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.on('drain', more).write(first, more);
  };
  return { answer, sent: () => sent };
}
