// One attempt at one route: the upstream's parts through the pipeline to the output, under the time limits.
import { fault } from '../../base/faults.ts';
import type { Route } from '../../catalog/model.ts';
import type { ErrorPart, ReplyFinishPart } from '../../stream/part.ts';
import { openSource, pipeline } from '../../stream/pipeline.ts';
import type { ProviderPart, TextCall } from '../../upstream/contract/provider.ts';
import { toClientFault } from '../../upstream/host/client-fault.ts';
import { nameUpstream, PluginRun, runPlugin } from '../../upstream/host/plugin-errors.ts';
import { type Ending, toAbortEnding, toErrorEnding } from '../ending.ts';
import type { TextOutput } from './output.ts';
import { createTextPipeline, type TextPipeline, type TextPipelineOptions } from './pipeline.ts';
import { fitTools, restoreNames } from './tool-rules.ts';
import { createWatch, type Watch } from './watch.ts';

export interface AttemptOptions<Out> {
  readonly route: Route;
  /** Makes the request, which the attempt does not keep; the route adds its model and options. */
  readonly createCall: () => Omit<TextCall, 'model' | 'options'>;
  readonly pipeline: Omit<TextPipelineOptions<Out>, 'progress' | 'output'>;
  readonly output: TextOutput<Out>;
  /** The signal of the call. */
  readonly signal: AbortSignal;
  readonly timeouts: TextTimeouts;
  /** On the clock of `performance.now()`: shared by all routes. */
  readonly deadline: number;
}

export interface TextTimeouts {
  /** Until the first content of any kind. */
  readonly firstTokenTimeoutMs: number;
  /** Between contents. */
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** How often a stream without a fragment yet sends a heartbeat. */
  readonly heartbeatMs?: number | undefined;
}

export interface Attempt {
  /** What has arrived so far. */
  readonly pipe: TextPipeline;
  /** The id of the upstream's key that it was sent with; undefined if there is none. */
  readonly keyId: string | undefined;
  /** Never rejects. */
  run(): Promise<Ending<ReplyFinishPart>>;
}

/**
 * The abort reason of an upstream's signal when its attempt is over; a constant, because an `AbortError` costs a stack
 * trace.
 */
const OVER = Symbol('the attempt is over');

/** How long an upstream is read on for its counts after a stop string was found. */
const AFTER_STOP_MS = 5_000;

export function createAttempt<Out>(options: AttemptOptions<Out>): Attempt {
  const { route, output, signal, timeouts, deadline } = options;
  const upstream = new AbortController();
  /** The plugin's listeners are its own code. */
  const abort = (reason: unknown) => runPlugin(run, () => upstream.abort(reason));
  const run = new PluginRun(nameUpstream(route.upstream), abort);
  const watch = createWatch({
    firstTokenTimeoutMs: timeouts.firstTokenTimeoutMs,
    idleTimeoutMs: timeouts.idleTimeoutMs,
    totalDeadline: deadline,
    heartbeatMs: timeouts.heartbeatMs,
    watched: { onHeartbeat: () => output.keepAlive(), onTimeout: () => abort(fault('upstream_timeout')) },
  });
  const pipe = createTextPipeline({ ...addWatch(watch, options.pipeline), output });

  async function attempt(): Promise<Ending<ReplyFinishPart>> {
    const onAbort = () => abort(signal.reason);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    let isWhole = false;
    try {
      const waits = pipeline<ProviderPart | ErrorPart, Promise<void>>({
        source: { [Symbol.asyncIterator]: () => openSource(openText(options, upstream.signal)) },
        transforms: pipe.transforms,
        signal: upstream.signal,
        onError: (error) => ({ type: 'error', fault: toClientFault(error) }),
      });
      // Nothing is read of the upstream meanwhile.
      for await (const wait of waits) {
        watch.pause();
        await untilAborted(Promise.all(wait), upstream.signal);
        watch.resume();
      }
      isWhole = !pipe.transforms.some(({ done }) => done);
      return concludeAttempt(pipe, signal);
    } catch (error) {
      return signal.aborted ? toAbortEnding(signal) : toErrorEnding(error);
    } finally {
      watch.stop();
      signal.removeEventListener('abort', onAbort);
      if (!isWhole) abort(OVER);
      run.end();
    }
  }

  return {
    pipe,
    get keyId() {
      return run.keyId;
    },
    // What the plugin leaves unhandled is told by the context that it was started in.
    run: () => runPlugin(run, attempt),
  };
}

/** The watch sees what arrives and what leaves. */
function addWatch<Out>(
  watch: Watch,
  options: AttemptOptions<Out>['pipeline'],
): Omit<TextPipelineOptions<Out>, 'output'> {
  const { stops, delivery } = options;
  return {
    ...options,
    progress: { onContent: () => watch.touch(), onFinish: () => watch.finished() },
    stops: stops && { ...stops, onMatch: () => watch.limit(AFTER_STOP_MS) },
    delivery: {
      ...delivery,
      onBegin() {
        watch.delivered();
        delivery.onBegin?.();
      },
    },
  };
}

function openText<Out>({ route, createCall }: AttemptOptions<Out>, signal: AbortSignal) {
  const { provider, model, options, upstream } = route;
  if (!provider.text) throw new Error(`upstream ${upstream} cannot answer text`);
  const { call, clientNames } = fitTools({ ...createCall(), model, options }, provider);
  return restoreNames(provider.text(call, signal), clientNames);
}

/** An answer that had its terminal signal is complete, whatever happened afterwards. */
function concludeAttempt({ delivery }: TextPipeline, signal: AbortSignal): Ending<ReplyFinishPart> {
  const { ending } = delivery;
  if (ending?.type === 'finish') return { type: 'finish', result: ending };
  if (signal.aborted) return toAbortEnding(signal);
  return toErrorEnding(ending?.fault ?? fault('upstream_failed'));
}

/** A client that takes nothing any more must not keep the attempt waiting. */
function untilAborted(pressure: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    pressure.then(() => resolve(), reject).finally(() => signal.removeEventListener('abort', onAbort));
    if (signal.aborted) onAbort();
  });
}
