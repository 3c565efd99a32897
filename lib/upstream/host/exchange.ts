// One request and its reply directly on undici's dispatcher, without the streams and promises of its high-level API,
// which cost a tenth of a call and add another buffer.
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { ByteSource, ByteTaker } from '../../stream/bytes.ts';

interface ExchangeReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly source: ByteSource;
}

/** Bytes that may arrive before anybody reads. */
const EARLY_BYTES_MAX = 16 * 1024;

/** A constant, because a new error for every abort would cost a stack trace. */
const ABORTED = new Error('the request was aborted');

/**
 * Sends a request; resolves when the headers have arrived. An abort closes the connection at once, at any time until
 * the reply has ended, and rejects with the signal's reason.
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<ExchangeReply> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange({ resolve, reject }, signal);
    dispatcher.dispatch(options, handler);
  });
}

interface Waiter {
  readonly resolve: (reply: ExchangeReply) => void;
  readonly reject: (reason: unknown) => void;
}

class Exchange implements Dispatcher.DispatchHandler, ByteSource {
  readonly #signal: AbortSignal;
  #waiter: Waiter | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #taker: ByteTaker | undefined;
  readonly #early: Uint8Array[] = [];
  #earlyBytes = 0;
  /** Whether the consumer wants more. */
  #wanted = false;
  #over: 'no' | 'ended' | 'failed' = 'no';
  #error: Error | undefined;

  constructor(waiter: Waiter, signal: AbortSignal) {
    this.#waiter = waiter;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over !== 'no' || this.#signal.aborted) controller.abort(ABORTED);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Hints such as 103 precede the reply.
    if (status < 200) return;
    // The same headers once more, which nobody reads: a kilobyte and a half of every open stream.
    controller.rawHeaders = null;
    this.#waiter?.resolve({ status, headers, source: this });
    this.#waiter = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    // What undici delivers when a paused parser is resumed at the end of a read.
    if (chunk.length === 0) return;
    if (this.#taker) {
      this.#taker.data(chunk);
      return;
    }
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > EARLY_BYTES_MAX) controller.pause();
  }

  onResponseEnd(): void {
    this.#finish('ended');
    this.#taker?.end();
  }

  onResponseError(controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#over !== 'no') return;
    this.#finish('failed');
    // A proxy that wants a password is an error of undici's, after which its reply goes on.
    controller?.abort(ABORTED);
    this.#error = error;
    this.#waiter?.reject(this.#signal.aborted ? this.#signal.reason : error);
    this.#waiter = undefined;
    this.#taker?.fail(error);
  }

  open(taker: ByteTaker): void {
    this.#taker = taker;
    this.#wanted = true;
    for (const chunk of this.#early.splice(0)) taker.data(chunk);
    if (this.#over === 'ended') taker.end();
    else if (this.#over === 'failed') taker.fail(this.#error as Error);
    // The consumer may have paused on what it was given.
    else if (this.#wanted) this.#controller?.resume();
  }

  pause(): void {
    this.#wanted = false;
    this.#controller?.pause();
  }

  resume(): void {
    this.#wanted = true;
    this.#controller?.resume();
  }

  destroy(): void {
    if (this.#over !== 'no') return;
    if (this.#controller) this.#controller.abort(ABORTED);
    else this.onResponseError(undefined, ABORTED);
  }

  readonly #onAbort = (): void => this.destroy();

  #finish(how: 'ended' | 'failed'): void {
    this.#over = how;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}
