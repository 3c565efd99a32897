// A client that has closed its sending side still waits for its answer, or is gone: both send the same packet. Only the
// reaction to bytes tells them apart: a client that is gone resets the connection.
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** A stream of events, which can be probed with comments. */
interface ProbedStream {
  keepAlive(): void;
}

const streams = new WeakMap<ServerResponse, ProbedStream>();

/** From now on, comments in this stream are the probes: the headers of its reply are sent. */
export function probeByComments(response: ServerResponse, stream: ProbedStream): void {
  streams.set(response, stream);
}

/** Every reply starts with these bytes: sent early, one by one, they are a probe that no client can notice. */
const START = 'HTTP/1.1 ';

/**
 * Since the end of the client's data, one for each byte of `START`. The first is answered by a client that is gone, the
 * next two by proxies, which learn by the first that theirs is; the others find out who leaves later.
 */
const PROBES_AT_MS = [0, 20, 45, 250, 1000, 5000, 15_000, 30_000, 120_000];

const CHECK_PAUSE_MS = { least: 1, most: 1000 };

/** Closes the connection if its client is gone. Call it when the client's data has ended and its reply has not. */
export function probeHalfClosed(response: ServerResponse): void {
  const { socket } = response;
  if (!socket) return;
  const probe = createProbe(response, socket);
  const endedAt = performance.now();
  let probes = 0;
  let probedAt = endedAt;
  let timer: NodeJS.Timeout | undefined;

  const tick = () => {
    const now = performance.now();
    // Bytes that still wait to be sent are a probe themselves.
    const isIdle = socket.writable && socket.writableLength === 0;
    if (isIdle && now - endedAt >= (PROBES_AT_MS[probes] ?? Number.POSITIVE_INFINITY)) {
      probes += 1;
      probedAt = now;
      probe();
    }
    if (isIdle) check(socket);
    // The answer to a probe takes as long as the way to the client and back.
    const pauseMs = (now - probedAt) / 2;
    timer = setTimeout(tick, Math.min(Math.max(pauseMs, CHECK_PAUSE_MS.least), CHECK_PAUSE_MS.most)).unref();
  };

  response.once('close', () => clearTimeout(timer));
  tick();
}

/** Nobody reads from the socket after its end, so only a write reports a reset: an empty one sends nothing. */
function check(socket: Socket): void {
  Socket.prototype.write.call(socket, '');
}

/** Sends the next byte of a reply that has not begun, or a comment in a stream of events. */
function createProbe(response: ServerResponse, socket: Socket): () => void {
  let sent = 0;
  return () => {
    if (response.headersSent) {
      if (!response.writableEnded) streams.get(response)?.keepAlive();
      return;
    }
    if (sent === START.length) return;
    if (sent === 0) changeNextWrite(socket, (head) => head.slice(sent));
    Socket.prototype.write.call(socket, START[sent] as string);
    sent += 1;
  };
}

/** What is written next is the head of the reply: a string, which may have the body behind it. */
function changeNextWrite(socket: Socket, change: (head: string) => string): void {
  const write = (head: unknown, ...rest: unknown[]): boolean => {
    Reflect.deleteProperty(socket, 'write');
    if (typeof head === 'string' && head.startsWith(START)) {
      return Reflect.apply(socket.write, socket, [change(head), ...rest]);
    }
    socket.destroy();
    return false;
  };
  socket.write = write as Socket['write'];
}
