// The images of a message in any dialect: a link that is fetched later, or bytes that are decoded now.

import { constant, type Json, object, text } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import { IMAGE_BYTES_MAX } from '../../media/image.ts';
import { isDataUri, readBase64, readDataUri } from '../../media/inline.ts';
import type { RequestImage } from '../../media/reference.ts';
import { checkText } from '../../media/url.ts';
import type { ImageDetail } from '../../upstream/contract/provider.ts';
import { invalidField } from './fields.ts';

/** A content block with the fields that may matter. */
export interface WireBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The block types that are images. */
export const IMAGE_BLOCK_TYPES: readonly string[] = ['image', 'image_url', 'input_image'];

/** Whether a block is an image, valid or not. */
export function isImageBlock({ type }: WireBlock): boolean {
  return IMAGE_BLOCK_TYPES.includes(type);
}

const MEBIBYTES_MAX = IMAGE_BYTES_MAX / 1024 / 1024;

/** The schema of a block that `readSource` reads. */
export const imageBlock: Json = object({
  type: constant('image'),
  source: {
    oneOf: [
      object({ type: constant('url'), url: text('An https URL of a public host.', { format: 'uri' }) }),
      object({
        type: constant('base64'),
        media_type: text('Such as `image/png`.'),
        data: text(`At most ${MEBIBYTES_MAX} MiB of image.`, { contentEncoding: 'base64' }),
      }),
    ],
  },
});

const DETAILS: readonly ImageDetail[] = ['low', 'high', 'original'];
const DETAIL: Json = {
  description: `How closely it is looked at, where the vendor has that: ${DETAILS.join(', ')}. Anything else is ignored.`,
};

/** The schema of a block that `readImageUrl` reads. */
export const imageUrlBlock: Json = object({
  type: constant('image_url'),
  image_url: object(
    {
      url: text(`An https URL of a public host, or a data URI of an image of at most ${MEBIBYTES_MAX} MiB.`, {
        format: 'uri',
      }),
      detail: DETAIL,
    },
    { optional: ['detail'] },
  ),
});

/** The schema of the same in the responses dialect. */
export const inputImagePart: Json = object(
  {
    type: constant('input_image'),
    image_url: text('The URL itself, or a data URI.', { format: 'uri' }),
    detail: DETAIL,
  },
  { optional: ['detail'] },
);

/** The image of an image block. Throws 400 faults that name the field. */
export function readImageBlock(block: WireBlock, field: string): RequestImage {
  if (block.type === 'image') return readBareImage(block, field) ?? readSource(block.source, `${field}.source`);
  const detail = readDetail(block);
  return { ...readImageUrl(block, `${field}.image_url`), ...(detail && { detail }) };
}

/** Beside the URL, or beside the object that has it. */
function readDetail({ detail, image_url: inner }: WireBlock): ImageDetail | undefined {
  const given = isRecord(inner) ? (inner.detail ?? detail) : detail;
  return DETAILS.find((each) => each === given);
}

/**
 * `{ data, mimeType }`, as tools of agents have it, `{ base64, mime_type }`, `{ url }` or `{ image }` of frameworks;
 * undefined for none of them.
 */
function readBareImage(block: WireBlock, field: string): RequestImage | undefined {
  if (isRecord(block.source)) return undefined;
  const name = BARE.find((each) => typeof block[each] === 'string');
  if (name === undefined) return undefined;
  const place = `${field}.${name}`;
  const value = `${block[name]}`;
  if (name === 'url' || name === 'image' || isDataUri(value)) return readLink(value, place);
  const mediaType = [block.mimeType, block.mime_type].find((each) => typeof each === 'string');
  return readImageSource(place, readBase64(value, { field: place, ...(mediaType !== undefined && { mediaType }) }));
}

const BARE = ['data', 'base64', 'url', 'image'] as const;

/** `{ source: { type: "url", url } }` or `{ source: { type: "base64", media_type, data } }`. */
function readSource(source: unknown, field: string): RequestImage {
  if (!isRecord(source)) throw invalidField(field, 'must be an object');
  const { type, url, media_type: mediaType, data } = source;
  switch (type) {
    case 'url':
      return readLink(url, `${field}.url`);
    case 'base64':
      if (typeof mediaType !== 'string') throw invalidField(`${field}.media_type`, 'must be a string');
      if (typeof data !== 'string') throw invalidField(`${field}.data`, 'must be a base64 string');
      return readImageSource(field, readBase64(data, { field: `${field}.data`, mediaType }));
    default:
      throw invalidField(`${field}.type`, 'must be url or base64');
  }
}

/** `{ image_url: { url } }` of a chat, or the URL itself, as `input_image` has it. Each is read in the place of the other. */
function readImageUrl({ type, image_url: value }: WireBlock, field: string): RequestImage {
  if (isRecord(value)) return readLink(value.url, `${field}.url`);
  const isPlain = typeof value === 'string' || type === 'input_image';
  return readLink(value, isPlain ? field : `${field}.url`);
}

/** A link to be fetched, or the image of a data URI. Throws 400 faults that name the field. */
export function readLink(url: unknown, field: string): RequestImage {
  if (typeof url !== 'string' || url === '') {
    throw invalidField(field, 'must be an https URL or a data URI of an image');
  }
  if (isDataUri(url)) return readImageSource(field, readDataUri(url, { field }));
  checkText(url, field);
  return readImageSource(field, url);
}

function readImageSource(field: string, source: RequestImage['source']): RequestImage {
  return { type: 'image', field, source };
}
