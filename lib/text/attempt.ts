// One attempt at one route: the upstream's parts through the guard to a sink, under the timeouts.

import { type Ending, endingOfAbort } from '../call/ending.ts';
import type { Route } from '../catalog/model.ts';
import { fault } from '../faults.ts';
import { toClientFault } from '../plugin/client-fault.ts';
import type { ProviderPart, TextCall } from '../plugin/contract.ts';
import { drive, type Pressure } from '../stream/drive.ts';
import { type CallsAllowed, createGuard } from '../stream/guard.ts';
import type { ReplyFinishPart, StreamPart } from '../stream/part.ts';
import { createWatch } from './watch.ts';

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
export async function attempt(options: AttemptOptions): Promise<Ending<ReplyFinishPart>> {
  const { model, calls = 'none', sink, signal, timeouts, deadline, outputMax, onFirst } = options;
  const guard = createGuard({ outputMax, calls });
  const upstream = new AbortController();
  const onAbort = () => upstream.abort(signal.reason);
  const watch = createWatch({
    firstTokenTimeoutMs: timeouts.firstTokenTimeoutMs,
    idleTimeoutMs: timeouts.idleTimeoutMs,
    totalDeadline: deadline,
    heartbeatMs: timeouts.heartbeatMs,
    onHeartbeat: () => sink.keepAlive(),
    onTimeout: () => upstream.abort(fault('upstream_timeout')),
  });
  let ending: Ending<ReplyFinishPart> | undefined;
  let hasText = false;
  sink.restart(model);

  const pass = (parts: readonly StreamPart[]): Pressure => {
    // Nothing after the stop string belongs to the answer, not even an error.
    if (sink.stopped !== undefined) return undefined;
    ending ??= endingOfParts(parts);
    const content = ending ? parts.slice(0, -1) : parts;
    const pressure = content.length > 0 ? sink.take(content) : undefined;
    if (ending?.type === 'error') sink.breakOff();
    if (sink.stopped !== undefined) ending = stoppedAt(sink.stopped);
    if (content.length === 0) return undefined;
    // Parts before the first text do not count as a first fragment.
    if (sink.hasText) {
      watch.touch();
      if (!hasText) onFirst();
      hasText = true;
    }
    if (sink.begun) watch.delivered();
    if (!pressure) return undefined;
    watch.pause();
    return pressure.then(() => watch.resume());
  };
  const take = (parts: readonly ProviderPart[]): Pressure => {
    const pressure = pass(guard.push(parts));
    if (guard.failed || guard.cut || sink.stopped !== undefined) upstream.abort(OVER);
    else if (guard.finished) watch.finished();
    return pressure;
  };

  signal.addEventListener('abort', onAbort);
  try {
    await drive(partsOf(options, upstream.signal), upstream.signal, take);
    pass(guard.end());
  } catch (error) {
    // An answer that had its terminal signal is complete, whatever happened afterwards.
    if (guard.finished || !signal.aborted) pass(guard.fail(toClientFault(error)));
    upstream.abort(OVER);
  } finally {
    watch.stop();
    signal.removeEventListener('abort', onAbort);
  }
  return ending ?? endingOfAbort(signal);
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
