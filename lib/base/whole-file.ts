// Tells whether an image or a video is complete, from its own structure, as its bytes go by: one that was cut short
// still has its first bytes.
import { Buffer } from 'node:buffer';

interface WholeCheck {
  push(chunk: Uint8Array): void;
  /** True if what was pushed has come to the end that its format marks. */
  isWhole(): boolean;
}

/** What a walk wants next: bytes to look at, to pass over some, or to pass over all up to the next of this value. */
type Step = { readonly read: number } | { readonly skip: number } | Search;

interface Search {
  readonly find: number;
  /** What may follow the value without being what is looked for. */
  readonly isPassed: (next: number) => boolean;
}

type Walk = Generator<Step, void, Buffer>;

const WALKS = {
  png: walkPng,
  jpeg: walkJpeg,
  gif: walkGif,
  webp: walkWebp,
  mp4: walkBoxes,
  quicktime: walkBoxes,
  webm: walkWebm,
} as const satisfies Readonly<Record<string, (progress: Progress) => Walk>>;

type MediaFormat = keyof typeof WALKS;

/**
 * The largest real image takes a third of it, most for the escaped bytes of a JPEG. A file made of tiny parts would take
 * minutes of the event loop.
 */
const STEPS_MAX = 1_000_000;

/** True while the file may end where the walk is. */
interface Progress {
  mayEnd: boolean;
}

export function createWholeCheck(format: MediaFormat): WholeCheck {
  const progress: Progress = { mayEnd: false };
  const walk = WALKS[format](progress);
  let step = walk.next();
  let steps = 0;
  let pending: Buffer = Buffer.alloc(0);
  let skipped = 0;

  function advance(bytes: Buffer): void {
    pending = Buffer.alloc(0);
    skipped = 0;
    // A step over nothing is over before anything arrives.
    do {
      step = walk.next(bytes);
      steps += 1;
    } while (!step.done && 'skip' in step.value && step.value.skip === 0);
    if (steps > STEPS_MAX) {
      step = { done: true, value: undefined };
      progress.mayEnd = false;
    }
  }

  /** Takes what the step wants of the chunk; returns how much that was. */
  function take(wanted: Step, chunk: Buffer): number {
    if ('find' in wanted) {
      const at = search(wanted, chunk);
      if (at < 0) return chunk.length;
      advance(chunk);
      return at + 1;
    }
    if ('skip' in wanted) {
      const bytes = Math.min(wanted.skip - skipped, chunk.length);
      skipped += bytes;
      if (skipped === wanted.skip) advance(chunk);
      return bytes;
    }
    const more = chunk.subarray(0, wanted.read - pending.length);
    pending = pending.length === 0 ? more : Buffer.concat([pending, more]);
    if (pending.length === wanted.read) advance(pending);
    return more.length;
  }

  return {
    push(chunk) {
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      while (!step.done && rest.length > 0) rest = rest.subarray(take(step.value, rest));
    },
    isWhole: () => progress.mayEnd && pending.length === 0 && skipped === 0,
  };
}

/** The last byte of a chunk may be the value: what follows it is then looked at by the walk. */
function search({ find, isPassed }: Search, chunk: Buffer): number {
  let at = chunk.indexOf(find);
  while (at >= 0 && at + 1 < chunk.length && isPassed(chunk[at + 1] as number)) at = chunk.indexOf(find, at + 2);
  return at;
}

/** Whether the bytes are a whole file. */
export function isWholeFile(bytes: Uint8Array, format: MediaFormat): boolean {
  const check = createWholeCheck(format);
  check.push(bytes);
  return check.isWhole();
}

/** Chunks up to IEND; what somebody appended does not matter. */
function* walkPng(progress: Progress): Walk {
  yield { skip: 8 };
  for (;;) {
    const head = yield { read: 8 };
    yield { skip: head.readUInt32BE(0) + 4 };
    if (head.toString('latin1', 4) === 'IEND') break;
  }
  progress.mayEnd = true;
}

/** Segments and scans up to the end of the image; an embedded thumbnail is within a segment. */
function* walkJpeg(progress: Progress): Walk {
  yield { skip: 2 };
  for (;;) {
    yield { find: 0xff, isPassed: isBareMarker };
    let marker = 0xff;
    while (marker === 0xff) marker = (yield { read: 1 }).readUInt8();
    if (marker === 0xd9) break;
    if (!isBareMarker(marker)) yield { skip: Math.max(0, (yield { read: 2 }).readUInt16BE() - 2) };
  }
  progress.mayEnd = true;
}

/** Within a scan: an escaped byte, or a restart. Most of a photograph's markers are these. */
function isBareMarker(marker: number): boolean {
  return marker === 0 || marker === 1 || (marker >= 0xd0 && marker <= 0xd8);
}

function* walkGif(progress: Progress): Walk {
  const screen = yield { read: 13 };
  yield { skip: countColourBytes(screen.readUInt8(10)) };
  for (;;) {
    const kind = (yield { read: 1 }).readUInt8();
    if (kind === 0x3b) break;
    if (kind === 0x2c) {
      const image = yield { read: 9 };
      // The colours, and the size of a code.
      yield { skip: countColourBytes(image.readUInt8(8)) + 1 };
    } else yield { skip: 1 };
    for (;;) {
      const length = (yield { read: 1 }).readUInt8();
      if (length === 0) break;
      yield { skip: length };
    }
  }
  progress.mayEnd = true;
}

function countColourBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function* walkWebp(progress: Progress): Walk {
  const head = yield { read: 8 };
  yield { skip: head.readUInt32LE(4) };
  progress.mayEnd = true;
}

/** Whole boxes, the description of the tracks and their samples among them. */
function* walkBoxes(progress: Progress): Walk {
  const seen = new Set<string>();
  for (;;) {
    const head = yield { read: 8 };
    progress.mayEnd = false;
    const type = head.toString('latin1', 4);
    let size = head.readUInt32BE(0) - 8;
    if (size === 1 - 8) size = Number((yield { read: 8 }).readBigUInt64BE()) - 16;
    seen.add(type);
    const hasAll = seen.has('moov') && (seen.has('mdat') || seen.has('moof'));
    // The last box may go on to the end of the file, wherever that is.
    if (size === -8) break;
    yield { skip: Math.max(0, size) };
    progress.mayEnd = hasAll;
  }
  progress.mayEnd = seen.has('moov');
}

/** Whole elements; a live one says no size, and may end anywhere. */
function* walkWebm(progress: Progress): Walk {
  for (;;) {
    const id = yield* readNumber();
    progress.mayEnd = false;
    const size = yield* readNumber();
    if (size.isUnknown) break;
    yield { skip: size.value };
    progress.mayEnd = id.raw === SEGMENT;
  }
  progress.mayEnd = true;
}

const SEGMENT = 0x18538067;

interface VariableNumber {
  readonly value: number;
  /** With the bit that marks its length, as ids are written. */
  readonly raw: number;
  readonly isUnknown: boolean;
}

/** As EBML writes numbers: the leading zeros of the first byte say how many follow. */
function* readNumber(): Generator<Step, VariableNumber, Buffer> {
  const first = (yield { read: 1 }).readUInt8();
  const more = Math.clz32(first) - 24;
  const rest = more > 0 ? yield { read: Math.min(more, 7) } : Buffer.alloc(0);
  const mask = 0x7f >> more;
  let [value, raw, isUnknown] = [first & mask, first, (first & mask) === mask];
  for (const byte of rest) {
    value = value * 256 + byte;
    raw = raw * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value, raw, isUnknown };
}
