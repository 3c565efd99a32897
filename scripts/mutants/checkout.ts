// A copy of the checkout in which mutants live and tests run: the working tree stays untouched.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Mutant } from './draw.ts';
import type { Step } from './tests.ts';

export type Outcome = 'killed' | 'timeout' | 'survived' | 'broken';

interface Checkout {
  /** `broken` does not compile. A kill counts if these tests pass without the mutant; a distant one has to repeat. */
  judge(mutant: Mutant, steps: readonly Step[]): Promise<Outcome>;
  remove(): void;
}

type Result = 'passed' | 'failed' | 'timeout';

const LEFT_OUT = /^(node_modules|\.git|\.cache|dist|\.env)$/;
/** The server of the tests of MongoDB would be downloaded again. */
const LINKED = ['node_modules', '.cache/mongod'];
const TYPES = ['tsc', '--noEmit', '--checkers', '1', '--incremental', '--tsBuildInfoFile', '.cache/types.tsbuildinfo'];
/** A busy machine may fail a test now and then. */
const BASELINE_TRIES = 3;
/** A wait that never ends should not take the minute that slow machines get. */
const MOCHA = ['mocha', '--bail', '--timeout', '30000'];
const LONG = { TESTS_LONG: '1' };

export function createCheckout(limitMs: number): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-mutants-'));
  // Some tests run a part of it as another user.
  chmodSync(folder, 0o755);
  cpSync('.', folder, { recursive: true, filter: (source) => !LEFT_OUT.test(source) });
  mkdirSync(join(folder, '.cache'));
  for (const shared of LINKED) if (existsSync(shared)) symlinkSync(resolve(shared), join(folder, shared));
  /** Steps that passed without a mutant. */
  const clean = new Set<string>();
  let child: ChildProcess | undefined;
  const run = (command: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    child = start({ folder, command, env: { ...process.env, ...more } });
    return waitForResult(child, limitMs);
  };
  const test = ({ files, isLong, title }: Step) =>
    run([...MOCHA, ...(title === undefined ? [] : ['--grep', `^${title}`]), ...files], isLong && LONG);

  return {
    judge: async ({ path, text }, steps) => {
      const original = readFileSync(join(folder, path), 'utf8');
      const mutate = () => writeFileSync(join(folder, path), text);
      const restore = () => writeFileSync(join(folder, path), original);
      const baseline = async (step: Step) => {
        restore();
        const key = JSON.stringify(step);
        for (let tries = 0; tries < BASELINE_TRIES && !clean.has(key); tries += 1) {
          if ((await test(step)) === 'passed') clean.add(key);
        }
        mutate();
        return clean.has(key);
      };
      try {
        mutate();
        if ((await run(TYPES)) !== 'passed') return 'broken';
        for (const step of steps) {
          const result = await test(step);
          if (result === 'passed' || !(await baseline(step))) continue;
          if (result === 'timeout') return 'timeout';
          if (step === steps[0] || (await test(step)) !== 'passed') return 'killed';
        }
        return 'survived';
      } finally {
        restore();
      }
    },
    remove: () => {
      if (child) endGroup(child);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Running {
  readonly folder: string;
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

function start({ folder, command: [name = '', ...options], env }: Running): ChildProcess {
  const path = join(folder, 'node_modules/.bin', name);
  return spawn(path, options, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
}

/** The reporter's last line tells a failure before the process ends, which it may not. */
function waitForResult(child: ChildProcess, limitMs: number): Promise<Result> {
  return new Promise((done, reject) => {
    let early: Result | undefined;
    const end = (result: Result) => {
      early ??= result;
      endGroup(child);
    };
    const timer = setTimeout(end, limitMs, 'timeout');
    let tail = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-200);
      if (/^\d+ passed, [1-9]\d* failed/m.test(tail)) end('failed');
    });
    child.on('error', reject).on('close', (code) => {
      clearTimeout(timer);
      done(early ?? (code === 0 ? 'passed' : 'failed'));
    });
  });
}

function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}
