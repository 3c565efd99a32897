// Small images for calls, and the formats of results by their first bytes.
import { Buffer } from 'node:buffer';
import type { ImageInput } from '../contract/provider.ts';

export const FORMATS = ['png', 'jpeg', 'gif', 'webp'] as const;

export type Format = (typeof FORMATS)[number] | 'mp4' | 'webm';

/** Of one pixel. */
const SAMPLES: Readonly<Record<(typeof FORMATS)[number], string>> = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  jpeg: '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
  gif: 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  webp: 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
};

export function createSampleImage(format: Format): ImageInput {
  const known = FORMATS.find((each) => each === format);
  if (!known) throw new Error(`a call takes no image of the format ${format}`);
  return { mediaType: `image/${known}`, bytes: Uint8Array.from(Buffer.from(SAMPLES[known], 'base64')) };
}

/** Undefined when the bytes are of nothing that can be shown. */
export function detectFormat(bytes: Uint8Array): Format | undefined {
  const text = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (/^GIF8[79]a/.test(text)) return 'gif';
  if (/^RIFF.{4}WEBP/s.test(text)) return 'webp';
  if (text.slice(4, 8) === 'ftyp') return 'mp4';
  return text.startsWith('\x1aE\xdf\xa3') ? 'webm' : undefined;
}
