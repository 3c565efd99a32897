// A copy of the checkout in which mutants live and tests run: the working tree stays untouched.
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Mutant } from './draw.ts';
import type { Judge } from './judge.ts';
import { createApartJudge } from './judge-apart.ts';
import { createLoadedJudge } from './judge-loaded.ts';
import { findBroken } from './types.ts';

export interface Checkout {
  /** Those that do not compile. */
  findBroken(mutants: readonly Mutant[]): readonly Mutant[];
  /** Quick. A survivor may only be out of its sight: threads and plugins that were loaded before the mistake was made. */
  readonly loaded: Judge;
  /** A kill counts if these tests pass without the mutant; a distant one has to repeat. */
  readonly apart: Judge;
  remove(): void;
}

const LEFT_OUT = /^(node_modules|\.git|\.cache|dist|\.env)$/;
/** The server of the tests of MongoDB would be downloaded again. */
const LINKED = ['node_modules', '.cache/mongod'];

export function createCheckout(limitMs: number): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-mutants-'));
  // Some tests run a part of it as another user.
  chmodSync(folder, 0o755);
  cpSync('.', folder, { recursive: true, filter: (source) => !LEFT_OUT.test(source) });
  mkdirSync(join(folder, '.cache'));
  for (const shared of LINKED) if (existsSync(shared)) symlinkSync(resolve(shared), join(folder, shared));
  const loaded = createLoadedJudge(folder);
  const apart = createApartJudge(folder, limitMs);
  return {
    findBroken: (mutants) => findBroken(folder, mutants),
    loaded,
    apart,
    remove: () => {
      loaded.end();
      apart.end();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
