// Checks of aborts: wherever a call is, it ends at once and its connection to the upstream is closed.
import assert from 'node:assert/strict';
import { pauseOften, withIdleLimit } from './patience.ts';
import type { Recording } from './recording.ts';
import type { Pacing } from './replay.ts';
import { listPlayChecks, type Play, type TestBench } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

/** From the abort to the end of the call and of its connection. */
const CLOSED_WITHIN_MS = 100;

/** From the arrival of its request until a call has certainly reached the point where the upstream falls silent. */
const SETTLED_MS = 40;

/** Until its request has arrived. */
const ARRIVED_MS_MAX = 2000;

export function abortChecks(subject: Subject, kind: Recording['kind']): readonly Check[] {
  const recording = ordinary(subject, kind);
  const { before, reply } = recording;
  const { length } = reply.body;
  const points: readonly (readonly [name: string, pacing: Pacing])[] = [
    ['before the headers', { hold: 'headers' }],
    ['before the first byte', { hold: 'end', length: 0 }],
    ['after one byte', { hold: 'end', length: 1 }],
    ['after a third of the body', { hold: 'end', length: Math.floor(length / 3) }],
    ['after two thirds of the body', { hold: 'end', length: Math.floor((length * 2) / 3) }],
    ['after the last byte, before the end', { hold: 'end' }],
  ];
  const checks: Play[] = points.map(([name, pacing]) => [
    `${name} closes the connection`,
    (stage) => {
      stage.replay.play({ before: stage.fill(recording).before, reply: stage.fill(recording).reply, pacing });
      // All of a text has been read by then: it may be over.
      const mayBeOver = kind === 'text' && pacing.hold === 'end' && pacing.length === undefined;
      return aborted(stage, (signal) => stage.raw(recording, signal), mayBeOver);
    },
  ]);
  for (const [at, earlier] of before.entries()) {
    checks.push([
      `while request ${at + 1} of ${before.length + 1} is answered closes the connection`,
      (stage) => {
        stage.replay.play({ before: before.slice(0, at), reply: earlier, pacing: { hold: 'headers' } });
        return aborted(stage, (signal) => stage.raw(recording, signal));
      },
    ]);
  }
  checks.push([
    'within the body of a refusal closes the connection',
    (stage) => {
      stage.replay.play({ before, reply: { ...reply, status: 500 }, pacing: { hold: 'end' } });
      return aborted(stage, (signal) => stage.raw(recording, signal));
    },
  ]);
  checks.push(['before the call sends nothing', (stage) => abortedEarly(stage, recording)]);
  const group = kind === 'text' ? 'abort' : `abort of ${kind}`;
  return listPlayChecks(group, subject, recording, checks);
}

/** Starts something that stalls, and aborts it. */
export async function aborted(
  stage: TestBench,
  begin: (signal: AbortSignal) => Promise<unknown>,
  mayBeOver = false,
): Promise<void> {
  const controller = new AbortController();
  let isTakenForEnd = false;
  const running = begin(controller.signal).then(() => {
    isTakenForEnd = true;
  });
  const ended = isOver(running);
  const { requests } = stage.replay;
  await withIdleLimit(ARRIVED_MS_MAX, async (late) => {
    while (requests.length === 0 && !late.aborted) await pauseOften(1);
  });
  await pauseOften(SETTLED_MS);
  const request = requests.at(-1);
  assert(request, 'no request arrived');
  controller.abort(new Error('aborted by the check'));
  const late = createPatience();
  assert(await Promise.race([ended, late]), 'the call goes on after its abort');
  assert(await Promise.race([isOver(request.closed), late]), 'the connection stays open after the abort');
  assert(mayBeOver || !isTakenForEnd, 'the abort is taken for the end of an answer: it has to be thrown');
}

/** False after the limit. */
async function createPatience(): Promise<boolean> {
  await pauseOften(CLOSED_WITHIN_MS);
  return false;
}

/** Resolves when it is over; whatever an aborted call throws is ignored. */
function isOver(running: Promise<unknown>): Promise<boolean> {
  return running.then(
    () => true,
    () => true,
  );
}

async function abortedEarly(stage: TestBench, recording: Recording): Promise<void> {
  stage.replay.play({ before: recording.before, reply: recording.reply });
  const signal = AbortSignal.abort(new Error('aborted by the check'));
  const ended = isOver(Promise.resolve().then(() => stage.raw(recording, signal)));
  assert(await Promise.race([ended, createPatience()]), 'the call runs although it was aborted before');
  assert.equal(stage.replay.requests.length, 0);
}
