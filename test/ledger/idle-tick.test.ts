// The wait for an idle tick ends at once in an idle process, and within its limit in a busy one.
import { expect } from 'chai';
import { waitForIdleTick } from '../../lib/ledger/idle-tick.ts';
import { itTimed } from '../../testkit/timed.ts';
import { startEventLoopNoise } from './event-loop-noise.ts';

const MEDIAN_OF = 5;

async function medianMs(withinMs: number, { aloneMs = withinMs, arrived = (): number => 0 } = {}): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < MEDIAN_OF; count += 1) {
    const from = performance.now();
    await waitForIdleTick({ maxMs: withinMs, idleMs: aloneMs }, arrived);
    times.push(performance.now() - from);
  }
  return times.sort((a, b) => a - b)[Math.floor(MEDIAN_OF / 2)] as number;
}

describe('waitForIdleTick', () => {
  itTimed('resolves within a tick or two in an idle process', async () => {
    expect(await medianMs(2000)).to.be.lessThan(200);
  });

  itTimed('waits while every tick has events and more arrives, but never longer than its limit', async () => {
    const endEchoes = await startEventLoopNoise();
    expect(await medianMs(60)).to.be.within(55, 2000);
    // Nothing arrives for the batch; something arrives in every tick; something arrived at first.
    expect(await medianMs(2000, { aloneMs: 20 })).to.be.within(19, 1000);
    let count = 0;
    expect(await medianMs(120, { aloneMs: 20, arrived: () => count++ })).to.be.within(115, 2000);
    const from = performance.now();
    expect(await medianMs(4000, { aloneMs: 40, arrived: () => Math.min(performance.now() - from, 60) })).to.be.within(
      39,
      2000,
    );
    endEchoes();
  });
});
