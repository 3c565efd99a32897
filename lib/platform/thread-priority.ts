// On Linux the priority of process 0 is that of the calling thread, that of another id the thread's of this id, and
// threads inherit it from the one that starts them (setpriority(2), "C library/kernel differences"); elsewhere it is the
// whole process's.
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const YIELDING = 10;
const isLinux = process.platform === 'linux';

/** Lets the process's other threads go first when cores are scarce; only on Linux. Cannot be taken back. */
export function yieldToOthers(): void {
  if (isLinux) yieldThread(0);
}

/**
 * Lets calls go first: V8's threads, which compile and collect, may together take more of a core than the main thread.
 * Call it on the main thread, before threads of our own are started: none but V8's are there then.
 */
export function lowerEngineThreads(): void {
  if (!isLinux) return;
  for (const id of readdirSync('/proc/self/task').map(Number)) {
    if (id !== process.pid) yieldThread(id);
  }
}

function yieldThread(id: number): void {
  try {
    if (getPriority(id) < YIELDING) setPriority(id, YIELDING);
  } catch {
    // It has ended, or a container forbids it: then it goes on as it was.
  }
}
