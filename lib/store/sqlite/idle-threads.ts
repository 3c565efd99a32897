// Threads whose database was closed, kept for the next one in the same process. The service keeps none: its store ends with
// it. Tests open hundreds of stores, and loading the code of a thread takes far longer than opening a database.
import type { Worker } from 'node:worker_threads';
import type { ThreadOptions } from './protocol.ts';

type Role = ThreadOptions['role'];

/** Of each role. */
const IDLE_MAX = 2;

/** By role, since that is a thread's name. Undefined: none are kept. */
let idle: Map<Role, Worker[]> | undefined;

/** From now on, or no longer. Off unless a process asks for it. */
export function keepThreads(keep: boolean): void {
  const before = idle;
  idle = keep ? new Map() : undefined;
  for (const worker of [...(before?.values() ?? [])].flat()) void worker.terminate();
}

export function takeIdle(role: Role): Worker | undefined {
  const threads = idle?.get(role)?.filter(isAlive) ?? [];
  idle?.set(role, threads.slice(1));
  return threads[0];
}

/** Whether a thread that is about to close its database should wait for another. */
export function hasRoom(role: Role): boolean {
  return idle !== undefined && (idle.get(role)?.length ?? 0) < IDLE_MAX;
}

export function addIdle(role: Role, worker: Worker): void {
  idle?.set(role, [...(idle.get(role) ?? []), worker]);
}

export function isAlive({ threadId }: Worker): boolean {
  return threadId !== -1;
}
