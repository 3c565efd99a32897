// What the markers in a prompt make of any call: upstreams on a bad day.
import type { Host } from '../../lib/plugin/contract.ts';
import type { Markers } from './answer.ts';

/** Stalls, fails or refuses before anything was made, if the prompt asks for it. */
export async function sufferFrom(markers: Markers, host: Host, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (markers.stall) await untilAborted(signal);
  if (markers.fail) throw host.fault.make('server', 'the prompt asked for a failure with [[fail]]', { status: 500 });
  if (!markers.refuse) return;
  throw host.fault.make('request', 'the prompt asked for it with [[refuse]]', { status: 400, about: 'content' });
}

/** Rejects when the signal aborts, and does nothing before. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
