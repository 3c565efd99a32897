// Tests of how long something takes, which a busy machine may have to be asked again.

/** A mistake makes it late every time; another process on the machine, now and then. */
const RETRIES = 3;

/** A test that bounds how long something takes. */
export function itTimed(title: string, run: (this: Mocha.Context) => unknown): Mocha.Test {
  const test = it(title, run as Mocha.AsyncFunc);
  test.retries(RETRIES);
  return test;
}
