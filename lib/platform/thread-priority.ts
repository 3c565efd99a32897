// On Linux the priority of process 0 is that of the calling thread alone, and threads inherit it from the one that
// starts them (setpriority(2), "C library/kernel differences"); elsewhere it is the whole process's.
import { getPriority, setPriority } from 'node:os';

const YIELDING = 10;

/**
 * Lets the process's other threads go first when cores are scarce; only on Linux. Cannot be taken back. Not for V8's own
 * threads, which the options of `npm start` limit: the main thread waits for some of their work.
 */
export function yieldToOthers(): void {
  if (process.platform === 'linux' && getPriority() < YIELDING) setPriority(YIELDING);
}
