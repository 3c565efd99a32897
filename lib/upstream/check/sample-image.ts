// Small images for calls, and the formats of results by their first bytes.
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { sniffWhole } from '../../base/sniff.ts';
import type { ImageInput } from '../contract/provider.ts';

export const FORMATS = ['png', 'jpeg', 'gif', 'webp'] as const;

export type Format = (typeof FORMATS)[number] | 'mp4' | 'webm';

/** Of one pixel. */
const SAMPLES: Readonly<Record<(typeof FORMATS)[number], string>> = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  jpeg: '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxD/2Q==',
  gif: 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  webp: 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
};

export function createSampleImage(format: Format): ImageInput {
  const known = FORMATS.find((each) => each === format);
  if (!known) throw new Error(`a call takes no image of the format ${format}`);
  return { mediaType: `image/${known}`, bytes: Uint8Array.from(Buffer.from(SAMPLES[known], 'base64')) };
}

/** Undefined when the bytes are of nothing that can be shown, or were cut short. */
export function detectFormat(bytes: Uint8Array): Format | undefined {
  const format = sniffWhole(bytes)?.format;
  return format === 'quicktime' ? 'mp4' : format;
}

const PADDING_BYTES = 100_000;
/** Of a prime length, as no buffer has. */
const PATTERN = Uint8Array.from({ length: 251 }, (_, at) => at);
/** As models draw them: in base64 more than the usual length of an event. */
export const DRAWN_BYTES = 1_500_000;

/** A PNG that is far longer than any buffer for one piece: the small one with a chunk that nobody reads. */
export function createLargeImage(paddingBytes = PADDING_BYTES): ImageInput {
  const small = Buffer.from(SAMPLES.png, 'base64');
  const end = small.length - IEND_BYTES;
  const content = Buffer.concat([Buffer.from('teXt'), Buffer.alloc(paddingBytes, PATTERN)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(paddingBytes);
  sum.writeUInt32BE(crc32(content));
  const bytes = Buffer.concat([small.subarray(0, end), length, content, sum, small.subarray(end)]);
  return { mediaType: 'image/png', bytes: Uint8Array.from(bytes) };
}

const IEND_BYTES = 12;
