// How much of what takes long is run: all of it by `npm run test:slow`, what stands for the rest by `npm test`.
const LONG = process.env.TESTS_LONG === '1';

/** The first in `npm test`, the second in the slow tests. */
export function longer<T>(short: T, long: T): T {
  return LONG ? long : short;
}

/** A test for the slow tests alone. */
export function itLong(title: string, run: Mocha.AsyncFunc): void {
  if (LONG) it(title, run);
}
