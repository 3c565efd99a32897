// One attempt at one route: the upstream's parts through guard and meter to the delivery, under the clocks.
import type { Route } from '../catalog/catalog.ts';
import { type Fault, fault, toFault } from '../faults.ts';
import type { TextCall } from '../plugin/contract.ts';
import { toClientFault } from '../plugin/fault.ts';
import { drive, type Pressure } from '../stream/drive.ts';
import { createGuard } from '../stream/guard.ts';
import { createLimit } from '../stream/limit.ts';
import type { FinishPart, StreamPart } from '../stream/part.ts';
import { GONE, type HeldCall } from './call.ts';
import type { TextRequest } from './request.ts';
import { createWatch } from './watch.ts';

/** How the upstream's part of a call ended. */
export type Ending =
  | { readonly type: 'finish'; readonly part: FinishPart }
  | { readonly type: 'error'; readonly fault: Fault }
  | { readonly type: 'gone' };

/** The reason of an upstream's signal when its attempt is over; a constant, as an `AbortError` costs a stack trace. */
const OVER = Symbol('the attempt is over');

export async function attempt(call: HeldCall, route: Route, totalDeadline: number): Promise<Ending> {
  const { context, meter, delivery, timeouts } = call;
  const guard = createGuard();
  // A buffered model's answer may be longer; all of it is charged.
  const limit = createLimit(call.model.delivery === 'buffered' ? Number.POSITIVE_INFINITY : call.request.maxTokens);
  const upstream = new AbortController();
  const onAbort = () => upstream.abort(context.signal.reason);
  const watch = createWatch({
    firstTokenTimeoutMs: timeouts.firstTokenTimeoutMs,
    idleTimeoutMs: timeouts.idleTimeoutMs,
    totalDeadline,
    onHeartbeat: delivery.keepAlive,
    onTimeout: () => upstream.abort(fault('upstream_timeout')),
  });
  let ending: Ending | undefined;
  meter.restart();
  delivery.restart();

  const pass = (parts: readonly StreamPart[]): Pressure => {
    ending ??= endingOfParts(parts);
    const content = ending ? parts.slice(0, -1) : parts;
    if (content.length === 0) return undefined;
    meter.observe(content);
    // What comes before the first text does not count as a first fragment.
    if (meter.hasText) watch.touch();
    const pressure = delivery.write(content);
    if (delivery.begun) watch.delivered();
    if (!pressure) return undefined;
    watch.pause();
    return pressure.then(watch.resume);
  };
  const take = (parts: readonly StreamPart[]): Pressure => {
    if (limit.reached) return undefined;
    const valid = guard.push(parts);
    const pressure = pass(limit.take(valid, { running: !guard.finished }));
    if (guard.failed || limit.reached) upstream.abort(OVER);
    else if (guard.finished) watch.finished();
    return pressure;
  };

  context.signal.addEventListener('abort', onAbort);
  try {
    await drive(parts(route, call.request, upstream.signal), upstream.signal, take);
    pass(guard.end());
  } catch (error) {
    // An answer that had its terminal signal is complete, whatever broke off what follows.
    if (guard.finished || !context.signal.aborted) pass(guard.fail(toClientFault(error)));
    upstream.abort(OVER);
  } finally {
    watch.stop();
    context.signal.removeEventListener('abort', onAbort);
  }
  return ending ?? endingOfAbort(context.signal);
}

export function endingOfAbort({ reason }: AbortSignal): Ending {
  return reason === GONE ? { type: 'gone' } : { type: 'error', fault: toFault(reason) };
}

function parts(route: Route, request: TextRequest, signal: AbortSignal): AsyncIterable<readonly StreamPart[]> {
  const { provider, model, options } = route;
  if (!provider.text) throw new Error(`upstream ${route.upstream} cannot answer text`);
  const { system, messages, maxTokens } = request;
  const call: TextCall = { model, messages, maxTokens, options, ...(system !== undefined && { system }) };
  return provider.text(call, signal);
}

/** The guard's last word; it is the last of its parts. */
function endingOfParts(parts: readonly StreamPart[]): Ending | undefined {
  const last = parts.at(-1);
  if (last?.type === 'finish') return { type: 'finish', part: last };
  if (last?.type === 'error') return { type: 'error', fault: last.fault };
  return undefined;
}
