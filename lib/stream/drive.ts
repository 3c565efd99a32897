// Pulls a source of parts to its end, one await per arrival; an abort frees the puller at once, whatever the source does.

/** What a consumer returns when it cannot take more for now. */
export type Pressure = Promise<void> | undefined;

/**
 * Calls `take` with everything the source yields. Resolves at the source's end, rejects with what it throws, or with the
 * signal's reason as soon as it aborts; a source that does not obey is left behind, its late errors are swallowed.
 */
export function drive<T>(source: AsyncIterable<T>, signal: AbortSignal, take: (value: T) => Pressure): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const iterator = source[Symbol.asyncIterator]();
    let over = false;

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
      if (result.done) return end(resolve);
      try {
        const pressure = take(result.value);
        if (pressure) pressure.then(pull, onTakeError);
        else pull();
      } catch (error) {
        onTakeError(error);
      }
    };
    const onTakeError = (error: unknown) => {
      onError(error);
      abandon(iterator);
    };
    const pull = () => {
      if (over) return;
      try {
        iterator.next().then(onResult, onError);
      } catch (error) {
        onError(error);
      }
    };

    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    pull();
  });
}

function abandon(iterator: AsyncIterator<unknown>): void {
  try {
    iterator.return?.()?.then(undefined, () => undefined);
  } catch {
    // A source that throws on return has nothing left to say.
  }
}
