// The timeouts of one text call on one timer: first fragment, silence between fragments, total time, heartbeats.
// Content of any kind shows that the upstream is at work: text, reasoning, a piece of a call, also of one that waits
// for its turn.
import type { ErrorPart, ProviderPart } from '../../stream/part.ts';
import type { Transform } from '../../stream/pipeline.ts';

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

type Incoming = ProviderPart | ErrorPart;

/**
 * Passes everything on. After the upstream's reason to end, unless content follows it, there is little time for its
 * counts.
 */
export interface Watch extends Transform<Incoming> {
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
  readonly #idleMs: number;
  readonly #heartbeatMs: number;
  readonly #afterFinishMs: number;
  readonly #watched: Watched;
  #silenceDeadline: number;
  #totalDeadline: number;
  #heartbeatAt: number;
  /** The upstream has given its reason to end. */
  #isFinished = false;
  /** Content followed a finish, so the next one may not be the last. */
  #isFollowed = false;
  #paused = false;
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
    this.#silenceDeadline = now() + firstTokenTimeoutMs;
    this.#totalDeadline = totalDeadline;
    this.#heartbeatAt = now() + heartbeatMs;
    this.#arm();
  }

  push(batch: readonly Incoming[]): readonly Incoming[] {
    let isAtWork = false;
    for (const part of batch) {
      if (part?.type === 'finish') {
        isAtWork ||= !this.#isFinished;
        this.#isFinished = true;
      } else if (isContent(part)) {
        isAtWork = true;
        this.#isFollowed ||= this.#isFinished;
      }
    }
    if (isAtWork) this.#allowSilence();
    return batch;
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
    this.#allowSilence();
  }

  delivered(): void {
    this.#heartbeatAt = Number.POSITIVE_INFINITY;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Silence counts from now; the timer is moved only if it would fire too late. */
  #allowSilence(): void {
    const isOver = this.#isFinished && !this.#isFollowed;
    this.#silenceDeadline = now() + (isOver ? this.#afterFinishMs : this.#idleMs);
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
    if (at >= this.#totalDeadline || (!this.#paused && at >= this.#silenceDeadline)) {
      this.stop();
      this.#watched.onTimeout();
      return;
    }
    if (at >= this.#heartbeatAt) {
      this.#heartbeatAt = at + this.#heartbeatMs;
      this.#watched.onHeartbeat();
    }
    if (!this.#stopped) this.#arm();
  };
}

/** Counts, comments and pings are not content. */
function isContent(part: Incoming): boolean {
  switch (part?.type) {
    case 'block-delta':
      return part.text !== '';
    case 'block-start':
      return part.block?.type === 'tool';
    case 'block-state':
    case 'block-citation':
    case 'alive':
      return true;
    default:
      return false;
  }
}
