// undici's dispatchers with connectors of our own (its lib/core/connect.js): options it does not know are passed to
// `net.connect` and `tls.connect`, and a connector must call back in a later tick.
import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import type undici from 'undici';

/**
 * Each from its own file: the index of undici also loads fetch, WebSocket, caches and mocks, which take 3 MB of heap and
 * 13 MB of resident memory.
 */
const load = createRequire(import.meta.url);
export const Agent: typeof undici.Agent = load('undici/lib/dispatcher/agent.js');
export const Client: typeof undici.Client = load('undici/lib/dispatcher/client.js');
export const Pool: typeof undici.Pool = load('undici/lib/dispatcher/pool.js');
export const ProxyAgent: typeof undici.ProxyAgent = load('undici/lib/dispatcher/proxy-agent.js');
export const buildConnector: typeof undici.buildConnector = load('undici/lib/core/connect.js');
/** Its index gives dispatchers this method, which a `ProxyAgent` calls for its tunnels. */
load('undici/lib/dispatcher/dispatcher.js').prototype.connect ??= load('undici/lib/api/api-connect.js');

/** Bytes that each buffer holds while the reader has stopped. */
const BUFFERED_BYTES = 16 * 1024;

/** Adds options for connections that use little memory. */
export function withSmallBuffers(options: undici.buildConnector.BuildOptions): undici.buildConnector.BuildOptions {
  const unknown = { highWaterMark: BUFFERED_BYTES };
  return { ...options, ...unknown };
}

/** Errors of connections that had answered before, and then nothing. */
const reusedConnectionErrors = new WeakSet<Error>();

/** What a connection has had of replies, as far as it was read. */
interface AskedSocket extends Socket {
  /** It had a reply before the last request. */
  hadReply?: boolean;
  /** Something has arrived since the last request. */
  hasReply?: boolean;
}

/** Errors that came before there was a connection. */
const connectErrors = new WeakSet<Error>();

/** A connector that remembers which errors came before there was a connection, and which after an earlier request. */
export function trackErrors(connect: undici.buildConnector.connector): undici.buildConnector.connector {
  return (target, callback) =>
    // A tuple, so that TypeScript knows the socket once the error is ruled out.
    connect(target, (...[error, socket]) => {
      if (error) {
        connectErrors.add(error);
        callback(error, null);
        return;
      }
      socket.on('error', noteReuse);
      callback(null, readPastContinue(socket));
    });
}

/** A shared function: a closure per connection would take memory. */
function noteReuse(this: AskedSocket, error: Error): void {
  if (this.hadReply && !this.hasReply) reusedConnectionErrors.add(error);
}

/** Whether there never was a connection, nor a tunnel through a proxy: nothing of the request was sent. */
export function failedToConnect(error: Error): boolean {
  return connectErrors.has(error);
}

/** Whether a request failed, before its reply began, on a connection that had answered an earlier one. */
export function failedAfterReuse(error: Error): boolean {
  return reusedConnectionErrors.has(error);
}

/** A connector that returns this connection once and never makes another. */
export function connectOnce(socket: Socket): undici.buildConnector.connector {
  let unused = true;
  return (_options, callback) => {
    // Deferred: undici misses a connection that is returned synchronously.
    if (unused) queueMicrotask(() => callback(null, readPastContinue(socket)));
    else queueMicrotask(() => callback(new Error('the only connection is over'), null));
    unused = false;
  };
}

/**
 * undici breaks a connection off at a `100 Continue`, although a client has to ignore one that it did not ask for: it
 * reads a 102, which it ignores.
 */
function readPastContinue<Read extends Socket>(socket: Read): Read {
  socket.write = writeAndWait;
  return socket;
}

/** Shared functions, like `noteReuse`. */
function writeAndWait(this: AskedSocket, ...args: unknown[]): boolean {
  if (isHead(args[0])) {
    this.hadReply ||= this.hasReply ?? false;
    this.hasReply = false;
  }
  this.read = readWithoutContinue;
  return Reflect.apply(Socket.prototype.write, this, args);
}

/** Of a request: the marks between the chunks of its body begin with a line break, and the body itself is bytes. */
function isHead(written: unknown): boolean {
  return typeof written === 'string' && !written.startsWith('\r\n');
}

/** Until a reply begins: what quotes a status line is not looked at. */
function readWithoutContinue(this: AskedSocket, size?: number): unknown {
  const chunk: unknown = Socket.prototype.read.call(this, size);
  if (!(chunk instanceof Uint8Array)) return chunk;
  this.hasReply = true;
  if (!renameContinue(chunk)) this.read = Socket.prototype.read;
  return chunk;
}

/** A status line with its line break. */
const INTERIM = /^HTTP\/1\.1 1(\d\d)(?: [^\r\n"]*)?\r\n/;
const STATUS_AT = 'HTTP/1.1 '.length;
const HEAD_BYTES_MAX = 1024;

/** Several may come at once. Returns whether nothing follows them. */
function renameContinue(chunk: Uint8Array): boolean {
  let at = 0;
  while (chunk[at] === LETTER_H && chunk[at + STATUS_AT] === DIGIT_1) {
    const head = Buffer.from(chunk.buffer, chunk.byteOffset + at, Math.min(chunk.length - at, HEAD_BYTES_MAX));
    const text = head.toString('latin1');
    const [, status] = INTERIM.exec(text) ?? [];
    if (status === undefined) return false;
    if (status === '00') chunk[at + STATUS_AT + 2] = DIGIT_2;
    const end = text.indexOf(HEAD_END);
    if (end < 0) return true;
    at += end + HEAD_END.length;
  }
  return at === chunk.length;
}

const HEAD_END = '\r\n\r\n';
const LETTER_H = 0x48;
const DIGIT_1 = 0x31;
const DIGIT_2 = 0x32;
