// The network between the gateways and their database: one loopback port that can be cut or go silent.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface NetworkProxy {
  readonly port: number;
  /** Closes every connection and accepts no new one. */
  cut(): void;
  /** Keeps connections open but forwards nothing, in either direction. */
  silence(): void;
  /** Forwards what was held back. */
  heal(): void;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<NetworkProxy> {
  let state: 'well' | 'cut' | 'silent' = 'well';
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (state === 'cut') {
      near.destroy();
      return;
    }
    const far = connect(target, '127.0.0.1');
    join(near, far);
    join(far, near);
    if (state === 'silent') for (const socket of [near, far]) socket.pause();
  });

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (state !== 'silent') from.resume();
    });
    from.on('error', () => undefined);
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut';
      for (const socket of sockets) socket.destroy();
    },
    silence() {
      state = 'silent';
      for (const socket of sockets) socket.pause();
    },
    heal() {
      state = 'well';
      for (const socket of sockets) socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
