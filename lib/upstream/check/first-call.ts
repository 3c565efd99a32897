// The first checks of each kind of call: that it shows no secret, and does not hold the event loop, in which all other
// calls wait.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { StartOutcome } from './outcome.ts';
import { readCpuWaitMs } from './patience.ts';
import type { Recording, Reply, VideoRecording } from './recording.ts';
import { listPlayChecks, type Play, type TestBench } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

/** Of CPU time, without a tick for anything else; small recordings take a few milliseconds. */
const BUSY_MS_MAX = 100;

/** Of any time; a machine may stall for less. */
const STALL_MS_MAX = 200;

/** No more than this is waited for: it is certain by then. */
const BUSY_MS_SURE = 1000;

/** All polls of a job in a recording take less. */
const POLLS_MS = 10_000;

/** The first calls also compile. */
const CALLS = 3;

export function firstCallChecks(subject: Subject, kind: Recording['kind']): readonly Check[] {
  const recording = ordinary(subject, kind);
  const checks: Play[] = [
    // What a stage sees printed is reported by the first check, so that one is named for it.
    ['runs, and keeps its secrets out of log and output', async (stage) => void (await stage.run(recording))],
    ['leaves the event loop to other calls', (stage) => leavesLoop('a call', () => stage.run(recording))],
    ['leaves the call as it is', leavesCall],
  ];
  if (kind === 'video') checks.push(['leaves the event loop to other calls while it is polled', pollsLeaveLoop]);
  return listPlayChecks(`during ${kind}`, subject, recording, checks);

  /** Where this route fails, the next one gets the same call. */
  async function leavesCall(stage: TestBench): Promise<void> {
    const { call } = recording;
    const before = structuredClone(call);
    await stage.run(recording);
    const changed = Object.entries(before).find(([name, value]) => !isDeepStrictEqual(value, Reflect.get(call, name)));
    assert(changed === undefined, `the plugin changes \`${changed?.[0]}\` of its call, which the next route gets, too`);
  }

  async function pollsLeaveLoop(stage: TestBench): Promise<void> {
    const { polls } = stage.fill(recording as VideoRecording);
    const cancelled = subject.recordings.find((each) => each.kind === 'video' && each.cancel !== undefined);
    const { cancel } = (cancelled ?? {}) as Partial<VideoRecording>;
    const { ref, detail } = (await stage.run(recording)) as StartOutcome;
    assert(ref, `the job was not started: ${detail}`);
    const { video } = stage.provider;
    const signal = AbortSignal.timeout(POLLS_MS);
    for (const replies of polls) {
      await leavesLoop('a poll', async () => {
        stage.replay.play({ before: replies.slice(0, -1), reply: replies.at(-1) as Reply });
        await video?.poll(ref, signal).catch(noop);
      });
    }
    if (!cancel || !video?.cancel) return;
    await leavesLoop('cancelling a job', async () => {
      stage.replay.play({ reply: cancel });
      await video.cancel?.(ref, signal).catch(noop);
    });
  }
}

function noop(): void {}

/** Throws if each of several runs holds the loop. */
export async function leavesLoop(what: string, work: () => unknown): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let calls = 0; calls < CALLS && least > BUSY_MS_MAX; calls += 1) {
    least = Math.min(least, await measureBusyMs(work));
    if (least > BUSY_MS_SURE) break;
  }
  const busy = `${what} keeps the event loop busy for ${Math.round(least)} ms without a pause`;
  assert(least <= BUSY_MS_MAX, `${busy}: all other calls of the gateway wait meanwhile`);
}

/**
 * The most CPU time between two ticks of the loop, or the most time at all if it is long: what sleeps without giving the
 * loop back uses none. Waiting for a CPU is neither.
 */
async function measureBusyMs(work: () => unknown): Promise<number> {
  let most = 0;
  let last = readUse();
  const onTick = () => {
    const now = readUse();
    const heldMs = now.atMs - last.atMs;
    most = Math.max(most, now.cpuMs - last.cpuMs, heldMs > STALL_MS_MAX ? heldMs : 0);
    last = now;
  };
  const timer = setInterval(onTick, 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
    onTick();
  }
  return most;
}

function readUse(): { readonly atMs: number; readonly cpuMs: number } {
  const { user, system } = process.cpuUsage();
  return { atMs: performance.now() - readCpuWaitMs(process.pid), cpuMs: (user + system) / 1000 };
}
