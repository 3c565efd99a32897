// Small images for calls, and the formats of results by their first bytes.
import { Buffer } from 'node:buffer';
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
