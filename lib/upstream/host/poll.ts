// Polls an upstream until it has the result.

import type { UpstreamFault, UpstreamFaultKind } from '../contract/fault.ts';
import type { HostClock, Poll, Polling } from '../contract/host.ts';
import { isUpstreamFault } from './fault.ts';

/** Kinds that say nothing about the job itself. */
const PASSING: ReadonlySet<UpstreamFaultKind> = new Set([
  'network',
  'timeout',
  'rate',
  'overloaded',
  'server',
  'protocol',
]);

/** How some answer while a job, or the result of a finished one, is not there yet. */
const NOT_YET: ReadonlySet<number | undefined> = new Set([400, 404, 409, 425]);

const ERRORS_MAX = 5;
const GROWTH = 1.25;
const GROWTH_MAX = 5;
const ERROR_GROWTH = 2;
/** Spreads out the polls of calls that started together. */
const JITTER = 0.2;

interface PollTools {
  readonly sleep: HostClock['sleep'];
  /** In [0, 1). */
  readonly random: () => number;
}

/** Resolves with the value; rejects with the first fault that is about the job, or after too many in a row. */
export async function poll<T>(polling: Polling<T>, { sleep, random }: PollTools): Promise<T> {
  const { ask, everyMs, errorsMax = ERRORS_MAX, signal } = polling;
  let growth = 1;
  let errors = 0;
  let retryAfterMs = 0;
  for (;;) {
    const interval = everyMs * growth * (1 - JITTER + 2 * JITTER * random());
    await sleep(Math.max(interval, retryAfterMs), signal);
    const found = await pollOnce(ask, signal);
    if (isUpstreamFault(found)) {
      errors += 1;
      if (errors > errorsMax) throw found;
    } else {
      if (found.value !== undefined) return found.value;
      errors = 0;
    }
    retryAfterMs = ('retryAfterMs' in found && found.retryAfterMs) || 0;
    growth = Math.min(growth * (errors > 0 ? ERROR_GROWTH : GROWTH), GROWTH_MAX);
  }
}

async function pollOnce<T>(ask: Polling<T>['ask'], signal: AbortSignal): Promise<Poll<T> | UpstreamFault> {
  try {
    return await ask(signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isUpstreamFault(error) && isPassing(error)) return error;
    throw error;
  }
}

function isPassing({ kind, status, about }: UpstreamFault): boolean {
  return PASSING.has(kind) || (NOT_YET.has(status) && about === undefined);
}
