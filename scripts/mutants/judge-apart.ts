// Judges mutants by tests in processes of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Judge } from './judge.ts';
import { makeMistake } from './mistake.ts';
import { endGroup, type Result } from './runner.ts';
import type { Step } from './tests.ts';

/** A busy machine may fail a test now and then. */
const BASELINE_TRIES = 3;
/** A wait that never ends should not take the minute that slow machines get. */
const MOCHA = ['--bail', '--timeout', '30000'];
const LONG = { TESTS_LONG: '1' };

export function createApartJudge(folder: string, limitMs: number): Judge {
  /** Steps that passed without a mutant. */
  const clean = new Set<string>();
  let child: ChildProcess | undefined;
  const run = ({ files, isLong, title }: Step) => {
    const options = [...MOCHA, ...(title === undefined ? [] : ['--grep', `^${title}`]), ...files];
    child = start({ folder, options, env: { ...process.env, ...(isLong && LONG) } });
    return waitForResult(child, limitMs);
  };
  return {
    async judge(mutant, steps) {
      const mistake = makeMistake(folder, mutant);
      const baseline = async (step: Step) => {
        mistake.undo();
        const key = JSON.stringify(step);
        for (let tries = 0; tries < BASELINE_TRIES && !clean.has(key); tries += 1) {
          if ((await run(step)) === 'passed') clean.add(key);
        }
        mistake.make();
        return clean.has(key);
      };
      try {
        for (const step of steps) {
          const result = await run(step);
          if (result === 'passed' || !(await baseline(step))) continue;
          if (result === 'timeout') return 'timeout';
          if (step === steps[0] || (await run(step)) !== 'passed') return 'killed';
        }
        return 'survived';
      } finally {
        mistake.undo();
      }
    },
    end: () => {
      if (child) endGroup(child);
    },
  };
}

interface Running {
  readonly folder: string;
  readonly options: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

function start({ folder, options, env }: Running): ChildProcess {
  const path = join(folder, 'node_modules/.bin/mocha');
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
