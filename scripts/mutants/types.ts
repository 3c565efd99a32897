// Finds the mutants that do not compile, many at a time: a run of the compiler takes seconds.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Mutant } from './draw.ts';
import { makeMistake } from './mistake.ts';
import { measureDistance } from './tests.ts';

const OPTIONS = ['--noEmit', '--pretty', 'false', '--checkers', '1', '--incremental'];
/** The nearest quarter has most of those that are to blame; if it has none, the others are not tried one by one. */
const NEAREST_PART = 4;
const BUILD_INFO = ['--tsBuildInfoFile', '.cache/types.tsbuildinfo'];

export function findBroken(folder: string, mutants: readonly Mutant[]): readonly Mutant[] {
  const first = mutants.filter(({ path }, i) => mutants.findIndex((other) => other.path === path) === i);
  const others = mutants.filter((mutant) => !first.includes(mutant));
  return others.length === 0 ? findAmong(folder, first) : [first, others].flatMap((part) => findBroken(folder, part));
}

/** All of different files. An error may also lie where a changed type is used, mostly near by imports. */
function findAmong(folder: string, mutants: readonly Mutant[]): readonly Mutant[] {
  const wrong = mutants.length === 0 ? [] : listWrongFiles(folder, mutants);
  if (wrong.length === 0) return [];
  if (mutants.length === 1) return mutants;
  const named = mutants.filter(({ path }) => wrong.includes(path));
  const rest = mutants.filter((mutant) => !named.includes(mutant));
  if (named.length > 0) return [...named, ...findAmong(folder, rest)];
  const [place = ''] = wrong;
  const measured = mutants.map((mutant) => ({ mutant, distance: measureDistance(mutant.path, place) }));
  const sorted = measured.toSorted((a, b) => a.distance - b.distance).map(({ mutant }) => mutant);
  const nearest = Math.ceil(sorted.length / NEAREST_PART);
  return [sorted.slice(0, nearest), sorted.slice(nearest)].flatMap((part) => findAmong(folder, part));
}

function listWrongFiles(folder: string, mutants: readonly Mutant[]): readonly string[] {
  const mistakes = mutants.map((mutant) => makeMistake(folder, mutant));
  const compiler = join(folder, 'node_modules/.bin/tsc');
  const { status, stdout, error } = spawnSync(compiler, [...OPTIONS, ...BUILD_INFO], { cwd: folder, encoding: 'utf8' });
  for (const { undo } of mistakes) undo();
  if (error) throw error;
  const paths = [...stdout.matchAll(/^(\S+\.ts)\(\d+,\d+\): error/gm)].map(([, path = '']) => path);
  if (status !== 0 && paths.length === 0) throw new Error(`the compiler failed:\n${stdout}`);
  return paths;
}
