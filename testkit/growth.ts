// Whether work grows with its input, and not faster.
import { expect } from 'chai';

const SHORT = 8_000;
const TIMES = 4;
/** What is quadratic takes 16 times as much. */
const TIMES_MAX = 9;
/** Other work on the machine disturbs some. */
const LOOKS = 3;
/** Of which a short input may have some more or less than a long one. */
const NOISE_MS = 30;

/** Prepares work for an input of so many pieces. */
export type PrepareWork = (pieces: number) => () => void;

/** Fails if four times as much input takes far more than four times as much CPU. */
export function expectLinear(prepare: PrepareWork, short = SHORT): void {
  const looks: number[] = [];
  for (let look = 0; look < LOOKS && Math.min(...looks) > TIMES_MAX; look += 1) {
    const shortMs = measureCpu(prepare(short));
    looks.push((measureCpu(prepare(short * TIMES)) - NOISE_MS) / shortMs);
  }
  expect(Math.min(...looks)).to.be.at.most(TIMES_MAX);
}

function measureCpu(work: () => void): number {
  const begin = process.cpuUsage();
  work();
  return process.cpuUsage(begin).user / 1000;
}
