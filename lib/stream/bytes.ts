// Reads a body as arrays of what arrived in one turn of the event loop: decoding, back-pressure and abort in one
// iterator.
import assert from 'node:assert/strict';

/** Turns the bytes of one body into items. Everything in it is synchronous: one promise per turn, none per item. */
export interface Decoder<T> {
  /** Decodes the next bytes and appends the items that are complete. */
  push(chunk: Uint8Array, items: T[]): void;
  /** The body ended: appends what is left without its end mark. */
  end(items: T[]): void;
  /** Set once the bytes exceeded a limit: the items before it count, and nothing follows. */
  readonly failure: Error | undefined;
  /** True once nothing that follows counts: the body is then abandoned, and its connection reused if it ends soon. */
  readonly done?: boolean;
}

/** The upstream sent more than allowed. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/** Incoming bytes, pushed as they arrive. */
export interface ByteSource {
  /** Starts, or continues with another consumer. What has already arrived is passed at once. */
  open(taker: ByteTaker): void;
  pause(): void;
  resume(): void;
  /** Closes the connection; the consumer is told by `fail`. */
  destroy(): void;
}

/** Called by a source with what arrives; nothing after `end` or `fail`. */
export interface ByteTaker {
  data(chunk: Uint8Array): void;
  end(): void;
  fail(error: Error): void;
}

export interface ReadOptions<T> {
  readonly body: ByteSource;
  readonly decoder: Decoder<T>;
  readonly signal: AbortSignal;
  /** What the reader throws for an error of the body or the decoder; never called for an abort. */
  readonly toError?: (error: Error) => Error;
}

/** Bytes waiting to be decoded; above this the socket is paused. One read fits, so as not to pause for each. */
const BUFFERED_MAX = 32 * 1024;

/** Bytes decoded in one turn: a flood of tiny events must not block the loop. */
const SLICE_BYTES = 32 * 1024;

/** How long a body whose reader left early may take to end by itself, so that its connection can be reused. */
const LEFTOVER_MS = 250;
const LEFTOVER_BYTES = 64 * 1024;

/** Iterates over arrays of decoded items. Read it once, one `next` at a time; leaving early closes the body. */
export function readBody<T>(options: ReadOptions<T>): AsyncIterableIterator<readonly T[]> {
  return new BodyReader(options);
}

/** Iterates over arrays of the chunks that arrived together. */
export function readBytes(
  options: Omit<ReadOptions<Uint8Array>, 'decoder'>,
): AsyncIterableIterator<readonly Uint8Array[]> {
  return new BodyReader({ ...options, decoder: BYTES });
}

const BYTES: Decoder<Uint8Array> = {
  push: (chunk, items) => void items.push(chunk),
  end: () => {},
  failure: undefined,
};

/** The pending read. */
interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T>) => void;
  readonly reject: (reason: unknown) => void;
}

class BodyReader<T> implements AsyncIterableIterator<readonly T[]>, ByteTaker {
  readonly #body: ByteSource;
  readonly #decoder: Decoder<T>;
  readonly #signal: AbortSignal;
  readonly #toError: (error: Error) => Error;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  #waiter: Waiter<readonly T[]> | undefined;
  #state: 'new' | 'open' | 'ended' | 'failed' | 'done' = 'new';
  #error: unknown;
  /** A delivery is scheduled, so `next` does not deliver by itself. */
  #scheduled = false;
  #broken = false;
  #paused = false;

  constructor(options: ReadOptions<T>) {
    this.#body = options.body;
    this.#decoder = options.decoder;
    this.#signal = options.signal;
    this.#toError = options.toError ?? ((error) => error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly T[]>> {
    return new Promise((resolve, reject) => {
      assert(!this.#waiter, 'a body is read one step at a time');
      // Before the first bytes: without a waiter they would pause the source.
      this.#waiter = { resolve, reject };
      if (this.#state === 'new') this.#open();
      if (!this.#scheduled) this.#deliver();
    });
  }

  async return(): Promise<IteratorResult<readonly T[]>> {
    this.#leave();
    this.#settle()?.resolve({ done: true, value: undefined });
    return { done: true, value: undefined };
  }

  #leave(): void {
    const unread = this.#state === 'new' || this.#state === 'open';
    this.#finish();
    if (unread) drain(this.#body);
  }

  #open(): void {
    this.#state = 'open';
    this.#signal.addEventListener('abort', this.#onAbort);
    if (this.#signal.aborted) this.#onAbort();
    else this.#body.open(this);
  }

  data(chunk: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    if (!this.#paused && (!this.#waiter || this.#buffered > BUFFERED_MAX)) {
      this.#paused = true;
      this.#body.pause();
    }
    this.#schedule();
  }

  end(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ended';
    this.#schedule();
  }

  fail(error: Error): void {
    if (this.#state !== 'open') return;
    this.#state = 'failed';
    this.#error = this.#toError(error);
    this.#schedule();
  }

  /** Frees a pending read at once: a stalled upstream would never wake it. */
  readonly #onAbort = (): void => {
    this.#chunks = [];
    this.#buffered = 0;
    if (this.#state === 'open' || this.#state === 'ended') this.#state = 'failed';
    this.#error = this.#signal.reason;
    this.#body.destroy();
    if (this.#waiter) this.#deliver();
  };

  /** What arrives within this turn still joins the array. */
  #schedule(): void {
    if (!this.#waiter || this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(onTick, this);
  }

  onTick(): void {
    this.#scheduled = false;
    if (this.#waiter) this.#deliver();
  }

  #deliver(): void {
    const items = this.#decode();
    if (this.#buffered > 0) {
      this.#scheduled = true;
      setImmediate(onTick, this);
    }
    if (items.length > 0) this.#settle()?.resolve({ done: false, value: items });
    else if (this.#buffered > 0) return;
    else if (this.#state === 'failed') this.#settleFailure();
    else if (this.#state === 'done') this.#settle()?.resolve({ done: true, value: undefined });
    if (this.#paused && this.#state === 'open' && this.#buffered === 0) {
      this.#paused = false;
      this.#body.resume();
    }
  }

  /** Decodes one slice. */
  #decode(): T[] {
    const items: T[] = [];
    let room = SLICE_BYTES;
    let taken = 0;
    for (const chunk of this.#chunks) {
      if (room === 0 || this.#decoder.failure || this.#decoder.done) break;
      const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
      this.#decoder.push(part, items);
      room -= part.length;
      this.#buffered -= part.length;
      if (part === chunk) taken++;
      else this.#chunks[taken] = chunk.subarray(part.length);
    }
    this.#chunks.splice(0, taken);
    if (this.#decoder.done && !this.#decoder.failure) {
      this.#leave();
      return items;
    }
    if (this.#state === 'ended' && this.#buffered === 0) {
      this.#decoder.end(items);
      this.#finish();
    }
    if (this.#decoder.failure && !this.#broken) this.#break(this.#decoder.failure);
    return items;
  }

  #break(failure: Error): void {
    this.#broken = true;
    this.#chunks = [];
    this.#buffered = 0;
    this.#state = 'failed';
    this.#error = this.#toError(failure);
    this.#body.destroy();
  }

  #settle(): Waiter<readonly T[]> | undefined {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    return waiter;
  }

  #settleFailure(): void {
    const error = this.#error;
    this.#finish();
    this.#settle()?.reject(error);
  }

  #finish(): void {
    this.#state = 'done';
    this.#chunks = [];
    this.#buffered = 0;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** Not a closure of every reader. */
function onTick(reader: { onTick(): void }): void {
  reader.onTick();
}

/** Lets a nearly complete body end by itself, and closes any other. */
export function drain(body: ByteSource): void {
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), LEFTOVER_MS).unref();
  const stop = () => clearTimeout(timer);
  body.open({
    data(chunk) {
      bytes += chunk.length;
      if (bytes > LEFTOVER_BYTES) body.destroy();
    },
    end: stop,
    fail: stop,
  });
  body.resume();
}
