// Checks of a text stream: it is passed on as it arrives, in whole characters, nothing foreign becomes text, and what
// follows a reason to end is not lost.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { aborted } from './abort.ts';
import { changeFrames, findEventEnds, isUnknownFraming, UNKNOWN_FRAMING } from './event-ends.ts';
import { encodeFrames } from './frames.ts';
import { type TextOutcome, within } from './outcome.ts';
import { withIdleLimit } from './patience.ts';
import type { Recording, Reply, TextRecording } from './recording.ts';
import { onStage, type TestBench } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

const GROUP = 'stream';

/** How long a fragment that has arrived may take to be passed on. */
const FRAGMENT_MS = 1_000;

const RUBBISH = [
  'rubbish',
  'data: rubbish',
  'data: {"rubbish":',
  '{"rubbish"',
  '<html>rubbish</html>',
  'data: "rubbish"',
];
const COMPLAINT = 'rubbish: the server gave up';

export function streamChecks(subject: Subject): readonly Check[] {
  const recording = ordinary(subject, 'text');
  const checks: [name: string, play: (stage: TestBench, recording: TextRecording) => Promise<void>][] = [
    ['takes no rubbish between the lines for text, and does not stumble over it', rubbish],
    ['takes no error between the events for text', complaint],
    ['keeps the halves of a character together', halves],
  ];
  const isNeverLate = subject.nevers.some((never) => never.kind === 'text' && never.case === 'late');
  const isUnknown = isUnknownFraming(recording.reply);
  if (isUnknown || isStream(recording)) {
    checks.push(
      ['goes out as it comes', asItComes],
      ['goes on behind a reason to end', (stage, own) => behindFinish(stage, own, isNeverLate)],
    );
  }
  const withReasoning = subject.recordings.find(hasReasoning);
  const own = (recorded: TextRecording, name: string, play: (typeof checks)[number][1]): Check => ({
    group: GROUP,
    name,
    ...(isUnknown && { unchecked: UNKNOWN_FRAMING }),
    run: () => onOwnStage(recorded, play),
  });
  const all = checks.map(([name, play]) => own(recording, name, play));
  if (!withReasoning) return all;
  return [...all, own(withReasoning, 'an abort within reasoning closes the connection', abortedInReasoning)];

  function onOwnStage(own: TextRecording, play: (stage: TestBench, recording: TextRecording) => Promise<void>) {
    return onStage(subject.plugin, own.settings, (stage) => play(stage, stage.fill(own)));
  }
}

function hasReasoning(recording: Recording): recording is TextRecording {
  return recording.kind === 'text' && recording.expect.finish !== undefined && Boolean(recording.expect.reasoning);
}

export function isStream({ reply }: TextRecording): boolean {
  if (reply.frames) return true;
  const type = Object.entries(reply.headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return /event-?stream|ndjson|jsonl|stream\+json/.test(String(type));
}

async function run(stage: TestBench, recording: TextRecording, body: Buffer): Promise<TextOutcome> {
  return (await stage.run(recording, { reply: { ...recording.reply, body } })) as TextOutcome;
}

async function rubbish(stage: TestBench, recording: TextRecording): Promise<void> {
  const { body } = recording.reply;
  const whole = await run(stage, recording, body);
  for (const place of findEventEnds(recording.reply)) {
    for (const line of RUBBISH) {
      const outcome = await run(stage, recording, insert(body, place, `${line}\n\n`));
      const what = `after \`${line}\` in the middle of an answer`;
      assert(!outcome.fault?.includes(' '), `${what}: ${outcome.fault}`);
      assert(whole.text.startsWith(outcome.text), `${what} there is other text: ${outcome.text}`);
    }
  }
}

async function complaint(stage: TestBench, recording: TextRecording): Promise<void> {
  const { body, frames } = recording.reply;
  const value = { error: { message: COMPLAINT, type: 'server_error', code: 500 } };
  const error = JSON.stringify(value);
  const lines = [`data: ${error}`, `event: error\ndata: ${error}`, error].map((line) => Buffer.from(`${line}\n\n`));
  for (const place of findEventEnds(recording.reply)) {
    for (const bytes of frames ? [encodeFrames({ ...frames, values: [value] })] : lines) {
      const { text, fault } = await run(stage, recording, insert(body, place, bytes));
      assert(!text.includes(COMPLAINT), 'the message of an error is in the text');
      assert(!fault?.includes(' '), fault ?? '');
    }
  }
}

/** Sends a character in two fragments, as servers do that cut their text by UTF-16 units. */
async function halves(stage: TestBench, recording: TextRecording): Promise<void> {
  const fragments = await collectFragments(stage, recording);
  for (const fragment of fragments) {
    const reply = addHalves(recording.reply, fragment);
    if (!reply) continue;
    const outcome = (await stage.run(recording, { reply })) as TextOutcome;
    assert(outcome.text.isWellFormed(), 'the text has half a character');
    return;
  }
}

/** The halves before the line or frame that has the fragment; undefined if none has it. */
function addHalves(reply: Reply, fragment: string): Reply | undefined {
  const { body, frames } = reply;
  const lines = frames?.values.map((value) => JSON.stringify(value)) ?? body.toString('utf8').split('\n');
  const at = lines.findIndex((line) => line.includes(JSON.stringify(fragment)));
  if (at < 0) return undefined;
  const half = (unit: string) => (lines[at] as string).replace(JSON.stringify(fragment), () => unit);
  const [first, second] = [half('"\\ud83d"'), half('"\\ude00"')];
  if (frames) {
    return changeFrames(reply, (values) => values.toSpliced(at, 0, JSON.parse(first), JSON.parse(second)));
  }
  return { ...reply, body: Buffer.from(lines.toSpliced(at, 0, first, '', second, '').join('\n')) };
}

async function collectFragments(stage: TestBench, recording: TextRecording): Promise<readonly string[]> {
  stage.replay.play({ before: recording.before, reply: recording.reply });
  const fragments: string[] = [];
  await withIdleLimit(FRAGMENT_MS * 5, async (signal) => {
    for await (const parts of stage.parts(recording, signal)) {
      for (const part of parts) if (part.type === 'block-delta') fragments.push(part.text);
    }
  });
  return fragments;
}

/** The upstream falls silent after its first fragment. */
async function asItComes(stage: TestBench, recording: TextRecording): Promise<void> {
  const { before, reply } = recording;
  const length = await firstFragment(stage, recording);
  stage.replay.play({ before, reply, pacing: { hold: 'end', length } });
  const pull = async (signal: AbortSignal) => {
    for await (const parts of stage.parts(recording, signal)) {
      if (parts.some((part) => part.type === 'block-delta')) return true;
    }
    return false;
  };
  const came = await withIdleLimit(FRAGMENT_MS, (signal) => within(pull(signal), signal).catch(() => false));
  assert(came, 'a fragment that has arrived waits for what follows it');
}

const LATE_TEXT = `text behind the reason to end is lost, or changes what came before; where no text can follow it, say so: \
{ "kind": "text", "case": "late", "never": "why" }`;

/** The event of the first fragment again, behind the one with the reason to end. */
async function behindFinish(stage: TestBench, recording: TextRecording, isNeverLate: boolean): Promise<void> {
  const { body } = recording.reply;
  const whole = await run(stage, recording, body);
  const gaps = findEventEnds(recording.reply);
  const fragmentEnd = await firstFragment(stage, recording);
  const fragmentStart = gaps[gaps.indexOf(fragmentEnd) - 1] ?? 0;
  const finishEnd = await findGap(stage, recording, ({ finish }) => finish !== undefined);
  const fragment = body.subarray(fragmentStart, fragmentEnd);
  const { text: first } = (await stage.run(recording, { pacing: { length: fragmentEnd } })) as TextOutcome;
  const { text, fault, finish } = await run(stage, recording, insert(body, finishEnd, fragment));
  assert.equal(fault, undefined, 'text behind the reason to end is a failure');
  assert.notEqual(finish, undefined);
  if (isNeverLate) assert(text.startsWith(whole.text), `text behind the end changes what came before: ${text}`);
  else assert.equal(text, whole.text + first, LATE_TEXT);
}

/** The upstream falls silent after its first reasoning. */
async function abortedInReasoning(stage: TestBench, recording: TextRecording): Promise<void> {
  const { before, reply } = recording;
  const length = await findGap(stage, recording, ({ reasoning }) => reasoning !== '');
  stage.replay.play({ before, reply, pacing: { hold: 'end', length } });
  await aborted(stage, (signal) => stage.raw(recording, signal));
}

/** How much of the body produces the first text, with the line ends that follow. */
function firstFragment(stage: TestBench, recording: TextRecording): Promise<number> {
  return findGap(stage, recording, ({ text }) => text !== '');
}

/** How much of the body leads to such an outcome, in whole events; else all of it. */
export async function findGap(
  stage: TestBench,
  recording: TextRecording,
  isSuch: (outcome: TextOutcome) => boolean,
): Promise<number> {
  const { body } = recording.reply;
  for (const length of findEventEnds(recording.reply)) {
    if (isSuch((await stage.run(recording, { pacing: { length } })) as TextOutcome)) return length;
  }
  return body.length;
}

function insert(body: Buffer, place: number, more: string | Buffer): Buffer {
  return Buffer.concat([body.subarray(0, place), Buffer.from(more), body.subarray(place)]);
}
