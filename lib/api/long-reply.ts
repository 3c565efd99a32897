// The reply of a text call as JSON; one with images piece by piece: a whole text of it would be held in memory beside them.
import { randomUUID } from 'node:crypto';
import type { CollectedReply } from '../stream/collect.ts';

const PIECE_CHARS = 256 * 1024;

/** Undefined for a reply without images. */
export function writeLongReply(
  body: object,
  { blocks }: Pick<CollectedReply, 'blocks'>,
): Generator<string> | undefined {
  const images = blocks.flatMap((block) => (block.type === 'image' ? [block.base64] : []));
  return images.length > 0 ? writePieces(body, images) : undefined;
}

/** An image is the end of its text: a data URL has a head. Base64 is the same in JSON. */
function* writePieces(body: object, images: readonly string[]): Generator<string> {
  const mark = randomUUID();
  const marked: string[] = [];
  const json = JSON.stringify(body, (_, value: unknown) => {
    if (typeof value !== 'string') return value;
    const base64 = images.find((image) => value.endsWith(image));
    if (base64 === undefined) return value;
    marked.push(base64);
    return `${value.slice(0, value.length - base64.length)}${mark}`;
  });
  const [head, ...rest] = json.split(mark) as [string, ...string[]];
  yield head;
  for (const [at, text] of rest.entries()) {
    const base64 = marked[at] as string;
    for (let from = 0; from < base64.length; from += PIECE_CHARS) yield base64.slice(from, from + PIECE_CHARS);
    yield text;
  }
}
