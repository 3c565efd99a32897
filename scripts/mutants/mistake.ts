// A mutant in a copy of the checkout, made and undone.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './draw.ts';

interface Mistake {
  make(): void;
  undo(): void;
}

/** Is made already. */
export function makeMistake(folder: string, { path, text }: Mutant): Mistake {
  const place = join(folder, path);
  const original = readFileSync(place, 'utf8');
  const make = () => writeFileSync(place, text);
  make();
  return { make, undo: () => writeFileSync(place, original) };
}
