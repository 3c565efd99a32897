// Runs the command line on a store of its own: in this process, which takes a tenth of the time, or as a process.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { cacheCompiledCode } from '../../lib/base/compile-cache.ts';
import { runProgram } from '../../lib/cli/program.ts';
import { longer } from '../../testkit/long.ts';

export const MAIN = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url));

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A temporary store and the command line on it. */
export interface Rig {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly env: NodeJS.ProcessEnv;
  run(...args: string[]): Promise<Result>;
  /** Runs with `--json`; expects success, one JSON object on stdout and silence on stderr. It says which store it used. */
  json(...args: string[]): Promise<Record<string, unknown>>;
  /** Runs without `--json`; expects success and silence on stderr. Resolves to the text before the line of the store. */
  text(...args: string[]): Promise<string>;
  /** Expects this exit code, one line on stderr and nothing on stdout, in the slow tests in both modes. Resolves to the line. */
  refused(code: 1 | 2, ...args: string[]): Promise<string>;
  close(): Promise<void>;
}

export async function createRig(): Promise<Rig> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-cli-'));
  const databaseUrl = `sqlite:${join(folder, 'test.db')}`;
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, DATA_DIR: folder };
  const run = (...args: string[]) => runCommand(args, env);
  const silent = ({ code, stdout, stderr }: Result) => {
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    return stdout;
  };
  return {
    folder,
    databaseUrl,
    env,
    run,
    async json(...args) {
      const { store, ...json } = parseObject(silent(await run(...args, '--json')));
      expect(store).to.equal(hasOwnStores(args) ? undefined : databaseUrl);
      return json;
    },
    async text(...args) {
      const text = silent(await run(...args));
      if (hasOwnStores(args)) return text;
      const line = `Store: ${databaseUrl}\n`;
      expect(text.slice(-line.length - 1)).to.equal(`\n${line}`);
      return text.slice(0, -line.length);
    },
    async refused(code, ...args) {
      const modes = longer([args], [args, ['--json', ...args]]);
      const results = await Promise.all(modes.map((words) => run(...words)));
      for (const result of results) expectRefusal(result, code);
      return results[0]?.stderr ?? '';
    },
    close: () => rm(folder, { recursive: true }),
  };
}

/** Commands that name their stores themselves, or have none. */
function hasOwnStores(args: readonly string[]): boolean {
  const [group, command, part] = args;
  if (args.includes('--help') || args.includes('--version')) return true;
  if (command === 'check' && group === 'payment') return true;
  if (command === 'archive' && part === 'verify') return true;
  return group === 'catalog' || group === 'smart' || group === 'provider' || (group === 'store' && command === 'copy');
}

let last: Promise<unknown> = Promise.resolve();

/** Runs a command in this process, after those that were given before: its input, output and environment are the process's. */
export function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { stdin = '' }: { readonly stdin?: string | Buffer } = {},
): Promise<Result> {
  const result = last.then(() => runHere(args, env, stdin));
  // One that fails is the failure of its own test alone.
  last = result.catch(() => undefined);
  return result;
}

async function runHere(args: readonly string[], env: NodeJS.ProcessEnv, stdin: string | Buffer): Promise<Result> {
  const { env: envBefore, exitCode } = process;
  const stdinBefore = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor;
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(stdin)]), configurable: true });
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  process.env = { ...env };
  cacheCompiledCode();
  try {
    const code = await runProgram(args);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.env = envBefore;
    process.exitCode = exitCode;
    Object.defineProperty(process, 'stdin', stdinBefore);
    stdout.release();
    stderr.release();
  }
}

/** Keeps what is written to a stream, which is no terminal meanwhile. */
function capture(stream: NodeJS.WriteStream): { text(): string; release(): void } {
  const { write, isTTY } = stream;
  let text = '';
  stream.isTTY = false;
  stream.write = (chunk: string | Uint8Array) => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  return {
    text: () => text,
    release() {
      Object.assign(stream, { write, isTTY });
    },
  };
}

/** `stdin` is what the command reads, or the descriptor of a file that it gets; nothing without it. */
export function spawnCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { cwd, stdin }: { readonly cwd?: string; readonly stdin?: string | Buffer | number } = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const first = typeof stdin === 'number' ? stdin : 'pipe';
    const child = spawn(process.execPath, [MAIN, ...args], { env, cwd, stdio: [first, 'pipe', 'pipe'] });
    // A command may end before it has read everything.
    child.stdin?.on('error', () => undefined).end(typeof stdin === 'number' ? '' : stdin);
    const read = { stdout: '', stderr: '' };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      read.stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      read.stderr += text;
    });
    child.on('error', reject).on('close', (code) => resolve({ code, ...read }));
  });
}

export function parseObject(stdout: string): Record<string, unknown> {
  expect(stdout).to.match(/^\{.*\}\n$/);
  return JSON.parse(stdout);
}

export function expectRefusal({ code, stdout, stderr }: Result, wanted: 1 | 2): void {
  expect(stdout).to.equal('');
  expect(stderr).to.match(/^tollgate: [^\n]+\n$/);
  expect(stderr).to.not.match(/\bat .*\.(ts|js):\d+/);
  expect(code, stderr).to.equal(wanted);
}
