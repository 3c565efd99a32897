// The timeouts of one text call on one timer: first content, silence between contents, total time, heartbeats. Content of
// any kind shows that the upstream is at work: text, reasoning, a piece of a call, also of one that waits for its turn.
// Nothing runs for each of them: the timer asks when the last one came.

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
  /** When content last arrived, or the first reason to end, by `performance.now()`; 0 before both. */
  readonly workedAt: number;
  /** The upstream has given its reason to end, and no content has followed it. */
  readonly finished: boolean;
  /** Called every `heartbeatMs`. */
  onHeartbeat(): void;
  /** Called once, when a limit is exceeded. */
  onTimeout(): void;
}

const HEARTBEAT_MS = 15_000;

/** How long an upstream may keep the connection after its terminal signal, for late usage. */
const AFTER_FINISH_MS = 3_000;

const now = () => performance.now();

/** A class, because every open stream has one: closures would take three times the memory. */
export class Watch {
  readonly #idleMs: number;
  readonly #heartbeatMs: number;
  readonly #afterFinishMs: number;
  readonly #watched: Watched;
  readonly #firstDeadline: number;
  #totalDeadline: number;
  #heartbeatAt: number;
  #paused = false;
  /** When the reader last went on; 0 if it never was slow. */
  #resumedAt = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  /** When the timeouts are checked next. */
  #nextAt = Number.POSITIVE_INFINITY;

  constructor(options: WatchOptions) {
    const { firstTokenTimeoutMs, idleTimeoutMs, totalDeadline, watched } = options;
    const { heartbeatMs = HEARTBEAT_MS, afterFinishMs = AFTER_FINISH_MS } = options;
    this.#idleMs = idleTimeoutMs;
    this.#heartbeatMs = heartbeatMs;
    this.#afterFinishMs = Math.min(idleTimeoutMs, afterFinishMs);
    this.#watched = watched;
    this.#firstDeadline = now() + firstTokenTimeoutMs;
    this.#totalDeadline = totalDeadline;
    this.#heartbeatAt = now() + heartbeatMs;
    this.#arm();
  }

  /** The upstream has given its reason to end: unless content follows, it has little time left, for its counts. */
  noteFinish(): void {
    this.#arm();
  }

  /** From now on it has at most this long, whatever arrives. */
  limit(ms: number): void {
    this.#totalDeadline = Math.min(this.#totalDeadline, now() + ms);
    this.#arm();
  }

  /** The reader is slow and the upstream is paused: silence does not count until `resume`. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#resumedAt = now();
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** The timer is moved only if it would fire too late. */
  #arm(): void {
    if (this.#stopped) return;
    const at = Math.min(this.#findSilenceCheck(), this.#totalDeadline, this.#heartbeatAt);
    if (at >= this.#nextAt) return;
    clearTimeout(this.#timer);
    this.#nextAt = at;
    this.#timer = setTimeout(this.#check, Math.max(1, Math.ceil(at - now())));
  }

  readonly #check = (): void => {
    const at = now();
    this.#nextAt = Number.POSITIVE_INFINITY;
    if (at >= this.#totalDeadline || at >= this.#findSilenceDeadline()) {
      this.stop();
      this.#watched.onTimeout();
      return;
    }
    if (at >= this.#heartbeatAt) {
      this.#heartbeatAt = at + this.#heartbeatMs;
      this.#watched.onHeartbeat();
    }
    this.#arm();
  };

  #findSilenceDeadline(): number {
    if (this.#paused) return Number.POSITIVE_INFINITY;
    const workedAt = Math.max(this.#watched.workedAt, this.#resumedAt);
    if (workedAt === 0) return this.#firstDeadline;
    return workedAt + (this.#watched.finished ? this.#afterFinishMs : this.#idleMs);
  }

  /** The first content may come at any time, and have a shorter limit from then on. */
  #findSilenceCheck(): number {
    return Math.min(this.#findSilenceDeadline(), now() + this.#idleMs);
  }
}
