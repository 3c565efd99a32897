// Checks against recorded answers: as recorded, cut at every byte, ended at every byte, and several at a time.
import assert from 'node:assert/strict';
import type { Buffer } from 'node:buffer';
import type { Recording } from '../../helpers/recordings.ts';
import { type Check, ordinary, type Subject } from './check.ts';
import { type Outcome, openStage, type Stage } from './subject.ts';

/** Bodies above it are cut and ended at a sample of places. */
const EVERY_BYTE_MAX = 4096;

/** Places of a sample: so many evenly, and at most so many delicate ones. */
const SAMPLE_SIZE = 50;

/** Cuts at all places with the same remainder go into one reply, each in a turn of its own. */
const STRIDES = 16;
const STRIDES_SAMPLED = 3;

export function recordingChecks(subject: Subject): readonly Check[] {
  const checks = subject.recordings.flatMap((recording): readonly Check[] => {
    const group = `recording: ${recording.name}`;
    const thorough = subject.thorough || recording === ordinary(subject);
    const checks: [name: string, play: Play][] = [
      ['reads as expected', asRecorded],
      ['reads the same cut at every byte', (stage) => cutEverywhere(stage, recording, thorough)],
    ];
    if (recording.reply.end !== 'reset' && recording.expect.finish !== undefined) {
      checks.push(['has no end when it is ended early', (stage) => endedEarly(stage, recording, thorough)]);
    }
    return checks.map(([name, play]) => ({ group, name, run: () => staged(subject, recording, play) }));
  });
  return [
    ...checks,
    { group: 'calls', name: 'that run at the same time are kept apart', run: () => keptApart(subject) },
  ];
}

type Play = (stage: Stage, recording: Recording) => Promise<void>;

async function staged({ plugin }: Subject, recording: Recording, play: Play): Promise<void> {
  const stage = await openStage(plugin, recording.settings);
  try {
    await play(stage, recording);
  } finally {
    await stage.close();
  }
}

async function asRecorded(stage: Stage, recording: Recording): Promise<void> {
  const outcome = await stage.run(recording);
  assertExpected(outcome, recording);
  const { request } = recording.expect;
  if (request !== undefined) assertContains(JSON.parse(stage.replay.requests[0]?.body ?? 'null'), request, 'request');
}

function assertExpected({ text, finish, usage, fault, detail }: Outcome, { expect }: Recording): void {
  assert.equal(fault, expect.fault, `another fault than expected: ${detail}`);
  assert.equal(finish, expect.finish, 'another finish than expected');
  if (expect.text !== undefined) assert.equal(text, expect.text);
  if (expect.usage) assert.deepEqual(usage, expect.usage);
}

/** Objects may have more keys than expected; everything else is equal. */
function assertContains(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected !== 'object' || expected === null) {
    assert.deepEqual(actual, expected, `${path} differs`);
    return;
  }
  assert(typeof actual === 'object' && actual !== null, `${path} is missing`);
  if (Array.isArray(expected))
    assert.equal((actual as unknown[]).length, expected.length, `${path} has another length`);
  for (const [key, value] of Object.entries(expected)) {
    assertContains((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
  }
}

async function cutEverywhere(stage: Stage, recording: Recording, thorough: boolean): Promise<void> {
  const { reply } = recording;
  const all = Array.from({ length: reply.body.length }, (_, place) => place);
  assertExpected(await stage.run(recording, reply, { cuts: all, together: true }), recording);
  const places = placesOf(reply.body, EVERY_BYTE_MAX);
  for (let stride = 0; stride < (thorough ? STRIDES : STRIDES_SAMPLED); stride++) {
    const cuts = places.filter((place) => place % STRIDES === stride);
    assertExpected(await stage.run(recording, reply, { cuts }), recording);
  }
}

/** A body that ends early has a finish only if the finish was in it. */
async function endedEarly(stage: Stage, recording: Recording, thorough: boolean): Promise<void> {
  const { reply } = recording;
  const whole = await stage.run(recording);
  let finishedAt: number | undefined;
  for (const length of placesOf(reply.body, thorough ? EVERY_BYTE_MAX : 0)) {
    const outcome = await stage.run(recording, reply, { length });
    assert(whole.text.startsWith(outcome.text), `ended after ${length} bytes it has text that was not sent`);
    if (outcome.finish === undefined) {
      assert(finishedAt === undefined, `it has a finish after ${finishedAt} bytes, but none after ${length}`);
      continue;
    }
    finishedAt ??= length;
    assert(
      wasSent(outcome, whole, reply.body, length),
      `ended after ${length} bytes it has a finish that was not sent`,
    );
  }
  if (!thorough) return;
  const length = Math.floor(reply.body.length / 2);
  const broken = await stage.run(recording, { ...reply, end: 'reset' }, { length });
  if (broken.finish === undefined) assert.notEqual(broken.fault, undefined);
}

/** A finish whose word is in the body must come after the word, any other after all of the text. */
function wasSent({ text, finish, raw }: Outcome, whole: Outcome, body: Buffer, length: number): boolean {
  if (raw !== undefined && body.includes(raw)) return body.subarray(0, length).includes(raw);
  return text === whole.text && finish === whole.finish;
}

/** Places in a body: every byte of a small one, else a sample with line ends and characters of several bytes. */
function placesOf(body: Buffer, everyByteMax: number): readonly number[] {
  if (body.length <= everyByteMax) return Array.from({ length: body.length }, (_, place) => place);
  const step = Math.ceil(body.length / SAMPLE_SIZE);
  const places: number[] = [];
  let delicate = 0;
  for (let place = 0; place < body.length; place++) {
    if (place % step === 0) places.push(place);
    else if (isDelicate(body, place) && delicate++ < SAMPLE_SIZE) places.push(place);
  }
  return places;
}

function isDelicate(body: Buffer, place: number): boolean {
  const before = body[place - 1] ?? 0;
  const after = body[place] ?? 0;
  return before >= 0x80 || after >= 0x80 || before === 10 || before === 13 || after === 10 || after === 13;
}

const CALLS_AT_ONCE = 5;

async function keptApart(subject: Subject): Promise<void> {
  const recording = ordinary(subject);
  await staged(subject, recording, async (stage) => {
    const { body } = recording.reply;
    const cuts = Array.from({ length: 8 }, (_, at) => Math.floor((body.length * at) / 8));
    const runs = Array.from({ length: CALLS_AT_ONCE }, () => stage.run(recording, recording.reply, { cuts }));
    for (const outcome of await Promise.all(runs)) assertExpected(outcome, recording);
  });
}
