// Waits that end early when a signal aborts.
import { setTimeout as delay } from 'node:timers/promises';

/** Settles like the promise, or rejects when the signal aborts. */
export function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Waits until a whole number of steps has passed since `startedAt`. Throws the signal's reason if it aborts first. */
export async function waitForStep(startedAt: number, stepMs: number, signal: AbortSignal): Promise<void> {
  const passed = performance.now() - startedAt;
  await abortableDelay(stepMs - (passed % stepMs), signal);
}

/** Throws the signal's reason if it aborts first. */
export async function abortableDelay(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
