// Checks against recorded answers: as recorded, cut at every byte, truncated at every byte, and several at once.
import assert from 'node:assert/strict';
import type { Buffer } from 'node:buffer';
import type { TextContent, TextMessage } from '../contract/provider.ts';
import { compareAsked } from './asked.ts';
import { assertChargedOnce } from './charging.ts';
import type { EmbedOutcome, ImageOutcome, Outcome, StartOutcome, TextOutcome } from './outcome.ts';
import type { Recording, TextRecording } from './recording.ts';
import { listPlayChecks, type Play, type TestBench } from './stage.ts';
import { type Check, KINDS, ordinary, type Subject } from './subject.ts';
import { expectStates } from './video.ts';

/** Longer bodies are cut and truncated at a sample of positions. */
const EVERY_BYTE_MAX = 4096;

/** Positions of a sample: this many evenly spaced, and at most this many delicate ones. */
const SAMPLE_SIZE = 50;

/** Cuts at all positions with the same remainder share one reply, each chunk in its own turn. */
const STRIDES = 16;
const STRIDES_SAMPLED = 3;

export function recordingChecks(subject: Subject): readonly Check[] {
  return subject.recordings.flatMap((recording): readonly Check[] => {
    const group = `recording: ${recording.name}`;
    const isOrdinary = KINDS.some((kind) => recording.kind === kind && recording === maybeOrdinary(subject, kind));
    const thorough = subject.thorough || isOrdinary;
    const checks: Play[] = [['reads as expected', asRecorded]];
    const starts = recording.kind !== 'video' || recording.ref === undefined;
    if (starts) {
      checks.push(['reads the same cut at every byte', (stage, own) => cutEverywhere(stage, own, thorough)]);
    }
    if (recording.kind === 'text' && recording.reply.end !== 'reset' && recording.expect.finish !== undefined) {
      const early = (stage: TestBench, own: Recording) => endedEarly(stage, own as TextRecording, thorough);
      checks.push(['has no end when it is ended early', early]);
    }
    if (recording.kind === 'text' && recording.expect.citations) {
      checks.push(['is read the same when its citations go back', citedBefore]);
    }
    if (recording.kind !== 'text' && starts && recording.expect.fault === undefined) {
      checks.push(['has no result when it is ended early', hasNoHalfResult]);
    }
    if (isOrdinary && recording.before.length === 0)
      checks.push(['is kept apart from others at the same time', keptApart]);
    return listPlayChecks(group, subject, recording, checks);
  });
}

function maybeOrdinary(subject: Subject, kind: Recording['kind']): Recording | undefined {
  return subject.recordings.some((recording) => recording.kind === kind) ? ordinary(subject, kind) : undefined;
}

async function asRecorded(stage: TestBench, recording: Recording): Promise<void> {
  if (recording.kind === 'video' && recording.ref) return expectStates(stage, recording, recording.ref);
  const outcome = await stage.run(recording);
  // First, because what was asked for twice is read wrongly, too.
  assertChargedOnce(stage, recording);
  assertExpected(outcome, recording);
  compareAsked(stage.replay.requests, stage.place.key);
  if (recording.kind !== 'video' || recording.expect.fault !== undefined) return;
  const { ref } = outcome as StartOutcome;
  assert(ref, 'the job was not started');
  await expectStates(stage, recording, ref);
}

function assertExpected(outcome: Outcome, { kind, expect }: Recording): void {
  assert.equal(outcome.fault, expect.fault, `another fault than expected: ${outcome.detail}`);
  if (expect.about !== undefined) assert.equal(outcome.about, expect.about, 'a refusal for another cause');
  if (kind === 'text') {
    const { text, finish, usage, reasoning, states, citations, tools, images } = outcome as TextOutcome;
    assert.equal(finish, expect.finish, 'another finish than expected');
    if (expect.text !== undefined) assert.equal(text, expect.text, 'another text than expected');
    if (expect.usage) assert.deepEqual(usage, expect.usage, 'other usage than expected');
    if (expect.reasoning !== undefined) assert.equal(reasoning, expect.reasoning, 'other reasoning');
    if (expect.state) assert.deepEqual(states, expect.state, 'other states of reasoning');
    if (expect.citations) assert.deepEqual(citations, expect.citations, 'other citations');
    assert.deepEqual(omitUnsaidSizes(images, expect.images), expect.images ?? [], 'other images in the answer');
    const named = tools.map((call, at) => (expect.tools?.[at]?.id === undefined ? { ...call, id: undefined } : call));
    assert.deepEqual(
      named,
      (expect.tools ?? []).map((call) => ({ id: undefined, ...call })),
      'other calls of tools',
    );
    assert.equal(new Set(tools.map(({ id }) => id)).size, tools.length, 'two calls have the same id');
  } else if (kind === 'embed') {
    const { vectors, inputTokens } = outcome as EmbedOutcome;
    assert.deepEqual(vectors, expect.vectors ?? [], 'other vectors');
    assert.equal(inputTokens, expect.inputTokens ?? null, 'another count of tokens');
  } else if (kind === 'image') {
    const { images } = outcome as ImageOutcome;
    const { images: expected = [] } = expect;
    assert.deepEqual(omitUnsaidSizes(images, expected), expected);
  } else if (expect.ref !== undefined) {
    assert.deepEqual({ ...(outcome as StartOutcome).ref, ...expect.ref }, (outcome as StartOutcome).ref);
  }
}

interface Sized {
  readonly size?: number;
}

function omitUnsaidSizes(images: readonly Sized[], expected: readonly Sized[] = []): readonly object[] {
  return images.map(({ size, ...image }, at) => (expected[at]?.size === undefined ? image : { ...image, size }));
}

/** The client sends the answer back with its citations, and asks on. */
async function citedBefore(stage: TestBench, recording: Recording): Promise<void> {
  const { call, expect } = recording as TextRecording;
  const citations = expect.citations?.map(({ original, ...citation }) => citation) ?? [];
  const said: TextContent = { type: 'text', text: expect.text || 'Cited.', citations };
  const messages: readonly TextMessage[] = [
    ...call.messages,
    { role: 'assistant', content: [said] },
    { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
  ];
  const again = { ...recording, call: { ...call, messages } } as TextRecording;
  assertExpected(await stage.run(again), again);
}

async function cutEverywhere(stage: TestBench, recording: Recording, thorough: boolean): Promise<void> {
  const { body } = recording.reply;
  const all = Array.from({ length: body.length }, (_, place) => place);
  assertExpected(await stage.run(recording, { pacing: { cuts: all, together: true } }), recording);
  const places = choosePlaces(body, EVERY_BYTE_MAX);
  for (let stride = 0; stride < (thorough ? STRIDES : STRIDES_SAMPLED); stride++) {
    const cuts = places.filter((place) => place % STRIDES === stride);
    assertExpected(await stage.run(recording, { pacing: { cuts } }), recording);
  }
}

/** A truncated body has a finish only if it contains the finish. */
async function endedEarly(stage: TestBench, recording: TextRecording, thorough: boolean): Promise<void> {
  const { reply } = recording;
  const play = async (change?: Parameters<TestBench['run']>[1]) => (await stage.run(recording, change)) as TextOutcome;
  const whole = await play();
  let finishedAt: number | undefined;
  for (const length of choosePlaces(reply.body, thorough ? EVERY_BYTE_MAX : 0)) {
    const outcome = await play({ pacing: { length } });
    assert(whole.text.startsWith(outcome.text), `ended after ${length} bytes it has text that was not sent`);
    for (const [at, { name, json }] of outcome.tools.entries()) {
      const sent = whole.tools[at];
      assert(
        sent?.name === name && sent.json.startsWith(json),
        `ended after ${length} bytes it has a call that was not sent`,
      );
    }
    if (outcome.finish === undefined) {
      assert(finishedAt === undefined, `it has a finish after ${finishedAt} bytes, but none after ${length}`);
      continue;
    }
    finishedAt ??= length;
    const isSent = wasSent(outcome, whole, reply.body, length);
    assert(isSent, `ended after ${length} bytes it has a finish that was not sent`);
  }
  if (!thorough) return;
  const length = Math.floor(reply.body.length / 2);
  const broken = await play({ reply: { ...reply, end: 'reset' }, pacing: { length } });
  if (broken.finish === undefined) assert.notEqual(broken.fault, undefined);
}

/** Half of a reply in JSON is none. */
async function hasNoHalfResult(stage: TestBench, recording: Recording): Promise<void> {
  const { body } = recording.reply;
  const end = body.toString('latin1').trimEnd().length;
  if (!/^\s*[{[]/.test(body.toString('latin1'))) return;
  for (const length of new Set([...choosePlaces(body, 0), end - 1])) {
    if (length >= end) continue;
    const { fault } = await stage.run(recording, { pacing: { length } });
    assert.notEqual(fault, undefined, `ended after ${length} of ${end} bytes it was taken for a result`);
  }
}

/** A finish whose word is in the body must come after that word, any other after all of the text. */
function wasSent({ text, finish, raw }: TextOutcome, whole: TextOutcome, body: Buffer, length: number): boolean {
  if (raw !== undefined && body.includes(raw)) return body.subarray(0, length).includes(raw);
  return text === whole.text && finish === whole.finish;
}

/** Positions in a body: every byte of a small one, otherwise a sample with line ends and multi-byte characters. */
function choosePlaces(body: Buffer, everyByteMax: number): readonly number[] {
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

async function keptApart(stage: TestBench, recording: Recording): Promise<void> {
  const { body } = recording.reply;
  const cuts = Array.from({ length: 8 }, (_, at) => Math.floor((body.length * at) / 8));
  const runs = Array.from({ length: CALLS_AT_ONCE }, () => stage.run(recording, { pacing: { cuts } }));
  for (const outcome of await Promise.all(runs)) assertExpected(outcome, recording);
}
