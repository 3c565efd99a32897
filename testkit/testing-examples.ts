// The examples of docs/testing.md, in their order there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

interface TestingExamples {
  /** A gateway inside a program. */
  readonly program: string;
  /** Tests for mocha, with nock. */
  readonly mocha: string;
  /** Tests for vitest. */
  readonly vitest: string;
  /** A gateway for tests in another language. */
  readonly process: string;
}

export function readTestingExamples(): TestingExamples {
  const guide = readFileSync(new URL('../docs/testing.md', import.meta.url), 'utf8');
  const examples = [...guide.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code);
  const [program, mocha, vitest, process] = examples;
  assert(program && mocha && vitest && process && examples.length === 4);
  return { program, mocha, vitest, process };
}
