// Runs the checks of a plugin in a process of their own, so that one that blocks or ends its process gets a verdict
// too.
import { type ChildProcess, fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../base/operator-error.ts';
import { readCpuWaitMs } from './patience.ts';
import type { Suite, WorkerMessage } from './worker.ts';

/** How one check ended. */
export interface Verdict {
  readonly group: string;
  readonly name: string;
  /** Why it failed; absent if it passed. */
  readonly reason?: string;
  /** Why nothing was checked. */
  readonly unchecked?: string;
}

interface Patience {
  /** How long the process may be busy with one thing; where the system says so, without the time it waits for a CPU. */
  readonly blockedMs: number;
  /** How much time checks that fail may take in all: what hangs once hangs in every check. */
  readonly failingMs: number;
  /** How long checks go on behind the first that failed: what is slow is slow in those that pass, too. */
  readonly afterFailureMs?: number;
}

const PATIENCE: Patience = { blockedMs: 5000, failingMs: 12_000 };
const AFTER_FAILURE_MS = 15_000;

/** How long the process may take to start, beside the time for one thing. */
const START_MS = 10_000;

const WORKER = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url));

/** Throws an OperatorError if the plugin does not load, or has nothing to be checked with. */
export async function* superviseChecks(
  suite: Suite,
  folder: string,
  { blockedMs, failingMs, afterFailureMs = AFTER_FAILURE_MS }: Patience = PATIENCE,
): AsyncGenerator<Verdict> {
  const child = fork(WORKER, [suite, folder], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const letGo = killWithThisProcess(child);
  // What it prints is not ours: `--json` promises one object.
  for (const stream of [child.stdout, child.stderr])
    (stream as Readable).on('data', (chunk) => process.stderr.write(chunk));
  let checks: readonly Verdict[] = [];
  let next = 0;
  let failedMs = 0;
  let begunAt = performance.now();
  const listener = listen(child, blockedMs);
  try {
    for await (const each of listener.events) {
      if (each.type === 'refused') {
        throw each.isOperators ? new OperatorError(each.reason) : new Error(each.reason);
      }
      if (each.type === 'listed') checks = each.checks;
      else if (each.type === 'ended') {
        const { group, name, unchecked } = checks[each.at] as Verdict;
        next = each.at + 1;
        if (each.reason !== undefined) {
          failedMs += performance.now() - begunAt;
          listener.endAfter(afterFailureMs);
        }
        yield {
          group,
          name,
          ...(unchecked !== undefined && { unchecked }),
          ...(each.reason && { reason: each.reason }),
        };
        if (failedMs > failingMs) return yield* skip(checks.slice(next), 'those that failed took too long');
      } else if (each.type === 'lost') {
        const { group, name } = checks[next] ?? { group: 'plugin', name: 'loads' };
        yield { group, name, reason: each.reason };
        return yield* skip(checks.slice(next + 1), 'the process of the checks was lost');
      } else if (each.type === 'late') {
        return yield* skip(checks.slice(next), `${afterFailureMs / 1000} s have passed since the first that failed`);
      }
      begunAt = performance.now();
    }
  } finally {
    letGo();
    child.kill('SIGKILL');
  }
}

const ENDING = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** A plugin that blocks its process would outlive ours. The result ends it. */
function killWithThisProcess(child: ChildProcess): () => void {
  const kill = () => void child.kill('SIGKILL');
  const endBoth = (signal: NodeJS.Signals) => {
    kill();
    letGo();
    process.kill(process.pid, signal);
  };
  const letGo = () => {
    process.off('exit', kill);
    for (const signal of ENDING) process.off(signal, endBoth);
  };
  process.on('exit', kill);
  for (const signal of ENDING) process.on(signal, endBoth);
  return letGo;
}

function* skip(checks: readonly Verdict[], why: string): Generator<Verdict> {
  for (const { group, name } of checks) yield { group, name, unchecked: why };
}

type Event = WorkerMessage | { readonly type: 'late' };

interface Listener {
  /** What the process sends until it is done, or lost: it ended, or gives no sign of life. */
  readonly events: AsyncGenerator<Event>;
  /** Then it is late, whatever it is at; the first call counts. */
  endAfter(ms: number): void;
}

function listen(child: ChildProcess, blockedMs: number): Listener {
  const events: Event[] = [];
  let wake = () => {};
  let lateAt = Number.POSITIVE_INFINITY;
  const readClock = () => performance.now() - readCpuWaitMs(child.pid);
  // A busy machine may take long to start a process.
  let aliveAt = readClock() + START_MS;
  const push = (event: Event) => {
    events.push(event);
    wake();
  };
  child.on('message', (event: WorkerMessage) => {
    aliveAt = readClock();
    if (event.type !== 'alive') push(event);
  });
  // After the last message.
  child.once('disconnect', () => push({ type: 'lost', reason: 'the plugin ended its process' }));
  const timer = setInterval(() => {
    if (performance.now() > lateAt) push({ type: 'late' });
    else if (readClock() - aliveAt > blockedMs)
      push({ type: 'lost', reason: `the plugin blocks its process: no sign of life for ${blockedMs / 1000} s` });
    else if (child.connected) child.send('ping', () => {});
  }, blockedMs / 10);
  async function* follow(): AsyncGenerator<Event> {
    try {
      for (;;) {
        for (const event of events.splice(0)) {
          yield event;
          if (event.type === 'done' || event.type === 'lost') return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      clearInterval(timer);
    }
  }
  return {
    events: follow(),
    endAfter(ms) {
      lateAt = Math.min(lateAt, performance.now() + ms);
    },
  };
}
