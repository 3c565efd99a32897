// Passwords of tests are hashed at the least cost: at that of the service, each takes 40 ms of CPU time.
import { hashCost } from '../lib/users/password.ts';

const own = { ...hashCost };

/** From now on in this process, or no longer. */
export function hashCheaply(cheaply: boolean): void {
  Object.assign(hashCost, cheaply ? { memoryKiB: 8, passes: 1 } : own);
}
