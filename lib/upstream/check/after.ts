// Checks of what calls leave behind once they are over: no timer of the plugin, and no connection that is not used
// again.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartOutcome } from './outcome.ts';
import { pauseOften, withIdleLimit } from './patience.ts';
import type { Recording, Reply, VideoRecording } from './recording.ts';
import { listPlayChecks, type Play, type TestBench } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';
import { watchTimers } from './timer-watch.ts';

/** The host keeps reading the end of an answer for a moment; what is there after so long stays. */
const SETTLED_MS = 600;
const PACE_MS = 20;

const POLL_MS = 6000;

const CALLS = 4;
const LONG_BYTES = 256 * 1024;

export function afterChecks(subject: Subject, kind: Recording['kind']): readonly Check[] {
  const recording = ordinary(subject, kind);
  const checks: Play[] = [
    ['leaves no timer behind', (stage, own) => checkTimers(stage, own, subject.folder)],
    ['leaves no connection open', checkConnections],
  ];
  return listPlayChecks(`after ${kind}`, subject, recording, checks);
}

async function checkTimers(stage: TestBench, recording: Recording, folder: string): Promise<void> {
  const watch = watchTimers(folder);
  try {
    await callOnce(stage, recording);
    await refuseOnce(stage, recording);
    await sleep(1);
    const [left] = watch.left();
    assert(left === undefined, `a timer is still running after the call: it was set ${left}`);
  } finally {
    watch.end();
  }
}

/** If each call leaves one open, their number grows with the calls. */
async function checkConnections(stage: TestBench, recording: Recording): Promise<void> {
  const long = withLongReplies(recording);
  const count = async (enough: number) => {
    await callOnce(stage, long);
    await refuseOnce(stage, long);
    for (let waited = 0; stage.replay.connections() > enough && waited < SETTLED_MS; waited += PACE_MS)
      await pauseOften(PACE_MS);
    return stage.replay.connections();
  };
  const first = await count(1);
  for (let calls = 2; calls < CALLS; calls += 1) await callOnce(stage, long);
  const enough = first + CALLS - 2;
  const last = await count(enough);
  assert(last <= enough, `${CALLS} calls leave ${last} connections open, one leaves ${first}`);
}

/** Replies of JSON that are more than is read before anybody asks for it: spaces may follow a value. */
function withLongReplies(recording: Recording): Recording {
  const lengthen = (reply: Reply): Reply => {
    const isJson = /^\s*[{[]/.test(reply.body.toString('latin1', 0, 64));
    return isJson ? { ...reply, body: Buffer.concat([reply.body, Buffer.alloc(LONG_BYTES, ' ')]) } : reply;
  };
  const { before, reply } = recording;
  const polls = recording.kind === 'video' && { polls: recording.polls.map((replies) => replies.map(lengthen)) };
  return { ...recording, before: before.map(lengthen), reply: lengthen(reply), ...polls };
}

/** The call as recorded, a video with its polls. */
async function callOnce(stage: TestBench, recording: Recording): Promise<void> {
  const outcome = await stage.run(recording);
  if (recording.kind !== 'video') return;
  const { ref } = outcome as StartOutcome;
  assert(ref, `the job was not started: ${outcome.detail}`);
  const video = stage.provider.video as NonNullable<typeof stage.provider.video>;
  for (const replies of (recording as VideoRecording).polls) {
    stage.replay.play({ before: replies.slice(0, -1), reply: replies.at(-1) as Reply });
    await withIdleLimit(POLL_MS, (signal) => video.poll(JSON.parse(JSON.stringify(ref)), signal));
  }
}

async function refuseOnce(stage: TestBench, recording: Recording): Promise<void> {
  const { before, reply } = recording;
  stage.replay.play({ before, reply: { ...reply, status: 500 } });
  await stage.call(recording);
}
