// One attempt at one route: the upstream's parts through the guard to a sink, under the timeouts.

import { fault } from '../../base/faults.ts';
import type { Route } from '../../catalog/model.ts';
import { type Consumer, driveInto, type Pressure } from '../../stream/drive.ts';
import { type CallsAllowed, createGuard, type Guard } from '../../stream/guard.ts';
import type { ReplyFinishPart, StreamPart } from '../../stream/part.ts';
import type { ProviderPart, TextCall } from '../../upstream/contract/provider.ts';
import { toClientFault } from '../../upstream/host/client-fault.ts';
import { nameUpstream, PluginRun, runPlugin } from '../../upstream/host/stray.ts';
import { type Ending, toAbortEnding, toErrorEnding } from '../ending.ts';
import { createWatch, type Watch, type Watched } from './watch.ts';

export interface AttemptOptions {
  readonly route: Route;
  /** The model that the route leads to. */
  readonly model: string;
  /** The tool calls that the answer may have: others are dropped. */
  readonly calls?: CallsAllowed;
  /** Makes the request, which the attempt does not keep; the route adds its model and options. */
  readonly call: () => Omit<TextCall, 'model' | 'options'>;
  /** The maximum output of the upstream: beyond it the answer is cut and the upstream closed. */
  readonly outputMax: number;
  readonly sink: AnswerSink;
  /** The signal of the call. */
  readonly signal: AbortSignal;
  readonly timeouts: TextTimeouts;
  /** On the clock of `performance.now()`: shared by all routes. */
  readonly deadline: number;
  /** Called when the first text has arrived. */
  readonly onFirst: () => void;
}

export interface TextTimeouts {
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** How often a stream without a fragment yet sends a heartbeat. */
  readonly heartbeatMs?: number | undefined;
}

/** Where the parts of an answer go. */
export interface AnswerSink {
  /** A new attempt at a model: what a failed one sent is forgotten. */
  restart(model: string): void;
  /** Parts up to the ending, which is not among them. */
  take(parts: readonly StreamPart[]): Pressure;
  /** The answer broke off: passes on what was held back, if a fragment was sent before. */
  breakOff(): void;
  /** Nothing has arrived for a while. */
  keepAlive(): void;
  /** True once text has arrived. */
  readonly hasText: boolean;
  /** True once a fragment is on its way to the client. */
  readonly begun: boolean;
  /** The client's stop string, once it was found: nothing more is wanted. */
  readonly stopped: string | undefined;
}

/**
 * The abort reason of an upstream's signal when its attempt is over; a constant, because an `AbortError` costs a stack
 * trace.
 */
const OVER = Symbol('the attempt is over');

/** Never rejects. */
export function attempt(options: AttemptOptions): Promise<Ending<ReplyFinishPart>> {
  return new Promise((resolve) => new Attempt(options, resolve).start());
}

/** A class, because every open answer has one: closures and a function that waits would take three times the memory. */
class Attempt implements Consumer<readonly ProviderPart[]>, Watched {
  readonly #options: AttemptOptions;
  readonly #resolve: (ending: Ending<ReplyFinishPart>) => void;
  readonly #guard: Guard;
  readonly #upstream = new AbortController();
  readonly #watch: Watch;
  readonly #run: PluginRun;
  #ending: Ending<ReplyFinishPart> | undefined;
  #hasText = false;

  constructor(options: AttemptOptions, resolve: (ending: Ending<ReplyFinishPart>) => void) {
    const { calls = 'none', timeouts, deadline, outputMax } = options;
    this.#options = options;
    this.#resolve = resolve;
    this.#guard = createGuard({ outputMax, calls });
    this.#run = new PluginRun(nameUpstream(options.route.upstream), (error) => this.#abort(error));
    this.#watch = createWatch({
      firstTokenTimeoutMs: timeouts.firstTokenTimeoutMs,
      idleTimeoutMs: timeouts.idleTimeoutMs,
      totalDeadline: deadline,
      heartbeatMs: timeouts.heartbeatMs,
      watched: this,
    });
  }

  start(): void {
    const { sink, model, signal } = this.#options;
    const upstream = this.#upstream.signal;
    sink.restart(model);
    signal.addEventListener('abort', this.#onAbort);
    try {
      runPlugin(this.#run, () => driveInto(partsOf(this.#options, upstream), upstream, this));
    } catch (error) {
      this.fail(error);
    }
  }

  take(parts: readonly ProviderPart[]): Pressure {
    const guard = this.#guard;
    const pressure = this.#pass(guard.push(parts));
    if (guard.failed || guard.cut || this.#options.sink.stopped !== undefined) this.#abort(OVER);
    else if (guard.finished) this.#watch.finished();
    return pressure;
  }

  end(): void {
    try {
      this.#pass(this.#guard.end());
      this.#settle();
    } catch (error) {
      this.fail(error);
    }
  }

  fail(reason: unknown): void {
    const { signal } = this.#options;
    try {
      // An answer that had its terminal signal is complete, whatever happened afterwards.
      if (this.#guard.finished || !signal.aborted) this.#pass(this.#guard.fail(toClientFault(reason)));
    } catch (error) {
      this.#ending = toErrorEnding(error);
    }
    this.#abort(OVER);
    this.#settle();
  }

  onHeartbeat(): void {
    this.#options.sink.keepAlive();
  }

  onTimeout(): void {
    this.#abort(fault('upstream_timeout'));
  }

  readonly #onAbort = (): void => this.#abort(this.#options.signal.reason);

  /** The plugin's listeners are its own code. */
  #abort(reason: unknown): void {
    runPlugin(this.#run, () => this.#upstream.abort(reason));
  }

  #settle(): void {
    const { signal } = this.#options;
    this.#watch.stop();
    this.#run.end();
    signal.removeEventListener('abort', this.#onAbort);
    this.#resolve(this.#ending ?? toAbortEnding(signal));
  }

  #pass(parts: readonly StreamPart[]): Pressure {
    const { sink, onFirst } = this.#options;
    this.#ending ??= endingOfParts(parts);
    const content = this.#ending ? parts.slice(0, -1) : parts;
    const pressure = content.length > 0 ? sink.take(content) : undefined;
    if (this.#ending?.type === 'error') sink.breakOff();
    if (sink.stopped !== undefined) this.#ending = stoppedAt(sink.stopped);
    if (content.length === 0) return undefined;
    // Parts before the first text do not count as a first fragment.
    if (sink.hasText) {
      this.#watch.touch();
      if (!this.#hasText) onFirst();
      this.#hasText = true;
    }
    if (sink.begun) this.#watch.delivered();
    if (!pressure) return undefined;
    this.#watch.pause();
    return pressure.then(() => this.#watch.resume());
  }
}

function partsOf({ route, call }: AttemptOptions, signal: AbortSignal): AsyncIterable<readonly ProviderPart[]> {
  const { provider, model, options, upstream } = route;
  if (!provider.text) throw new Error(`upstream ${upstream} cannot answer text`);
  return provider.text({ ...call(), model, options }, signal);
}

/** The guard's last word, which is the last of its parts. */
function endingOfParts(parts: readonly StreamPart[]): Ending<ReplyFinishPart> | undefined {
  const last = parts.at(-1);
  if (last?.type === 'finish') return { type: 'finish', result: last };
  if (last?.type === 'error') return { type: 'error', fault: last.fault };
  return undefined;
}

function stoppedAt(sequence: string): Ending<ReplyFinishPart> {
  return { type: 'finish', result: { type: 'finish', reason: 'stop', sequence } };
}
