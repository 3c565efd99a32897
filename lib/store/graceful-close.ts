// A store wrapper that tracks running calls, so that closing waits for them.
import { mapCalls } from './port-calls.ts';
import { type Store, StoreError } from './store.ts';

/** Closing waits for running calls and refuses later ones. */
export function withGracefulClose(store: Omit<Store, 'close'>, end: () => Promise<void>): Store {
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  function rejectIfClosed(): void {
    if (closing) throw new StoreError('the store is closed', 'no');
  }

  async function track<T>(work: () => Promise<T>): Promise<T> {
    rejectIfClosed();
    const result = work();
    running.add(result);
    try {
      return await result;
    } finally {
      running.delete(result);
    }
  }

  /** Closing does not wait for the reader of a stream; the stream fails instead. */
  async function* trackStream<T>(stream: AsyncIterable<T>): AsyncGenerator<T> {
    rejectIfClosed();
    for await (const part of stream) {
      rejectIfClosed();
      yield part;
    }
  }

  async function close(): Promise<void> {
    await Promise.allSettled(running);
    await end();
  }

  return {
    ...mapCalls(
      store,
      (call) =>
        (...args) =>
          track(() => call(...args)),
      (call) =>
        (...args) =>
          trackStream(call(...args)),
    ),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
