// Time limits for a fetch and its steps.
import { setTimeout as delay } from 'node:timers/promises';
import { FetchFailure } from './failure.ts';

/** Runs with a signal that aborts with the outer one, or with a `slow` failure after `ms`. */
export async function withDeadline<T>(
  ms: number,
  outer: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer.throwIfAborted();
  const controller = new AbortController();
  const onAbort = () => controller.abort(outer.reason);
  outer.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => controller.abort(new FetchFailure('slow')), ms);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', onAbort);
  }
}

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
