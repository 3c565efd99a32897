// How much of the long tests is run: everything in `npm run test:slow`, a sample in `npm test`.
const LONG = process.env.TESTS_LONG === '1';

/** The first in `npm test`, the second in the slow tests. */
export function longer<T>(short: T, long: T): T {
  return LONG ? long : short;
}

/** One in so many in `npm test`, all in the slow tests. */
export function oneIn<T>(count: number, all: readonly T[]): readonly T[] {
  return LONG ? all : all.filter((_, at) => at % count === 0);
}

/** A suite for the slow tests only; undefined in `npm test`. */
export function describeLong(title: string, suite: (this: Mocha.Suite) => void): Mocha.Suite | undefined {
  return LONG ? describe(title, suite) : undefined;
}

/** A test for the slow tests only; undefined in `npm test`. */
export function itLong(title: string, run: (this: Mocha.Context) => unknown): Mocha.Test | undefined {
  return LONG ? it(title, run as Mocha.AsyncFunc) : undefined;
}
