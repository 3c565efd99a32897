// Reads a body as arrays of what arrived in one tick of the event loop: decoding, back-pressure and abort in one
// iterator.
import assert from 'node:assert/strict';

/** Turns the bytes of one body into items. Everything in it is synchronous: one promise per tick, none per item. */
export interface Decoder<T> {
  /** Decodes the next bytes and appends the items that are complete. */
  push(chunk: Uint8Array, items: T[]): void;
  /** The body ended: appends what is left without its end mark. */
  end(items: T[]): void;
  /** Set once the bytes exceeded a limit: the items before it count, and nothing follows. */
  readonly failure: Error | undefined;
  /** Called before more is decoded: a promise, which never rejects, if what is decoded has to wait for memory. */
  waitForRoom?(): Promise<void> | undefined;
  /** True once nothing that follows counts: the body is then abandoned, and its connection reused if it ends soon. */
  readonly done?: boolean;
  /** The body broke off; sets `error` unless the answer was complete. Without it, the reader throws the error. */
  break?(error: unknown): void;
  /** Set once the body turned out to have failed by what it says: thrown after its items. */
  readonly error?: unknown;
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

export interface OpenBody {
  readonly body: ByteSource;
  /** What the reader throws for an error of the body or a limit of the decoder; never called for an abort. */
  readonly toError?: (error: Error) => Error;
  /** Called with the decoder's `error` before it is thrown. */
  readonly onError?: (error: unknown) => void;
}

interface ReadOptions<T> extends OpenBody {
  readonly decoder: Decoder<T>;
  readonly signal: AbortSignal;
}

/** Bytes waiting to be decoded; above this the socket is paused. One read fits, so as not to pause for each. */
const BUFFERED_MAX = 64 * 1024;

/** Bytes decoded in one tick: a flood of tiny events must not block the loop. */
const SLICE_BYTES = 32 * 1024;

/** How long a body whose reader left early may take to end by itself, so that its connection can be reused. */
const LEFTOVER_MS = 250;
const LEFTOVER_BYTES = 64 * 1024;

/** Iterates over arrays of decoded items. Read it once, one `next` at a time; leaving early closes the body. */
export function decodeBody<T>(options: ReadOptions<T>): AsyncIterableIterator<readonly T[]> {
  return new BodyReader(options.decoder, options.signal, options);
}

/** The same for a body that is asked for by the first `next`. */
export function readWhenAsked<T>(
  ask: () => Promise<OpenBody>,
  { decoder, signal }: Omit<ReadOptions<T>, keyof OpenBody>,
): AsyncIterableIterator<readonly T[]> {
  return new BodyReader(decoder, signal, ask);
}

/** Iterates over arrays of the chunks that arrived together. */
export function readBytes(
  options: Omit<ReadOptions<Uint8Array>, 'decoder'>,
): AsyncIterableIterator<readonly Uint8Array[]> {
  return decodeBody({ ...options, decoder: BYTES });
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

/** Chunks of the same tick join the array; waiting for a promise is cheaper than for another tick. */
const RESOLVED = Promise.resolve();

class BodyReader<T> implements AsyncIterableIterator<readonly T[]>, ByteTaker {
  readonly #decoder: Decoder<T>;
  readonly #signal: AbortSignal;
  /** Dropped once asked, so that what was sent is not kept for the life of the reply. */
  #ask: (() => Promise<OpenBody>) | undefined;
  #open: OpenBody | undefined;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  #waiter: Waiter<readonly T[]> | undefined;
  #state: 'new' | 'asked' | 'open' | 'ended' | 'failed' | 'done' = 'new';
  #error: unknown;
  /** A delivery is scheduled, so `next` does not deliver by itself. */
  #scheduled = false;
  #broken = false;
  #paused = false;
  /** The decoder's error was thrown. */
  #hasThrown = false;

  constructor(decoder: Decoder<T>, signal: AbortSignal, body: OpenBody | (() => Promise<OpenBody>)) {
    this.#decoder = decoder;
    this.#signal = signal;
    if (typeof body === 'function') this.#ask = body;
    else this.#open = body;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly T[]>> {
    return new Promise((resolve, reject) => {
      assert(!this.#waiter, 'a body is read one step at a time');
      // Before the first bytes: without a waiter they would pause the source.
      this.#waiter = { resolve, reject };
      if (this.#state === 'new') this.#begin();
      else if (!this.#scheduled && (this.#buffered > 0 || this.#state !== 'open')) this.#deliver();
    });
  }

  async return(): Promise<IteratorResult<readonly T[]>> {
    this.#leave();
    this.#takeWaiter()?.resolve({ done: true, value: undefined });
    return { done: true, value: undefined };
  }

  #leave(): void {
    const unread = this.#state === 'new' || this.#state === 'open';
    this.#finish();
    if (unread && this.#open) drain(this.#open.body);
  }

  #begin(): void {
    const ask = this.#ask;
    if (!ask) {
      this.#start();
      return;
    }
    this.#ask = undefined;
    this.#state = 'asked';
    ask().then(
      (open) => this.#takeBody(open),
      (error: unknown) => this.#refuse(error),
    );
  }

  #takeBody(open: OpenBody): void {
    this.#open = open;
    if (this.#state === 'asked') this.#start();
    else drain(open.body);
  }

  #refuse(error: unknown): void {
    this.#state = 'done';
    this.#takeWaiter()?.reject(error);
  }

  #start(): void {
    this.#state = 'open';
    this.#signal.addEventListener('abort', this.#onAbort);
    if (this.#signal.aborted) this.#onAbort();
    else this.#open?.body.open(this);
  }

  data(chunk: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    if (!this.#paused && (!this.#waiter || this.#buffered > BUFFERED_MAX)) {
      this.#paused = true;
      this.#open?.body.pause();
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
    this.#error = this.#open?.toError?.(error) ?? error;
    this.#schedule();
  }

  /** Frees a pending read at once: a stalled upstream would never wake it. */
  readonly #onAbort = (): void => {
    this.#chunks = [];
    this.#buffered = 0;
    if (this.#state === 'open' || this.#state === 'ended') this.#state = 'failed';
    this.#error = this.#signal.reason;
    this.#open?.body.destroy();
    if (this.#waiter) this.#deliver();
  };

  /** What arrives within this tick still joins the array. */
  #schedule(): void {
    if (!this.#waiter || this.#scheduled) return;
    this.#scheduled = true;
    void RESOLVED.then(this.#onTick);
  }

  readonly #onTick = (): void => {
    this.#scheduled = false;
    if (this.#waiter) this.#deliver();
  };

  #deliver(): void {
    const wait = this.#buffered > 0 ? this.#decoder.waitForRoom?.() : undefined;
    if (wait) {
      this.#scheduled = true;
      void wait.then(this.#onTick);
      return;
    }
    const items = this.#decode();
    if (this.#buffered > 0) {
      this.#scheduled = true;
      setImmediate(this.#onTick);
    }
    if (items.length > 0) this.#takeWaiter()?.resolve({ done: false, value: items });
    else if (this.#buffered > 0) return;
    else if (this.#state === 'failed') this.#settleFailure();
    else if (this.#state === 'done') this.#settleEnd();
    if (this.#paused && this.#state === 'open' && this.#buffered === 0) {
      this.#paused = false;
      this.#open?.body.resume();
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
    if (taken > 0) this.#chunks = this.#chunks.slice(taken);
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
    this.#error = this.#open?.toError?.(failure) ?? failure;
    this.#open?.body.destroy();
  }

  #takeWaiter(): Waiter<readonly T[]> | undefined {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    return waiter;
  }

  #settleFailure(): void {
    const error = this.#error;
    this.#finish();
    if (this.#signal.aborted || !this.#decoder.break) {
      this.#hasThrown = true;
      this.#takeWaiter()?.reject(error);
      return;
    }
    this.#decoder.break(error);
    this.#settleEnd();
  }

  #settleEnd(): void {
    const { error } = this.#decoder;
    const waiter = this.#takeWaiter();
    if (error === undefined || this.#hasThrown) {
      waiter?.resolve({ done: true, value: undefined });
      return;
    }
    this.#hasThrown = true;
    this.#open?.onError?.(error);
    waiter?.reject(error);
  }

  #finish(): void {
    this.#state = 'done';
    this.#chunks = [];
    this.#buffered = 0;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
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
