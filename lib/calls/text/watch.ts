// The timeouts of one text call on one timer: first fragment, silence between fragments, total time, heartbeats.

export interface WatchOptions {
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** On the clock of `performance.now()`. */
  readonly totalDeadline: number;
  readonly heartbeatMs?: number | undefined;
  readonly afterFinishMs?: number;
  readonly watched: Watched;
}

export interface Watched {
  /** Called every `heartbeatMs` until `delivered`. */
  onHeartbeat(): void;
  /** Called once, when a limit is exceeded. */
  onTimeout(): void;
}

export interface Watch {
  /** Content has arrived. */
  touch(): void;
  /** The upstream gave its reason to end: unless content follows, it gets little time for its counts. */
  finished(): void;
  /** From now on it has at most this long, whatever arrives. */
  limit(ms: number): void;
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
  return new TimerWatch(options);
}

/** A class, because every open stream has one: closures would take three times the memory. */
class TimerWatch implements Watch {
  readonly #options: WatchOptions;
  #silenceDeadline: number;
  #totalDeadline: number;
  #heartbeatAt: number;
  #isFinished = false;
  #paused = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  /** When the timeouts are checked next. */
  #nextAt = Number.POSITIVE_INFINITY;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#silenceDeadline = now() + options.firstTokenTimeoutMs;
    this.#totalDeadline = options.totalDeadline;
    this.#heartbeatAt = now() + this.#heartbeatMs();
    this.#arm();
  }

  /** Silence counts from now; the timer is moved only if it would fire too late. */
  touch(): void {
    this.#isFinished = false;
    this.#allow(this.#options.idleTimeoutMs);
  }

  finished(): void {
    if (!this.#isFinished) this.#allow(this.#afterFinishMs());
    this.#isFinished = true;
  }

  limit(ms: number): void {
    this.#totalDeadline = Math.min(this.#totalDeadline, now() + ms);
    if (!this.#stopped) this.#arm();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#allow(this.#isFinished ? this.#afterFinishMs() : this.#options.idleTimeoutMs);
  }

  delivered(): void {
    this.#heartbeatAt = Number.POSITIVE_INFINITY;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #heartbeatMs(): number {
    return this.#options.heartbeatMs ?? HEARTBEAT_MS;
  }

  #afterFinishMs(): number {
    const { idleTimeoutMs, afterFinishMs = AFTER_FINISH_MS } = this.#options;
    return Math.min(idleTimeoutMs, afterFinishMs);
  }

  #allow(ms: number): void {
    this.#silenceDeadline = now() + ms;
    if (this.#silenceDeadline < this.#nextAt && !this.#stopped) this.#arm();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const silenceAt = this.#paused ? Number.POSITIVE_INFINITY : this.#silenceDeadline;
    this.#nextAt = Math.min(silenceAt, this.#totalDeadline, this.#heartbeatAt);
    this.#timer = setTimeout(this.#check, Math.max(1, Math.ceil(this.#nextAt - now())));
  }

  readonly #check = (): void => {
    const at = now();
    const { watched } = this.#options;
    if (at >= this.#totalDeadline || (!this.#paused && at >= this.#silenceDeadline)) {
      this.stop();
      watched.onTimeout();
      return;
    }
    if (at >= this.#heartbeatAt) {
      this.#heartbeatAt = at + this.#heartbeatMs();
      watched.onHeartbeat();
    }
    if (!this.#stopped) this.#arm();
  };
}
