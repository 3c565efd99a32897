// Pictures in messages: the shapes of both dialects count on both endpoints, so that none is dropped without a word.
import { invalidField } from './fields.ts';
import { isImageUrl } from './image-url.ts';

/** A block of content with the fields that may matter. */
export interface WireBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Whether a block is a picture. Throws a fault that names the field when it is a bad one. */
export function isImageBlock(block: WireBlock, field: string): boolean {
  if (block.type === 'image') checkSource(block.source, `${field}.source`);
  else if (block.type === 'image_url') checkImageUrl(block.image_url, `${field}.image_url`);
  else return false;
  return true;
}

function checkSource(value: unknown, field: string): void {
  if (typeof value !== 'object' || value === null) throw invalidField(field, 'must be an object');
  const { type, url, media_type, data } = value as Readonly<Record<string, unknown>>;
  switch (type) {
    case 'url':
      if (typeof url !== 'string' || !isImageUrl(url)) throw invalidField(`${field}.url`, 'must be an https URL');
      return;
    case 'base64':
      if (typeof media_type !== 'string') throw invalidField(`${field}.media_type`, 'must be a string');
      if (typeof data !== 'string') throw invalidField(`${field}.data`, 'must be a base64 string');
      return;
    default:
      throw invalidField(`${field}.type`, 'must be url or base64');
  }
}

const DATA_URI = /^data:image\/[a-z0-9.+-]+;base64,/i;

function checkImageUrl(value: unknown, field: string): void {
  const url = (value as { url?: unknown } | null | undefined)?.url;
  if (typeof url === 'string' && (isImageUrl(url) || DATA_URI.test(url))) return;
  throw invalidField(`${field}.url`, 'must be an https URL or a data URI of an image');
}
