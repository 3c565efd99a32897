// Waits in a queue for a turn that may not come in time.

interface TurnWait {
  /** Joins the queue, which calls `onTurn`, later and once. Returns how to leave it. */
  join(onTurn: () => void): () => void;
  readonly signal: AbortSignal;
  readonly waitMsMax: number;
  /** Of a turn that has not come in time. */
  makeLateError(): Error;
}

/** Rejects with the late error, or with the signal's reason; has left the queue when it settles. */
export function waitForTurn({ join, signal, waitMsMax, makeLateError }: TurnWait): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      leave();
      settle();
    };
    const onAbort = () => end(() => reject(signal.reason));
    const leave = join(() => end(resolve));
    const timer = setTimeout(() => end(() => reject(makeLateError())), waitMsMax).unref();
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}
