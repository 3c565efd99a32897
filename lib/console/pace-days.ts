// How many days the spending of an account is divided by to say how long its balance lasts.
import { DAY_MS } from '../base/durations.ts';

/** The days since it was created, begun ones included, at most those whose spending is known. */
export function countPaceDays(createdAt: number, { now, daysMax }: { now: number; daysMax: number }): number {
  return Math.min(Math.max(Math.ceil((now - createdAt) / DAY_MS), 1), daysMax);
}
