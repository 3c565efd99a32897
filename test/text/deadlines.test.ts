// Deadlines are told once, not before their time; those that were called off never.
import { expect } from 'chai';
import { callOff, type Deadline, waitFor } from '../../lib/text/deadlines.ts';
import { createWatch } from '../../lib/text/watch.ts';
import { until } from '../../testkit/client.ts';

describe('deadlines', () => {
  it('are told once each, when their time is over, and not when called off or moved ahead', async () => {
    const told: [name: string, lateMs: number][] = [];
    const make = (name: string, inMs: number): Deadline => {
      const deadline = {
        at: performance.now() + inMs,
        onOver: () => void told.push([name, performance.now() - deadline.at]),
      };
      waitFor(deadline);
      return deadline;
    };
    make('second', 300);
    make('first', 20);
    callOff(make('off', 20));
    const moved = make('moved', 20);
    moved.at += 250;
    await until(() => told.length >= 3);
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(told.map(([name]) => name)).to.have.members(['first', 'moved', 'second']);
    for (const [name, lateMs] of told) expect(lateMs, name).to.be.at.least(0);
    // The clock stops when nothing waits, and starts again.
    make('again', 10);
    await until(() => told.length === 4);
  });

  it('are those of a watch whose times are long', async () => {
    const startedAt = performance.now();
    let overMs = 0;
    const watch = createWatch({
      firstTokenTimeoutMs: 2200,
      idleTimeoutMs: 60_000,
      totalDeadline: startedAt + 60_000,
      onHeartbeat: () => undefined,
      onTimeout: () => {
        overMs = performance.now() - startedAt;
      },
    });
    await until(() => overMs > 0, 10_000);
    watch.stop();
    expect(overMs).to.be.at.least(2195);
  });
});
