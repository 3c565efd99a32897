// Keeps the event loop busy with events that add nothing to a batch.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate as waitOneTick } from 'node:timers/promises';

/** Causes an event in every event-loop tick; returns a function that stops it. */
export async function startEventLoopNoise(): Promise<() => void> {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0);
  await once(server, 'listening');
  const address = server.address() as { port: number };
  // Each echo is an event for both ends, so there is always another in flight.
  const sockets = Array.from({ length: 20 }, () => connect(address.port).on('error', () => undefined));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) {
    socket.on('data', () => socket.write('again'));
    socket.write('again');
  }
  for (let count = 0; count < 10; count += 1) await waitOneTick();
  return () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
}
