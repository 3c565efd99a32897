// Where the events of a recorded answer end, and how one of them is changed: in the framings that the host detects, and
// in one of the plugin's own whose frames are recorded. Of other bytes nobody here can tell.
import { findAwsEventEnds } from './aws-events.ts';
import { encodeFrames, type Frames } from './frames.ts';
import type { Reply } from './recording.ts';

/** The reply with other frames. */
export function changeFrames(reply: Reply, change: (values: readonly unknown[]) => readonly unknown[]): Reply {
  if (!reply.frames) return reply;
  const frames = { ...reply.frames, values: change(reply.frames.values) };
  return { ...reply, frames, body: encodeFrames(frames) };
}

/** Where an event, a frame or a single line has ended. */
export function findEventEnds({ body, frames }: Reply): readonly number[] {
  const ends = frames ? findFrameEnds(frames) : findAwsEventEnds(body);
  if (ends) return ends;
  const text = body.toString('latin1');
  const end = /(\r\n|\n|\r){2,}/.test(text) ? /(\r\n|\n|\r){2,}/g : /\r\n|\n|\r/g;
  return [...text.matchAll(end)].map((match) => match.index + match[0].length);
}

function findFrameEnds({ values, write }: Frames): readonly number[] {
  let at = 0;
  return values.map((value) => {
    at += encodeFrames({ values: [value], write }).length;
    return at;
  });
}

/** Why nothing is derived from bytes in a framing that nobody here can read. */
export const UNKNOWN_FRAMING =
  'the recordings are in a framing of their own; write their frames as `frames`, and `fixtures/frame.js` beside them';

// biome-ignore lint/suspicious/noControlCharactersInRegex: texts of any upstream have none of these.
const BINARY = /[\x00-\x08\x0e-\x1f]/;
const KNOWN_LINE = /^(?:(?:data|event|id|retry)?:|\s*[[{])/m;

/** Whether the body is neither in a framing that the host detects nor recorded as frames. */
export function isUnknownFraming({ body, frames, status }: Reply): boolean {
  if (frames || status !== 200 || body.length === 0 || findAwsEventEnds(body)) return false;
  const text = body.toString('latin1');
  return BINARY.test(text) || !KNOWN_LINE.test(text);
}
