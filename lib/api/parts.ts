// Splits requests into steps for the transfer between threads: a transfer copies data while nothing else runs, so little
// is sent at a time, and long texts in slices.
import assert from 'node:assert/strict';
import { freeBytes } from '../base/free-bytes.ts';
import { sniffImage } from '../base/sniff.ts';
import { createImage } from '../media/image.ts';
import type { RequestImage } from '../media/reference.ts';
import { sliceText } from '../stream/characters.ts';
import type { AudioContent, DocumentContent } from '../upstream/contract/provider.ts';

/** An image link, or the bytes of an image, which are transferred without a copy. */
export interface ImageStep {
  readonly image: Pick<RequestImage, 'field' | 'cache' | 'detail'> & {
    readonly source: string | Uint8Array<ArrayBuffer>;
  };
}

/** A document or a recording, whose bytes are transferred without a copy. */
export interface FileStep {
  readonly file: DocumentContent | AudioContent;
}

/** Steps that are sent together, few enough to copy quickly. */
export type Group<Step extends object = object> = readonly Step[];

/** A request without its long parts, and those parts in groups. */
export interface Cut<Request> {
  readonly head: Request;
  readonly groups: Iterator<Group>;
}

/** Reassembles a request from its groups. */
export interface Joining<Request, Step extends object = object> {
  add(group: Group<Step>): void;
  whole(): Request;
}

const STEPS_MAX = 1000;
const CHARACTERS_MAX = 1024 * 1024;

/** `countCharacters` returns how many characters of a step are copied. */
export function* groupSteps<Step extends object>(
  steps: Iterable<Step>,
  countCharacters: (step: Step) => number,
): Generator<Group<Step>> {
  let group: Step[] = [];
  let characters = 0;
  for (const step of steps) {
    group.push(step);
    characters += countCharacters(step);
    if (group.length < STEPS_MAX && characters < CHARACTERS_MAX) continue;
    yield group;
    group = [];
    characters = 0;
  }
  if (group.length > 0) yield group;
}

/** A text in slices that are quick to copy; none of an empty one. */
export function sliceLongText(text: string): Generator<string> {
  return sliceText(text, CHARACTERS_MAX);
}

export function createImageStep({ field, source, detail, cache }: RequestImage): ImageStep {
  const sent = typeof source === 'string' ? source : (source.bytes as Uint8Array<ArrayBuffer>);
  return { image: { field, source: sent, ...(detail && { detail }), ...(cache && { cache }) } };
}

/** The memory of a group's images and files, to be transferred. */
export function listTransfers(group: Group): ArrayBuffer[] {
  return group.flatMap((step) => {
    if (isFileStep(step)) return [step.file.bytes.buffer as ArrayBuffer];
    if (!isImageStep(step)) return [];
    const { source } = step.image;
    return typeof source === 'string' ? [] : [source.buffer];
  });
}

function isImageStep(step: object): step is ImageStep {
  return 'image' in step;
}

function isFileStep(step: object): step is FileStep {
  return 'file' in step;
}

/** Restores an image on the receiving side. */
export function receiveImage({ source, ...image }: ImageStep['image']): RequestImage {
  if (typeof source === 'string') return { type: 'image', ...image, source };
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  const sniffed = sniffImage(bytes);
  assert(sniffed, 'what was read as an image is one');
  return { type: 'image', ...image, source: createImage({ bytes, release: () => freeBytes(bytes) }, sniffed) };
}
