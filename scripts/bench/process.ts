// The processes of the benchmark: started on their own core, asked by messages, measured from outside.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startFlags, startVariables } from '../../testkit/npm-start.ts';

/** Only what is measured runs here. */
export const GATEWAY_CORE = '0';
export const OTHER_CORE = '1';

export const hasTaskset = cpus().length > 1 && spawnSync('taskset', ['-V']).status === 0;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TICKS_PER_S = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** A process that serves HTTP; the pipe has no key. */
export interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly key: string;
}

export function start(file: string, args: readonly string[], core: string): ChildProcess {
  const path = new URL(file, import.meta.url);
  // As `npm start` runs it.
  const asStarted = { execArgv: [...startFlags()], env: { ...process.env, ...startVariables() }, cwd: ROOT };
  const child = fork(path, args, {
    ...(file.endsWith('gateway.ts') && asStarted),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  pin(child, core);
  return child;
}

export async function serve(file: string, args: readonly string[]): Promise<Running> {
  const child = start(file, args, GATEWAY_CORE);
  const { port, key = '' } = await said<{ port: number; key?: string }>(child);
  // Threads that were started meanwhile are on the same core as their process.
  pin(child, GATEWAY_CORE);
  return { child, url: `http://127.0.0.1:${port}`, key };
}

function pin({ pid }: ChildProcess, core: string): void {
  if (hasTaskset) spawnSync('taskset', ['-a', '-p', '-c', core, String(pid)], { stdio: 'ignore' });
}

export function said<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a process of the benchmark ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}

export function asked<T>(child: ChildProcess, message: object | string): Promise<T> {
  const answer = said<T>(child);
  child.send(message);
  return answer;
}

/** CPU seconds of a process with all its threads. */
export function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}
