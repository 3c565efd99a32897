// Judges mutants by tests in a process that has them loaded.
import type { Judge } from './judge.ts';
import { makeMistake } from './mistake.ts';
import { createRunner, type Result } from './runner.ts';
import { LONG_CASES, listDependents, type Step } from './tests.ts';

/** For a step. */
const LIMIT_MS = 120_000;

export function createLoadedJudge(folder: string): Judge {
  const runner = createRunner(folder, LIMIT_MS);
  /** Tests that fail beside others. */
  const unfit = new Set<string>();
  return {
    async judge(mutant, steps) {
      const mistake = makeMistake(folder, mutant);
      const stale = listDependents(mutant.path);
      const staleLong = [...stale, ...listDependents(LONG_CASES)];
      const run = (step: Step) => runner.run({ ...step, stale: step.isLong ? staleLong : stale });
      const passes = async (step: Step) => (await run(step)).result === 'passed';
      /** Passes without the mutant, if need be in a new process, and fails with it again; to hang once is enough. */
      const isCertain = async (step: Step, result: Result) => {
        mistake.undo();
        let isClean = await passes(step);
        if (!isClean) {
          runner.end();
          isClean = await passes(step);
          if (!isClean) for (const file of step.files) unfit.add(file);
        }
        mistake.make();
        return isClean && (result === 'timeout' || !(await passes(step)));
      };
      try {
        for (const step of steps.filter(canLoad)) {
          const files = step.files.filter((file) => !unfit.has(file));
          const { result, file } = await run({ ...step, files });
          if (result === 'passed') continue;
          const failed = { ...step, files: file === undefined ? files : [file] };
          if (await isCertain(failed, result)) return result === 'timeout' ? result : 'killed';
        }
        return 'survived';
      } finally {
        mistake.undo();
      }
    },
    end: runner.end,
  };
}

/** The long cases of a store take minutes. */
function canLoad({ isLong, title }: Step): boolean {
  return !isLong || title !== undefined;
}
