// The processes of the benchmark: started on their own core, controlled by messages, measured from outside.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startFlags, startVariables } from '../../testkit/npm-start.ts';
import { said } from '../../testkit/talk.ts';

/** Only what is measured runs here. */
const GATEWAY_CORE = '0';
export const OTHER_CORE = '1';

export const hasTaskset = cpus().length > 1 && spawnSync('taskset', ['-V']).status === 0;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TICKS_PER_S = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** A process that serves HTTP; the pipe needs no key. */
export interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly path: string;
  readonly key: string;
  /** Of a gateway. */
  readonly budgetKey?: string | undefined;
  /** Of another gateway: what it wants to be told with each call. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface ServeOptions {
  readonly path?: string;
  readonly env?: NodeJS.ProcessEnv;
}

const CHAT_PATH = '/api/v1/chat/completions';

/** Without a core of its own it runs where the machine puts it. */
export function start(file: string, args: readonly string[], core?: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const path = new URL(file, import.meta.url);
  // As `npm start` runs it.
  const asStarted = {
    execArgv: [...startFlags(), ...EXTRA_FLAGS],
    env: { ...process.env, ...startVariables(), ...env },
    cwd: ROOT,
  };
  const child = fork(path, args, {
    ...(file.endsWith('gateway.ts') && asStarted),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  if (core !== undefined) pin(child, core);
  return child;
}

/** For a profile, for example: `BENCH_FLAGS="--cpu-prof --cpu-prof-dir=/tmp/prof"`. */
const EXTRA_FLAGS = process.env.BENCH_FLAGS?.split(' ') ?? [];

export async function serve(file: string, args: readonly string[], options: ServeOptions = {}): Promise<Running> {
  const child = start(file, args, GATEWAY_CORE, options.env);
  const { port, key = '', budgetKey } = await said<{ port: number; key?: string; budgetKey?: string }>(child);
  // Moves threads that have already started to the core of their process.
  pin(child, GATEWAY_CORE);
  return { child, url: `http://127.0.0.1:${port}`, path: options.path ?? CHAT_PATH, key, budgetKey };
}

/** A process that is not ours, on the core of what is measured. */
export function serveCommand(child: ChildProcess, where: Omit<Running, 'child' | 'key'>): Running {
  pin(child, GATEWAY_CORE);
  return { child, key: '', ...where };
}

function pin({ pid }: ChildProcess, core: string): void {
  if (hasTaskset) spawnSync('taskset', ['-a', '-p', '-c', core, String(pid)], { stdio: 'ignore' });
}

/** CPU seconds of a process with all its threads and child processes. */
export function readCpu({ pid }: { readonly pid?: number | undefined }): number {
  return listFamily(Number(pid)).reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_S;
}

/** Resident memory of the same, in bytes. */
export function readRss({ pid }: ChildProcess): number {
  return listFamily(Number(pid)).reduce((sum, member) => sum + readResident(member.pid), 0);
}

/** The processes that a process has started itself. */
export function listChildren(pid: number): readonly number[] {
  return listFamily(pid).flatMap((member) => (member.parent === pid ? member.pid : []));
}

interface Member {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

function listFamily(pid: number): readonly Member[] {
  const all = readdirSync('/proc').flatMap((name) => readMember(Number(name)) ?? []);
  const family = all.filter((member) => member.pid === pid);
  for (const { pid: parent } of family) family.push(...all.filter((member) => member.parent === parent));
  return family;
}

/** Undefined if it is not a process, or has exited. */
function readMember(pid: number): Member | undefined {
  if (!(pid > 0)) return undefined;
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return { pid, parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}

function readResident(pid: number): number {
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}
