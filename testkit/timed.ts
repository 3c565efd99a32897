// Tests that bound how long something takes, or that need a database to answer in time: retried, as machines may be busy.

/** A bug makes it late every time; another process on the machine only now and then. */
const RETRIES = 3;

/** A test that bounds how long something takes, or in which a write fails if the database answers too late. */
export function itTimed(title: string, run: (this: Mocha.Context) => unknown): Mocha.Test {
  const test = it(title, run as Mocha.AsyncFunc);
  test.retries(RETRIES);
  return test;
}
