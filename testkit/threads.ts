// Threads of closed SQLite stores, kept for the next ones of the same process: loading the code of a thread takes far
// longer than opening a database.
import type { Worker } from 'node:worker_threads';
import { workers } from '../lib/store/sqlite/thread.ts';

/** Of each role. */
const IDLE_MAX = 2;

const own = { ...workers };
/** By name, which is of their role. */
const idle = new Map<string | null, Worker[]>();

/** From now on, or no longer. */
export function keepThreads(keep: boolean): void {
  Object.assign(workers, keep ? { start: takeIdle, end: addIdle } : own);
  if (keep) return;
  for (const worker of [...idle.values()].flat()) void worker.terminate();
  idle.clear();
}

function takeIdle(role: Parameters<typeof own.start>[0]): Worker {
  const name = `tollgate-${role}`;
  const [worker, ...others] = idle.get(name)?.filter(isAlive) ?? [];
  idle.set(name, others);
  return worker ?? own.start(role);
}

async function addIdle(worker: Worker): Promise<void> {
  const others = idle.get(worker.threadName) ?? [];
  if (!isAlive(worker) || others.length >= IDLE_MAX) return own.end(worker);
  idle.set(worker.threadName, [...others, worker]);
}

function isAlive({ threadId }: Worker): boolean {
  return threadId !== -1;
}
