// Checks that a call does not hold the event loop, in which all other calls wait.
import assert from 'node:assert/strict';
import type { Recording } from './recording.ts';
import { onStage } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

/** Of CPU time, without a turn for anything else; small recordings take a few milliseconds. */
const BUSY_MS_MAX = 100;

/** No more than this is waited for: it is certain by then. */
const BUSY_MS_SURE = 1000;

/** The first calls also compile. */
const CALLS = 3;

export function busyCheck(subject: Subject, kind: Recording['kind']): Check {
  const recording = ordinary(subject, kind);
  return {
    group: `during ${kind}`,
    name: 'leaves the event loop to other calls',
    run: () =>
      onStage(subject.plugin, recording.settings, async (stage) => {
        let least = Number.POSITIVE_INFINITY;
        for (let calls = 0; calls < CALLS && least > BUSY_MS_MAX; calls += 1) {
          least = Math.min(least, await measureBusyMs(() => stage.run(recording)));
          if (least > BUSY_MS_SURE) break;
        }
        const busy = `a call keeps the event loop busy for ${Math.round(least)} ms without a pause`;
        assert(least <= BUSY_MS_MAX, `${busy}: all other calls of the gateway wait meanwhile`);
      }),
  };
}

/** The most CPU time between two turns of the loop; a process that waits for a CPU uses none. */
async function measureBusyMs(work: () => Promise<unknown>): Promise<number> {
  let most = 0;
  let last = process.cpuUsage();
  const turn = () => {
    const { user, system } = process.cpuUsage(last);
    most = Math.max(most, (user + system) / 1000);
    last = process.cpuUsage();
  };
  const timer = setInterval(turn, 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
    turn();
  }
  return most;
}
