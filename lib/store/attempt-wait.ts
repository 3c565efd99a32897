// How long the next attempt under a name has to wait, calculated alike for every store.
import type { AttemptRule, Attempts } from './ports/sessions.ts';

/** The wait in ms; 0 if the attempt may be made now. */
export function getAttemptWaitMs(found: Attempts | undefined, { now, since, waitsMs }: AttemptRule): number {
  if (!found || found.lastAt < since) return 0;
  const waitMs = waitsMs[Math.min(found.count, waitsMs.length - 1)] ?? 0;
  // Never longer than the rule allows, even if the clock was set back.
  return Math.max(0, Math.min(waitMs, found.lastAt + waitMs - now));
}
