// Inline images as data URIs or base64: decoded strictly, in slices, straight into their final memory.
import { fault } from '../base/faults.ts';
import { sniffImage } from '../base/sniff.ts';
import {
  type ByteBudget,
  createImage,
  type Held,
  holdBytes,
  IMAGE_BYTES_MAX,
  type Image,
  mayBeImage,
  tooLarge,
} from './image.ts';

interface InlineOptions {
  /** The request field that faults name. */
  readonly field: string;
  readonly budget?: ByteBudget;
}

/** The longest accepted `data:` prefix with media type and parameters. */
const HEADER_LENGTH_MAX = 256;
const HEADER = /^data:([^;,]*)((?:;[^;,]*)*);base64$/i;

/** Whether a text is a data URI, not a URL. */
export function isDataUri(text: string): boolean {
  return /^data:/i.test(text.slice(0, 5));
}

/** Reads the image of a data URI. Throws 400 faults, or 503 if the budget has no room; their messages omit the text. */
export function readDataUri(text: string, options: InlineOptions): Image {
  const comma = text.slice(0, HEADER_LENGTH_MAX).indexOf(',');
  const [, mediaType] = HEADER.exec(text.slice(0, Math.max(0, comma))) ?? [];
  if (mediaType === undefined) throw invalidImageField(options.field, 'must be a data URI of an image in base64');
  // Without a media type, a data URI is plain text.
  if (mediaType === '') throw fault('image_unsupported', { field: options.field });
  return readBase64(text.slice(comma + 1), { ...options, mediaType });
}

/** Reads the image of a base64 text with an optional declared media type. Throws like `readDataUri`. */
export function readBase64(text: string, options: InlineOptions & { readonly mediaType?: string }): Image {
  const { field, mediaType, budget } = options;
  if (!mayBeImage(mediaType)) throw fault('image_unsupported', { field });
  const digits = countDigits(text);
  if (digits === undefined) throw invalidImageField(field, NOT_BASE64);
  const bytes = Math.floor((digits * 3) / 4);
  if (bytes > IMAGE_BYTES_MAX) throw tooLarge(field);
  if (!isPlain(text)) throw invalidImageField(field, NOT_BASE64);
  const held = holdBytes(bytes, budget);
  if (!held) throw fault('no_room');
  const whole = decode(text, digits, held);
  const sniffed = whole ? sniffImage(held.bytes) : undefined;
  if (sniffed) return createImage(held, sniffed);
  held.release();
  throw whole ? fault('image_unsupported', { field }) : invalidImageField(field, NOT_BASE64);
}

/** The media type in lower case, its parameters, and the base64 of a data URI. Throws 400 faults. */
export function splitDataUri(
  text: string,
  field: string,
): { readonly mediaType: string | undefined; readonly parameters: string; readonly base64: string } {
  const comma = text.slice(0, HEADER_LENGTH_MAX).indexOf(',');
  const header = HEADER.exec(text.slice(0, Math.max(0, comma)));
  if (!header) throw invalidImageField(field, 'must be a data URI in base64');
  const [, mediaType, parameters = ''] = header;
  return { mediaType: mediaType?.toLowerCase(), parameters, base64: text.slice(comma + 1) };
}

/** The bytes of base64, in memory of their own; the limit is that of the body. Throws 400 faults. */
export function decodeBase64(text: string, field: string): Buffer {
  const digits = countDigits(text);
  if (digits === undefined || digits === 0 || !isPlain(text)) throw invalidImageField(field, NOT_BASE64);
  const held = holdBytes(Math.floor((digits * 3) / 4), undefined) as Held;
  if (!decode(text, digits, held)) throw invalidImageField(field, NOT_BASE64);
  return held.bytes;
}

const NOT_BASE64 = 'must be base64 in the standard alphabet, without spaces or line breaks';

function invalidImageField(field: string, hint: string) {
  return fault('invalid_field', { field, hint });
}

/** The characters before the padding, which may be missing; undefined if their number cannot be base64. */
function countDigits(text: string): number | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  if (digits % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined;
  return digits;
}

/** Excludes characters outside the standard alphabet that Node's decoder accepts. Each check is one native pass. */
function isPlain(text: string): boolean {
  return Buffer.byteLength(text) === text.length && !text.includes('-') && !text.includes('_');
}

/** A multiple of 4, so that a slice decodes to whole bytes. */
const SLICE_CHARS = 64 * 1024;

/** Node's decoder skips invalid characters; such a slice decodes to fewer bytes than expected. */
function decode(text: string, digits: number, { bytes }: Held): boolean {
  let written = 0;
  for (let at = 0; at < digits; at += SLICE_CHARS) {
    const end = Math.min(at + SLICE_CHARS, digits);
    written += bytes.write(text.slice(at, end), written, 'base64');
    if (written !== Math.floor((end * 3) / 4)) return false;
  }
  return true;
}
