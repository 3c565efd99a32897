// How the upstream's part of a call ended.
import { type Fault, toFault } from '../base/faults.ts';
import { GONE } from './context.ts';

export type Ending<Result = unknown> =
  | { readonly type: 'finish'; readonly result: Result }
  | { readonly type: 'error'; readonly fault: Fault }
  | { readonly type: 'gone' };

/** The ending of a call whose signal aborted. */
export function toAbortEnding({ reason }: AbortSignal): Ending<never> {
  return reason === GONE ? { type: 'gone' } : toErrorEnding(reason);
}

/** The ending of a call that threw. */
export function toErrorEnding(error: unknown): Ending<never> {
  return { type: 'error', fault: toFault(error) };
}
