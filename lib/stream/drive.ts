// Pulls a source of parts to its end, with one await per arrival; an abort frees the puller at once, whatever the
// source does.

/** What a consumer returns when it cannot accept more for now. */
export type Pressure = Promise<void> | undefined;

/** After this many arrivals timers and sockets get a turn: a source that always has more would starve them. */
const ARRIVALS_PER_TURN = 256;

/** Receives one result of a source, or its failure. */
export interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T>) => void;
  readonly reject: (reason: unknown) => void;
}

/** On an iterator: like `next` without promises, which cost as much as the work on a fragment. */
export const ASK = Symbol('the next value, by a callback');

export interface AskableIterator<T> extends AsyncIterableIterator<T> {
  /** Calls the waiter once, immediately if something is already there; throws nothing. */
  [ASK](waiter: Waiter<T>): void;
}

/** Takes what a source yields, then is told once how it ended. */
export interface Consumer<T> {
  take(value: T): Pressure;
  end(): void;
  /** Throws nothing. */
  fail(reason: unknown): void;
}

/**
 * Calls `take` with everything the source yields. Resolves at the source's end, rejects with what it throws, or with
 * the signal's reason as soon as it aborts; a source that does not obey is abandoned and its late errors are swallowed.
 */
export function drive<T>(source: AsyncIterable<T>, signal: AbortSignal, take: (value: T) => Pressure): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    driveInto(source, signal, { take, end: resolve, fail: reject });
  });
}

/** The same without a promise, which every open answer would keep. Throws if the source cannot be opened. */
export function driveInto<T>(source: AsyncIterable<T>, signal: AbortSignal, consumer: Consumer<T>): void {
  new Driver(open(source), signal, consumer).start();
}

/** A class, because every open answer has one: closures would take three times the memory. */
class Driver<T> implements Waiter<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #signal: AbortSignal;
  readonly #consumer: Consumer<T>;
  #over = false;
  #arrivals = 0;

  constructor(iterator: AsyncIterator<T>, signal: AbortSignal, consumer: Consumer<T>) {
    this.#iterator = iterator;
    this.#signal = signal;
    this.#consumer = consumer;
  }

  start(): void {
    if (this.#signal.aborted) {
      this.#onAbort();
      return;
    }
    // Not `once`, which costs as much again.
    this.#signal.addEventListener('abort', this.#onAbort);
    this.#pull();
  }

  /** Something has arrived, or nothing more will. */
  resolve(result: IteratorResult<T>): void {
    if (this.#over) return;
    try {
      if (result.done) {
        this.#end();
        this.#consumer.end();
      } else this.#pass(result.value);
    } catch (error) {
      this.#breakOff(error);
    }
  }

  reject(error: unknown): void {
    if (this.#over) return;
    this.#end();
    this.#consumer.fail(error);
  }

  #pass(value: T): void {
    this.#arrivals += 1;
    const pressure = this.#consumer.take(value);
    if (pressure)
      pressure.then(
        () => this.#pull(),
        (error) => this.#breakOff(error),
      );
    else if (this.#arrivals % ARRIVALS_PER_TURN === 0) setImmediate(() => this.#pull());
    else this.#pull();
  }

  #pull(): void {
    if (this.#over) return;
    const iterator = this.#iterator;
    try {
      if (isAskable(iterator)) iterator[ASK](this);
      else
        iterator.next().then(
          (result) => this.resolve(result),
          (error) => this.reject(error),
        );
    } catch (error) {
      this.reject(error);
    }
  }

  /** What arrived could not be taken. */
  #breakOff(error: unknown): void {
    this.reject(error);
    abandon(this.#iterator);
  }

  readonly #onAbort = (): void => {
    this.reject(this.#signal.reason);
    abandon(this.#iterator);
  };

  #end(): void {
    this.#over = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** A plugin may return anything; a rejected promise instead of a source would end the process. */
function open<T>(source: AsyncIterable<T>): AsyncIterator<T> {
  if (typeof source?.[Symbol.asyncIterator] === 'function') return source[Symbol.asyncIterator]();
  ignore(source);
  throw new TypeError('the source is not an async iterable');
}

function isAskable<T>(iterator: AsyncIterator<T>): iterator is AskableIterator<T> {
  return ASK in iterator;
}

function abandon(iterator: AsyncIterator<unknown>): void {
  try {
    ignore(iterator.return?.());
  } catch {
    // A source that throws on return has nothing left to say.
  }
}

function ignore(result: unknown): void {
  Promise.resolve(result).catch(() => undefined);
}
