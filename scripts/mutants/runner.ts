// Runs tests in a process that has them loaded: only what imports a changed file, directly or not, is loaded again.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Answer, Request } from './runner-process.ts';

export type Result = 'passed' | 'failed' | 'timeout';

interface Run {
  readonly result: Result;
  /** Of the test that failed, if it was one. */
  readonly file?: string | undefined;
}

interface Runner {
  /** A process that ends or hangs is replaced for the next run. */
  run(request: Request): Promise<Run>;
  end(): void;
}

/** Nothing frees the modules of earlier runs: they take some GiB in the end. */
const RUNS_MAX = 60;

export function createRunner(folder: string, limitMs: number): Runner {
  let child: ChildProcess | undefined;
  let runs = 0;
  const end = () => {
    if (child) endGroup(child);
    child = undefined;
    runs = 0;
  };
  return {
    run: async (request) => {
      if (runs >= RUNS_MAX) end();
      runs += 1;
      child ??= start(folder);
      child.send(request);
      const answer = await waitForAnswer(child, limitMs);
      if (typeof answer !== 'string') return { result: answer.passed ? 'passed' : 'failed', file: answer.file };
      end();
      return { result: answer };
    },
    end,
  };
}

function start(folder: string): ChildProcess {
  return fork(join(folder, 'scripts/mutants/runner-process.ts'), {
    cwd: folder,
    execArgv: ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=32'],
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

function waitForAnswer(child: ChildProcess, limitMs: number): Promise<Answer | 'failed' | 'timeout'> {
  return new Promise((done) => {
    const end = (answer: Answer | 'failed' | 'timeout') => {
      clearTimeout(timer);
      child.off('message', end).off('exit', onExit);
      done(answer);
    };
    const onExit = () => end('failed');
    const timer = setTimeout(end, limitMs, 'timeout' as const);
    child.on('message', end).on('exit', onExit);
  });
}

export function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}
