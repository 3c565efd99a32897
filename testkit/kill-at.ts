// Preloaded into a service with `--import`: kills it like kill -9 at exactly the step named by KILL_AT. `before settle`
// is before the store receives it, or is told to commit it; `after settle` is once the store has done it and nobody
// here knows; `before reply 200` is before the client is answered.
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { isMainThread, Worker } from 'node:worker_threads';
import type { Operation } from '../lib/money/decide.ts';

/**
 * How a step's word appears on its way to a store: the operation, or the port and name of the call, that SQLite's threads
 * are sent; bytes sent to a MongoDB.
 */
const WORDS: Readonly<Record<string, { readonly call: string; readonly bytes: string }>> = {
  reserve: { call: 'reserve', bytes: 'reserve:req_' },
  settle: { call: 'settle', bytes: 'settle:req_' },
  release: { call: 'release', bytes: 'release:req_' },
  charge: { call: 'charge', bytes: 'charge:req_' },
  // The first check for a free name, and the first bytes or the row of the file.
  media: { call: 'media.get', bytes: 'media.files' },
  file: { call: 'media.add', bytes: 'media.chunks' },
};
/** A name with its length before the value, of 16 bytes of type 4. */
const SESSION = '\x05id\0\x10\0\0\0\x04';
const SESSION_BYTES = 16;
const MONEY = new Set(['reserve', 'settle', 'release', 'charge']);

const [when, what = '', status] = (process.env.KILL_AT ?? '').split(' ');
const word = WORDS[what];

if (isMainThread && what === 'reply') killAtReply();
else if (isMainThread && word) killAtStore(word);

function die(): void {
  process.kill(process.pid, 'SIGKILL');
  // The signal arrives asynchronously; nothing after this line may run before it.
  for (;;);
}

function killAtReply(): void {
  const { writeHead } = ServerResponse.prototype;
  ServerResponse.prototype.writeHead = function (this: ServerResponse, ...args: unknown[]) {
    if (String(args[0]) === status) die();
    return Reflect.apply(writeHead, this, args);
  } as typeof writeHead;
}

function killAtStore({ call, bytes }: { readonly call: string; readonly bytes: string }): void {
  /** The call that was sent to one of the store's threads. */
  let told: { readonly worker: Worker; readonly id: unknown } | undefined;
  const { postMessage, emit } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...args: Parameters<typeof postMessage>) {
    const [id, port, name, values] = Array.isArray(args[0]) ? args[0] : [];
    const called = `${port}.${name}`;
    if (called === call || (called === 'ledger.apply' && hasOperation(values, call))) {
      if (when === 'before') die();
      told = { worker: this, id };
    }
    return Reflect.apply(postMessage, this, args);
  };
  Worker.prototype.emit = function (this: Worker, ...args: Parameters<typeof emit>) {
    const [event, reply] = args as readonly unknown[];
    if (told?.worker === this && event === 'message' && Array.isArray(reply) && reply[0] === told.id) die();
    return Reflect.apply(emit, this, args);
  } as typeof emit;

  const { write } = Socket.prototype;
  /** The session whose transaction it is: others commit at the same time. */
  let session: string | undefined;
  let committing: unknown;
  Socket.prototype.write = function (this: Socket, ...args: unknown[]) {
    const [chunk] = args;
    if (chunk instanceof Uint8Array) {
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
      if (text.includes(bytes)) {
        if (!MONEY.has(call)) die();
        session = sessionIn(text);
      }
      if (session && text.includes('commitTransaction') && sessionIn(text) === session) {
        if (when === 'before') die();
        if (!committing) this.prependListener('data', die);
        committing = this;
      }
    }
    return Reflect.apply(write, this, args);
  } as typeof write;
}

/** The id of the session of a command, as BSON has it: `lsid: { id: <16 bytes> }`. */
function sessionIn(text: string): string | undefined {
  const at = text.indexOf(SESSION);
  return at === -1 ? undefined : text.slice(at + SESSION.length, at + SESSION.length + SESSION_BYTES);
}

function hasOperation([operations]: readonly [readonly Operation[]], kind: string): boolean {
  return operations.some((op) => op.kind === kind);
}
