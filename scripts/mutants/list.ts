// Reads mutants from a list of mistakes.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import type { Mutant } from './draw.ts';

interface Mistake {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** One lot for each, as of a drawing. */
export function readList(file: string): readonly (readonly Mutant[])[] {
  const mistakes: readonly Mistake[] = JSON.parse(readFileSync(file, 'utf8'));
  return mistakes.map((mistake) => [readMutant(mistake)]);
}

function readMutant({ path, before, after }: Mistake): Mutant {
  const [start = '', end, ...more] = readFileSync(path, 'utf8').split(before);
  assert(end !== undefined && more.length === 0, `${path} does not have this text once: ${before}`);
  return { path, line: start.split('\n').length, kind: 'listed', before, after, text: start + after + end };
}
