// Checks of aborts: wherever a call stands, it ends at once and its connection to the upstream is closed.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pacing } from '../../helpers/recordings.ts';
import { type Check, ordinary, type Subject } from './check.ts';
import { openStage, type Stage } from './subject.ts';

const GROUP = 'abort';

/** From the abort to the end of the call and of its connection. */
const CLOSED_WITHIN_MS = 100;

/** Until a call surely stands where the upstream fell silent. */
const SETTLED_MS = 40;

export function abortChecks(subject: Subject): readonly Check[] {
  const { body } = ordinary(subject).reply;
  const points: readonly (readonly [name: string, pacing: Pacing])[] = [
    ['before the headers', { hold: 'headers' }],
    ['before the first byte', { hold: 'end', length: 0 }],
    ['after one byte', { hold: 'end', length: 1 }],
    ['after a third of the body', { hold: 'end', length: Math.floor(body.length / 3) }],
    ['after two thirds of the body', { hold: 'end', length: Math.floor((body.length * 2) / 3) }],
    ['after the last byte, before the end', { hold: 'end' }],
  ];
  return [
    ...points.map(([name, pacing]): Check => {
      return { group: GROUP, name: `${name} closes the connection`, run: () => aborted(subject, pacing) };
    }),
    { group: GROUP, name: 'within the body of a refusal closes the connection', run: () => abortedRefusal(subject) },
    { group: GROUP, name: 'before the call sends nothing', run: () => abortedEarly(subject) },
  ];
}

async function aborted(subject: Subject, pacing: Pacing): Promise<void> {
  await staged(subject, async (stage) => {
    stage.replay.play(ordinary(subject).reply, pacing);
    await abortRunning(stage, subject);
  });
}

async function abortedRefusal(subject: Subject): Promise<void> {
  await staged(subject, async (stage) => {
    stage.replay.play({ ...ordinary(subject).reply, status: 500 }, { hold: 'end' });
    await abortRunning(stage, subject);
  });
}

async function abortRunning(stage: Stage, subject: Subject): Promise<void> {
  const controller = new AbortController();
  const ended = pull(stage, subject, controller.signal);
  await sleep(SETTLED_MS);
  const [request] = stage.replay.requests;
  assert(request, 'no request arrived');
  const start = performance.now();
  controller.abort(new Error('aborted by the check'));
  const late = sleep(CLOSED_WITHIN_MS * 5, undefined);
  const end = await Promise.race([ended, late]);
  assert(end !== undefined && end - start < CLOSED_WITHIN_MS, 'the call goes on after its abort');
  const closed = await Promise.race([request.closed, late]);
  assert(closed !== undefined && closed - start < CLOSED_WITHIN_MS, 'the connection stays open after the abort');
}

/** Resolves with the time when the iterator is over, however it ends. */
async function pull(stage: Stage, subject: Subject, signal: AbortSignal): Promise<number> {
  try {
    for await (const parts of stage.parts(ordinary(subject), signal)) assert(Array.isArray(parts));
  } catch {
    // What an aborted call throws is nobody's business.
  }
  return performance.now();
}

async function abortedEarly(subject: Subject): Promise<void> {
  await staged(subject, async (stage) => {
    stage.replay.play(ordinary(subject).reply);
    const start = performance.now();
    const end = await pull(stage, subject, AbortSignal.abort(new Error('aborted by the check')));
    assert(end - start < CLOSED_WITHIN_MS, 'the call runs although it was aborted before');
    assert.equal(stage.replay.requests.length, 0);
  });
}

async function staged(subject: Subject, play: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await openStage(subject.plugin, ordinary(subject).settings);
  try {
    await play(stage);
  } finally {
    await stage.close();
  }
}
