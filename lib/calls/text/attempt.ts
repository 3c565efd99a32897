// One attempt at one route: the upstream's parts through the pipeline to the output, under the time limits.

import { rejectOnAbort } from '../../base/abort.ts';
import { fault } from '../../base/faults.ts';
import type { Route } from '../../catalog/model.ts';
import type { PromptTokens } from '../../money/price.ts';
import type { ErrorPart, FinishPart } from '../../stream/part.ts';
import { pipeline } from '../../stream/pipeline.ts';
import type { ProviderPart, TextCall } from '../../upstream/contract/provider.ts';
import { toClientFault } from '../../upstream/host/client-fault.ts';
import { nameUpstream, PluginRun, runPlugin } from '../../upstream/host/plugin-run.ts';
import { type Ending, toAbortEnding, toErrorEnding } from '../ending.ts';
import { fitArguments, restoreArguments } from './argument-names.ts';
import type { DeliveryListener } from './delivery.ts';
import type { TextOutput } from './output.ts';
import { createTextPipeline, type TextPipeline, type TextPipelineOptions } from './pipeline.ts';
import { fitTools, restoreNames } from './tool-rules.ts';
import { Watch, type Watched } from './watch.ts';

export interface AttemptOptions<Out> {
  readonly route: Route;
  readonly call: AttemptedCall;
  readonly pipeline: Pick<TextPipelineOptions<Out>, 'guard' | 'meter' | 'extra' | 'delivery'>;
  /** Absent if there are none. */
  readonly stops?: readonly string[] | undefined;
  readonly output: TextOutput<Out>;
  /** The signal of the call. */
  readonly signal: AbortSignal;
  readonly timeouts: TextTimeouts;
  /** On the clock of `performance.now()`: shared by all routes. */
  readonly deadline: number;
}

/** The call that an attempt is made for. */
export interface AttemptedCall {
  /** Makes the request, which the attempt does not keep; the route adds its model and options. */
  createCall(): Omit<TextCall, 'model' | 'options'>;
  /** After a stop string, whether the upstream may be read on for its counts. */
  isCovered(): boolean;
  /** The prompt as it is billed. */
  promptAsBilled(counted: PromptTokens): PromptTokens;
  /** The first text has arrived. */
  onText(): void;
  /** The answer has to wait for memory. */
  onWait(): void;
  /** The first fragment is about to be passed on. */
  onBegin(): void;
}

export interface TextTimeouts {
  /** Until the first content of any kind. */
  readonly firstTokenTimeoutMs: number;
  /** Between contents. */
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** How often a stream on which nothing is sent shows that it is alive. */
  readonly heartbeatMs?: number | undefined;
}

/**
 * The abort reason of an upstream's signal when its attempt is over; a constant, because an `AbortError` costs a stack
 * trace.
 */
const OVER = Symbol('the attempt is over');

/** How long an upstream is read on for its counts after a stop string was found. */
const AFTER_STOP_MS = 5_000;

/** A class, because every open answer has one: closures would take three times the memory. */
export class TextAttempt<Out> implements Watched, DeliveryListener {
  /** The transforms of this attempt, with their counts so far. */
  readonly pipe: TextPipeline;
  /** The requests that the plugin has sent. */
  readonly run: PluginRun;
  /** On the clock of `performance.now()`. */
  readonly startedAt = performance.now();
  /** When the first text arrived; undefined if none has. */
  firstAt: number | undefined;
  readonly #watch: Watch;
  readonly #upstream = new AbortController();
  readonly #call: AttemptedCall;
  readonly #output: TextOutput<Out>;
  readonly #signal: AbortSignal;

  constructor(options: AttemptOptions<Out>) {
    const { route, call, stops, output, signal, timeouts, deadline } = options;
    this.#call = call;
    this.#output = output;
    this.#signal = signal;
    this.run = new PluginRun(nameUpstream(route.upstream), this.#abort);
    this.run.memory = options.pipeline.guard.memory;
    if (this.run.memory) this.run.memory.listener = this;
    this.pipe = createTextPipeline({
      ...options.pipeline,
      guard: { ...options.pipeline.guard, onFinish: () => this.#watch.noteFinish() },
      stops: stops && {
        strings: stops,
        onMatch: () => this.#watch.limit(AFTER_STOP_MS),
        isCovered: () => call.isCovered(),
      },
      listener: this,
      output,
    });
    this.#watch = new Watch({ ...timeouts, totalDeadline: deadline, watched: this });
  }

  /** Never rejects. Unhandled errors of the plugin are attributed by the async context that it starts in. */
  start(route: Route): Promise<Ending<FinishPart>> {
    return runPlugin(this.run, () => this.#answer(route));
  }

  async #answer(route: Route): Promise<Ending<FinishPart>> {
    const signal = this.#signal;
    signal.addEventListener('abort', this.#onAbort);
    if (signal.aborted) this.#onAbort();
    let isWhole = false;
    try {
      // The upstream is not read while the client is slow; one that takes nothing must not outlive an abort.
      for await (const wait of this.#read(route)) {
        this.#watch.pause();
        await rejectOnAbort(Promise.all(wait), this.#upstream.signal);
        this.#watch.resume();
      }
      isWhole = !this.pipe.transforms.some(({ done }) => done);
      return concludeAttempt(this.pipe, signal);
    } catch (error) {
      return signal.aborted ? toAbortEnding(signal) : toErrorEnding(error);
    } finally {
      this.#watch.stop();
      signal.removeEventListener('abort', this.#onAbort);
      if (!isWhole) this.#abort(OVER);
      this.run.end();
    }
  }

  #read(route: Route): AsyncIterable<readonly Promise<void>[]> {
    const { signal } = this.#upstream;
    return pipeline<ProviderPart | ErrorPart, Promise<void>>({
      source: () => openText(route, this.#call.createCall(), signal),
      transforms: this.pipe.transforms,
      signal,
      onError: toErrorPart,
    });
  }

  readonly #onAbort = (): void => this.#abort(this.#signal.reason);

  /** The plugin's listeners are its own code. */
  readonly #abort = (reason: unknown): void => runPlugin(this.run, () => this.#upstream.abort(reason));

  get workedAt(): number {
    return this.pipe.guard.workedAt;
  }

  get finished(): boolean {
    return this.pipe.guard.finished;
  }

  onHeartbeat(): void {
    this.#output.sink.heartbeat();
  }

  onTimeout(): void {
    this.#abort(fault(this.run.memory?.isWaiting ? 'no_room_for_answer' : 'upstream_timeout'));
  }

  prompt(): PromptTokens {
    return this.#call.promptAsBilled(this.pipe.meter.promptSoFar());
  }

  onText(): void {
    this.firstAt = performance.now();
    this.#call.onText();
  }

  /** The upstream is not read meanwhile. */
  onWait(): void {
    this.#watch.pause();
    this.#call.onWait();
  }

  onRoom(): void {
    this.#watch.resume();
  }

  onBegin(): void {
    this.#call.onBegin();
  }
}

function toErrorPart(error: unknown): ErrorPart {
  return { type: 'error', fault: toClientFault(error) };
}

function openText(route: Route, asked: ReturnType<AttemptedCall['createCall']>, signal: AbortSignal) {
  const { provider, model, options, upstream } = route;
  if (!provider.text) throw new Error(`upstream ${upstream} cannot answer text`);
  const named = fitTools({ ...asked, model, options }, provider);
  const { call, clientNames } = fitArguments(named.call, provider);
  return restoreArguments(restoreNames(provider.text(call, signal), named.clientNames), clientNames);
}

/** An answer that had its terminal signal is complete, whatever happened afterwards. */
function concludeAttempt({ delivery }: TextPipeline, signal: AbortSignal): Ending<FinishPart> {
  const { ending } = delivery;
  if (ending?.type === 'finish') return { type: 'finish', result: ending };
  if (signal.aborted) return toAbortEnding(signal);
  return toErrorEnding(ending?.fault ?? fault('upstream_failed'));
}
