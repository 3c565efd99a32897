// The timeouts of one text call on one timer: first fragment, silence between fragments, total time, heartbeats.

export interface WatchOptions {
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** On the clock of `performance.now()`. */
  readonly totalDeadline: number;
  /** Called every `heartbeatMs` until `delivered`. */
  readonly onHeartbeat: () => void;
  /** Called once, when a limit is exceeded. */
  readonly onTimeout: () => void;
  readonly heartbeatMs?: number | undefined;
  readonly afterFinishMs?: number;
}

export interface Watch {
  /** A part of the answer arrived. */
  touch(): void;
  /** The terminal signal arrived: whatever follows gets little time in total, however it is spread. */
  finished(): void;
  /** The reader is slow and the upstream is paused: silence does not count until `resume`. */
  pause(): void;
  resume(): void;
  /** The client got its first fragment: no more heartbeats. */
  delivered(): void;
  stop(): void;
}

const HEARTBEAT_MS = 15_000;

/** How long an upstream may keep the connection after its terminal signal, for late usage. */
const AFTER_FINISH_MS = 3_000;

const now = () => performance.now();

export function createWatch(options: WatchOptions): Watch {
  const { firstTokenTimeoutMs, idleTimeoutMs, totalDeadline, onHeartbeat, onTimeout } = options;
  const { heartbeatMs = HEARTBEAT_MS } = options;
  const afterFinishMs = Math.min(idleTimeoutMs, options.afterFinishMs ?? AFTER_FINISH_MS);
  let silenceDeadline = now() + firstTokenTimeoutMs;
  let isFinished = false;
  let heartbeatAt = now() + heartbeatMs;
  let paused = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  /** When the timeouts are checked next. */
  let nextAt = Number.POSITIVE_INFINITY;

  function arm(): void {
    clearTimeout(timer);
    nextAt = Math.min(paused ? Number.POSITIVE_INFINITY : silenceDeadline, totalDeadline, heartbeatAt);
    timer = setTimeout(check, Math.max(1, Math.ceil(nextAt - now())));
  }

  function check(): void {
    const at = now();
    if (at >= totalDeadline || (!paused && at >= silenceDeadline)) {
      stop();
      onTimeout();
      return;
    }
    if (at >= heartbeatAt) {
      heartbeatAt = at + heartbeatMs;
      onHeartbeat();
    }
    if (!stopped) arm();
  }

  /** Silence counts from now; the timer is moved only if it would fire too late. */
  function touch(): void {
    if (!isFinished) allow(idleTimeoutMs);
  }

  function allow(ms: number): void {
    silenceDeadline = now() + ms;
    if (silenceDeadline < nextAt && !stopped) arm();
  }

  function stop(): void {
    stopped = true;
    clearTimeout(timer);
  }

  arm();
  return {
    touch,
    finished() {
      if (!isFinished) allow(afterFinishMs);
      isFinished = true;
    },
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      allow(isFinished ? afterFinishMs : idleTimeoutMs);
    },
    delivered() {
      heartbeatAt = Number.POSITIVE_INFINITY;
    },
    stop,
  };
}
