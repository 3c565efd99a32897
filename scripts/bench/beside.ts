// What an operator runs: a gateway like `npm start`, or a command, with its time and memory.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startFlags, startVariables } from '../../testkit/npm-start.ts';
import { readCpu } from './process.ts';

const MAIN = fileURLToPath(new URL('../../lib/main.ts', import.meta.url));
const COMMAND = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url));
const START_MS_MAX = 120_000;
const LOOK_MS = 20;
/** Looking at it takes longer. */
const CPU_LOOK_MS = 250;

export interface Alone {
  readonly child: ChildProcess;
  readonly url: string;
  readonly readyMs: number;
  /** Its environment, to open its store beside it. */
  readonly env: Readonly<Record<string, string>>;
  rssBytes(): number;
  reload(): void;
  stop(): Promise<void>;
}

/** With the catalog in a folder. */
export async function startAlone(
  folder: string,
  databaseUrl: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Alone> {
  const output = join(mkdtempSync(join(folder, 'start-')), 'log');
  const env = {
    ...startVariables(),
    PATH: process.env.PATH ?? '',
    PORT: '0',
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    CATALOG_DIR: folder,
    SANDBOX: 'off',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    BALANCE_RATE_LIMIT_PER_MINUTE: '1000000000',
    ...more,
  };
  const from = performance.now();
  const child = spawn(process.execPath, [...startFlags(), MAIN], {
    env,
    stdio: ['ignore', openSync(output, 'a'), 'inherit'],
  });
  const url = await listening(child, output);
  return {
    child,
    url,
    env,
    readyMs: performance.now() - from,
    rssBytes: () => readBytes(child, 'VmRSS'),
    reload: () => void child.kill('SIGHUP'),
    async stop() {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

async function listening(child: ChildProcess, output: string): Promise<string> {
  const until = performance.now() + START_MS_MAX;
  while (child.exitCode === null && performance.now() < until) {
    const url = /^Tollgate is listening on (\S+) /m.exec(readFileSync(output, 'utf8'))?.[1];
    if (url !== undefined) return url;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  child.kill('SIGKILL');
  throw new Error(`the gateway did not start: ${readFileSync(output, 'utf8')}`);
}

/** Runs `tollgate` with these arguments. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly ms: number; readonly peakBytes: number; readonly cpuS: number }> {
  const from = performance.now();
  const whole = { PATH: process.env.PATH ?? '', ...env };
  const child = spawn(process.execPath, [COMMAND, ...args], { env: whole, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  let [peakBytes, cpuS] = [0, 0];
  const looking = setInterval(() => {
    peakBytes = Math.max(peakBytes, readBytes(child, 'VmHWM'));
  }, LOOK_MS);
  const timing = setInterval(() => {
    cpuS = Math.max(cpuS, readCpu(child));
  }, CPU_LOOK_MS);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  for (const timer of [looking, timing]) clearInterval(timer);
  if (code !== 0) throw new Error(`tollgate ${args.join(' ')} ended with ${code}: ${said}`);
  return { ms: performance.now() - from, peakBytes, cpuS };
}

/** 0 for a process that has exited. */
function readBytes({ pid }: ChildProcess, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return 1024 * Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
