// How long checks wait. On a busy machine a process may get no CPU for seconds, so they count what the process has had
// time for, and not what the clock says.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 5;

/** Waits in short pauses, between which due events are handled; a stall of the machine lengthens one of them. */
export async function pauseOften(ms: number): Promise<void> {
  for (let waited = 0; waited < ms; waited += PAUSE_MS) await sleep(PAUSE_MS);
}

/** What polls without a pause is never idle: it has this part of the limit as CPU time. */
const BUSY_PART = 1 / 5;

/** The signal aborts once the process has been idle for so long, or busy for a part of it; waiting for a CPU is neither. */
export async function withIdleLimit<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const loop = performance.eventLoopUtilization();
  const cpu = process.cpuUsage();
  let timer: NodeJS.Timeout | undefined;
  const checkAfter = (waitMs: number) => {
    timer = setTimeout(() => {
      const idleLeft = ms - performance.eventLoopUtilization(loop).idle;
      const { user, system } = process.cpuUsage(cpu);
      const busyLeft = ms * BUSY_PART - (user + system) / 1000;
      if (idleLeft > 0 && busyLeft > 0) checkAfter(Math.min(idleLeft, busyLeft));
      else controller.abort(new DOMException(`no end within ${ms} ms`, 'TimeoutError'));
    }, Math.ceil(waitMs));
  };
  checkAfter(ms * BUSY_PART);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** How long a process has waited for a CPU that others used; 0 where only Linux knows. */
export function readCpuWaitMs(pid: number | undefined): number {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return 0;
  }
}
