import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Watch, type Watched, type WatchOptions } from '../../../lib/calls/text/watch.ts';
import { until } from '../../../testkit/client.ts';
import { itTimed } from '../../../testkit/timed.ts';

/** How much later than asked a timer may fire on a busy machine. */
const LATE_MS = 500;
/** How much earlier: timers and the clock that judges them round differently. */
const EARLY_MS = 2;

describe('watch', () => {
  let watch: Watch;
  let startedAt: number;
  let beats: number[];
  let timeouts: number[];
  let onTimeout: () => void;
  let watched: { -readonly [Name in keyof Watched]: Watched[Name] };

  afterEach(() => watch.stop());

  /** Content arrives. */
  const touch = () => {
    watched.workedAt = performance.now();
    watched.finished = false;
  };
  /** The first reason to end arrives, or another one. */
  const finish = () => {
    if (!watched.finished) watched.workedAt = performance.now();
    watched.finished = true;
    watch.noteFinish();
  };

  /** Limits far away but for those given. */
  function start({ totalMs = 60_000, ...options }: Partial<WatchOptions> & { totalMs?: number }): void {
    startedAt = performance.now();
    [beats, timeouts] = [[], []];
    const since = () => performance.now() - startedAt;
    const timedOut = new Promise<void>((resolve) => {
      onTimeout = resolve;
    });
    watched = {
      workedAt: 0,
      finished: false,
      onHeartbeat: () => void beats.push(since()),
      onTimeout: () => {
        timeouts.push(since());
        onTimeout();
      },
    };
    watch = new Watch({
      firstTokenTimeoutMs: 60_000,
      idleTimeoutMs: 60_000,
      totalDeadline: startedAt + totalMs,
      watched,
      ...options,
    });
    over = timedOut;
  }
  let over: Promise<void>;

  /** Waits for the limit and for what might follow it. */
  async function expectTimeout(atMs: number): Promise<void> {
    await Promise.race([over, sleep(atMs + 2 * LATE_MS)]);
    await sleep(20);
    expect(timeouts).to.have.length(1);
    expect(timeouts[0]).to.be.within(atMs - EARLY_MS, atMs + LATE_MS);
  }

  itTimed('is over when the first fragment does not come in time', async () => {
    start({ firstTokenTimeoutMs: 30 });
    await expectTimeout(30);
  });

  itTimed('is over when nothing follows a fragment, also when that limit is the shorter one', async () => {
    start({ firstTokenTimeoutMs: 5000, idleTimeoutMs: 30 });
    await sleep(50);
    touch();
    const touchedAt = performance.now() - startedAt;
    expect(timeouts).to.deep.equal([]);
    await expectTimeout(touchedAt + 30);
  });

  itTimed('gives every fragment the same time, however many come', async () => {
    start({ firstTokenTimeoutMs: 400, idleTimeoutMs: 400 });
    for (let at = 0; at < 7; at += 1) {
      await sleep(80);
      touch();
    }
    const touchedAt = performance.now() - startedAt;
    expect(timeouts).to.deep.equal([]);
    await expectTimeout(touchedAt + 400);
  });

  itTimed('is over at the end of the total time, whatever comes', async () => {
    start({ totalMs: 60, idleTimeoutMs: 40 });
    const ticker = setInterval(() => touch(), 5);
    await expectTimeout(60).finally(() => clearInterval(ticker));
  });

  itTimed('is over at once when the total time is over already', async () => {
    start({ totalMs: -5 });
    await expectTimeout(0);
  });

  itTimed('says it once, although things go on', async () => {
    start({ firstTokenTimeoutMs: 20, idleTimeoutMs: 10, heartbeatMs: 5 });
    await over;
    const before = beats.length;
    touch();
    watch.pause();
    watch.resume();
    finish();
    await sleep(50);
    expect(timeouts).to.have.length(1);
    expect(beats).to.have.length(before);
  });

  describe('while the reader is slow', () => {
    itTimed('does not count silence', async () => {
      start({ idleTimeoutMs: 30 });
      touch();
      watch.pause();
      await sleep(80);
      expect(timeouts).to.deep.equal([]);
      watch.resume();
      const resumedAt = performance.now() - startedAt;
      await expectTimeout(resumedAt + 30);
    });

    itTimed('counts the total time', async () => {
      start({ idleTimeoutMs: 20, totalMs: 70 });
      touch();
      watch.pause();
      await expectTimeout(70);
    });

    itTimed('stops counting as often as it happens', async () => {
      start({ idleTimeoutMs: 300 });
      for (let at = 0; at < 4; at += 1) {
        touch();
        watch.pause();
        await sleep(200);
        watch.resume();
        await sleep(10);
      }
      expect(timeouts).to.deep.equal([]);
    });
  });

  describe('after the terminal signal', () => {
    itTimed('gives what follows little time, however it is spread', async () => {
      start({ afterFinishMs: 50 });
      touch();
      finish();
      const ticker = setInterval(() => finish(), 10);
      await expectTimeout(50).finally(() => clearInterval(ticker));
    });

    itTimed('gives what follows its usual time once content has come', async () => {
      start({ idleTimeoutMs: 150, afterFinishMs: 20 });
      finish();
      touch();
      await expectTimeout(150);
    });

    itTimed('gives no more than a limit, whatever comes', async () => {
      start({ idleTimeoutMs: 5000 });
      watch.limit(50);
      const ticker = setInterval(() => touch(), 10);
      await expectTimeout(50).finally(() => clearInterval(ticker));
    });

    itTimed('gives no more than silence had', async () => {
      start({ idleTimeoutMs: 30, afterFinishMs: 5000 });
      finish();
      await expectTimeout(30);
    });

    itTimed('shortens a long wait for the first fragment', async () => {
      start({ firstTokenTimeoutMs: 10_000, afterFinishMs: 30 });
      finish();
      await expectTimeout(30);
    });

    itTimed('waits for a slow reader all the same', async () => {
      start({ afterFinishMs: 30 });
      watch.pause();
      finish();
      await sleep(60);
      expect(timeouts).to.deep.equal([]);
      watch.resume();
      await expectTimeout(performance.now() - startedAt + 30);
    });
  });

  describe('heartbeats', () => {
    itTimed('come in even steps', async () => {
      start({ heartbeatMs: 30 });
      await until(() => beats.length >= 2);
      for (const [at, beat] of beats.entries()) expect(beat).to.be.within((at + 1) * 30 - 1, (at + 1) * 30 + LATE_MS);
    });

    itTimed('go on while the upstream sends something', async () => {
      start({ heartbeatMs: 20, idleTimeoutMs: 5000 });
      const ticker = setInterval(() => touch(), 5);
      await until(() => beats.length >= 3).finally(() => clearInterval(ticker));
      expect(timeouts).to.deep.equal([]);
    });

    itTimed('do not put off a limit', async () => {
      start({ heartbeatMs: 7, firstTokenTimeoutMs: 40 });
      await expectTimeout(40);
    });
  });

  itTimed('does nothing more once it is stopped', async () => {
    start({ firstTokenTimeoutMs: 20, totalMs: 30, heartbeatMs: 10 });
    watch.stop();
    touch();
    finish();
    watch.resume();
    await sleep(60);
    expect([beats, timeouts]).to.deep.equal([[], []]);
    start({ idleTimeoutMs: 10 });
    watch.stop();
    touch();
    await sleep(40);
    expect([beats, timeouts]).to.deep.equal([[], []]);
  });

  itTimed('can be stopped by its own heartbeat', async () => {
    start({
      heartbeatMs: 10,
      totalMs: 500,
      watched: {
        workedAt: 0,
        finished: false,
        onHeartbeat: () => watch.stop(),
        onTimeout: () => timeouts.push(0),
      },
    });
    await sleep(600);
    expect(timeouts).to.deep.equal([]);
  });

  itTimed('beats every fifteen seconds, and gives three after the terminal signal, if nothing else is set', () => {
    const timer = mock.method(globalThis, 'setTimeout');
    try {
      start({});
      finish();
      const [beat, end] = timer.mock.calls.map(({ arguments: [, ms = 0] }) => ms);
      expect(beat).to.be.within(14_500, 15_000);
      expect(end).to.be.within(2_500, 3_000);
    } finally {
      timer.mock.restore();
    }
  });

  itTimed('takes the longest times that can be set', async () => {
    const longest = 2_147_483_647;
    start({ firstTokenTimeoutMs: longest, idleTimeoutMs: longest, totalMs: longest });
    touch();
    watch.pause();
    watch.resume();
    await sleep(20);
    expect(timeouts).to.deep.equal([]);
  });
});
