// Checks that long pieces of an answer arrive whole: recordings are short, and a buffer of a plugin may not be.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { findAwsEventEnds } from './aws-events.ts';
import { changeFrames, isUnknownFraming, UNKNOWN_FRAMING } from './event-ends.ts';
import type { ImageOutcome, TextOutcome } from './outcome.ts';
import type { Recording, Reply, TextRecording } from './recording.ts';
import { createLargeImage, DRAWN_BYTES, detectFormat } from './sample-image.ts';
import { onStage, type TestBench } from './stage.ts';
import type { Check, Subject } from './subject.ts';

const LONG_CHARS = 20_000;

/** What is derived from each recording; undefined where it has nothing to lengthen. */
type Derive = (stage: TestBench, recording: Recording) => Promise<(() => Promise<void>) | undefined>;

const CHECKS: readonly (readonly [kind: Recording['kind'], group: string, name: string, derive: Derive])[] = [
  [
    'text',
    'stream',
    'keeps a long piece of text whole',
    (stage, own) => lengthenPiece(stage, own as TextRecording, 'text'),
  ],
  [
    'text',
    'stream',
    'keeps a long piece of arguments whole',
    (stage, own) => lengthenPiece(stage, own as TextRecording, 'tool'),
  ],
  [
    'text',
    'stream',
    'keeps a long piece of reasoning whole',
    (stage, own) => lengthenPiece(stage, own as TextRecording, 'reasoning'),
  ],
  ['text', 'stream', 'keeps a large image of an answer whole', enlargeImage],
  ['image', 'images', 'a large image arrives whole', enlargeImage],
];

export function longPieceChecks(subject: Subject, kind: Recording['kind']): readonly Check[] {
  const recordings = subject.recordings.filter(
    (recording) => recording.kind === kind && recording.reply?.status === 200 && recording.expect.fault === undefined,
  );
  const isUnknown = kind === 'text' && recordings.some(({ reply }) => isUnknownFraming(reply));
  return CHECKS.filter(([of]) => of === kind).map(([, group, name, derive]) => ({
    group,
    name,
    ...(isUnknown && { unchecked: UNKNOWN_FRAMING }),
    async run() {
      for (const recording of recordings) {
        const isDone = await onStage(subject.plugin, recording.settings, async (stage) => {
          const play = await derive(stage, stage.fill(recording));
          await play?.();
          return play !== undefined;
        });
        if (isDone) return;
      }
    },
  }));
}

type PieceType = 'text' | 'reasoning' | 'tool';

/** The first piece that the body has as a JSON string, made long. */
async function lengthenPiece(stage: TestBench, recording: TextRecording, type: PieceType) {
  // A call that was not offered is left out.
  if (type === 'tool' && !recording.expect.tools) return undefined;
  // Their lengths and sums are binary.
  if (findAwsEventEnds(recording.reply.body)) return undefined;
  const { frames } = recording.reply;
  const body = frames ? JSON.stringify(frames.values) : recording.reply.body.toString('utf8');
  const pieces = await collectPieces(stage, recording, type);
  const first = pieces.find((text) => isLengthened(text, type) && body.includes(JSON.stringify(text)));
  if (first === undefined) return undefined;
  const long =
    type === 'tool' ? `{${' '.repeat(LONG_CHARS)}${first.slice(1)}` : `${first}${'долго '.repeat(LONG_CHARS / 6)}`;
  const longBody = body.replace(JSON.stringify(first), () => JSON.stringify(long));
  const reply = frames
    ? changeFrames(recording.reply, () => JSON.parse(longBody))
    : { ...recording.reply, body: Buffer.from(longBody) };
  return async () => {
    const { text, reasoning, tools, detail } = (await stage.run(recording, { reply })) as TextOutcome;
    const whole = type === 'tool' ? tools.map(({ json }) => json) : [type === 'text' ? text : reasoning];
    assert(
      whole.some((each) => each.includes(long)),
      `a piece of ${long.length} characters is not passed on whole: ${detail}`,
    );
  };
}

/** Space may stand behind the brace of an object, and nowhere else for certain. */
function isLengthened(text: string, type: PieceType): boolean {
  return type === 'tool' ? text.startsWith('{') : text.trim() !== '';
}

async function collectPieces(stage: TestBench, recording: TextRecording, type: PieceType) {
  stage.replay.play({ before: recording.before, reply: recording.reply });
  const pieces: string[] = [];
  const open = new Set<number>();
  for await (const parts of stage.parts(recording, AbortSignal.timeout(5000))) {
    for (const part of parts) {
      if (part.type === 'block-start' && part.block.type === type) open.add(part.index);
      if (part.type === 'block-delta' && open.has(part.index)) pieces.push(part.text);
    }
  }
  return pieces;
}

const INLINE = /"((?:data:image\/[a-z]+;base64,)?)([A-Za-z0-9+/=]{60,})"/;

/** The image of an answer, in base64 or as the body itself. */
async function enlargeImage(stage: TestBench, recording: Recording) {
  if (recording.kind === 'text' && !recording.expect.images) return undefined;
  const { body } = recording.reply;
  const { bytes } = createLargeImage(recording.kind === 'text' ? DRAWN_BYTES : undefined);
  const base64 = Buffer.from(bytes).toString('base64');
  const text = body.toString('latin1');
  const isInline = detectFormat(Buffer.from(INLINE.exec(text)?.[2] ?? '', 'base64')) !== undefined;
  if (!isInline && detectFormat(body) === undefined) return undefined;
  const large = isInline
    ? Buffer.from(
        text.replace(INLINE, (_, prefix) => `"${prefix}${base64}"`),
        'latin1',
      )
    : Buffer.from(bytes);
  const reply: Reply = { ...recording.reply, body: large };
  return async () => {
    const { images, fault, detail } = (await stage.run(recording, { reply })) as ImageOutcome | TextOutcome;
    assert.equal(fault, undefined, `an image of ${bytes.length} bytes is ${fault}: ${detail}`);
    assert.equal(images[0]?.size, bytes.length, 'a large image has another size than was sent');
  };
}
