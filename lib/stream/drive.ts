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

/**
 * Calls `take` with everything the source yields. Resolves at the source's end, rejects with what it throws, or with
 * the signal's reason as soon as it aborts; a source that does not obey is abandoned and its late errors are swallowed.
 */
export function drive<T>(source: AsyncIterable<T>, signal: AbortSignal, take: (value: T) => Pressure): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const iterator = open(source);
    let over = false;
    let arrivals = 0;

    const end = (settle: () => void) => {
      if (over) return;
      over = true;
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = () => {
      end(() => reject(signal.reason));
      abandon(iterator);
    };
    const onError = (error: unknown) => end(() => reject(error));
    const onResult = (result: IteratorResult<T>) => {
      if (over) return;
      try {
        if (result.done) return end(resolve);
        arrivals += 1;
        const pressure = take(result.value);
        if (pressure) pressure.then(pull, onTakeError);
        else if (arrivals % ARRIVALS_PER_TURN === 0) setImmediate(pull);
        else pull();
      } catch (error) {
        onTakeError(error);
      }
    };
    const onTakeError = (error: unknown) => {
      onError(error);
      abandon(iterator);
    };
    const waiter = { resolve: onResult, reject: onError };
    const pull = () => {
      if (over) return;
      try {
        if (isAskable(iterator)) iterator[ASK](waiter);
        else iterator.next().then(onResult, onError);
      } catch (error) {
        onError(error);
      }
    };

    if (signal.aborted) return onAbort();
    // Not `once`, which costs as much again.
    signal.addEventListener('abort', onAbort);
    pull();
  });
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
