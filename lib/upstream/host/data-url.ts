// Data URLs: for images sent to an upstream, and results that come inline.
import { Buffer } from 'node:buffer';
import type { MediaSource } from '../contract/call.ts';
import type { DocumentContent } from '../contract/content.ts';
import type { Base64 } from '../contract/request.ts';

export function createDataUrl(
  { mediaType, bytes }: Pick<DocumentContent, 'mediaType' | 'bytes'>,
  base64: Base64,
): string {
  return `data:${mediaType};base64,${base64(bytes)}`;
}

/** `HostImage.sourcesOf`. */
export function readMediaSources(value: unknown): readonly MediaSource[] {
  if (Array.isArray(value)) return value.flatMap(readMediaSources);
  if (typeof value === 'object' && value !== null)
    return readMediaSources('url' in value ? value.url : Object.values(value));
  if (typeof value !== 'string') return [];
  if (value.startsWith('data:')) return [{ bytes: Buffer.from(value.slice(value.indexOf(',') + 1), 'base64') }];
  return /^https?:/i.test(value) ? [{ url: value }] : [];
}
