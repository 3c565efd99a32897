// Inline pictures as data URIs or base64: decoded strictly, in slices, straight into their memory.
import { fault } from '../base/faults.ts';
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
import { sniffImage } from './sniff.ts';

export interface InlineOptions {
  /** The request field that faults name. */
  readonly field: string;
  readonly budget?: ByteBudget;
}

/** `data:` with a media type and parameters, none of which is long. */
const HEADER_LENGTH_MAX = 256;
const HEADER = /^data:([^;,]*)((?:;[^;,]*)*);base64$/i;

/** Whether a text should be read as a data URI instead of a URL. */
export function isDataUri(text: string): boolean {
  return /^data:/i.test(text.slice(0, 5));
}

/** The picture of a data URI. Throws 400 faults, and 503 if the budget has no room; none contains the text. */
export function readDataUri(text: string, options: InlineOptions): Image {
  const comma = text.slice(0, HEADER_LENGTH_MAX).indexOf(',');
  const [, mediaType] = HEADER.exec(text.slice(0, Math.max(0, comma))) ?? [];
  if (mediaType === undefined) throw invalid(options.field, 'must be a data URI of an image in base64');
  // An empty one would mean text.
  if (mediaType === '') throw fault('image_unsupported', { field: options.field });
  return readBase64(text.slice(comma + 1), { ...options, mediaType });
}

/** The picture of a base64 text, with its declared media type if it has one. Throws like `readDataUri`. */
export function readBase64(text: string, options: InlineOptions & { readonly mediaType?: string }): Image {
  const { field, mediaType, budget } = options;
  if (!mayBeImage(mediaType)) throw fault('image_unsupported', { field });
  const digits = countDigits(text);
  if (digits === undefined) throw invalid(field, NOT_BASE64);
  const bytes = Math.floor((digits * 3) / 4);
  if (bytes > IMAGE_BYTES_MAX) throw tooLarge(field);
  if (!isPlain(text)) throw invalid(field, NOT_BASE64);
  const held = holdBytes(bytes, budget);
  if (!held) throw fault('no_room');
  const whole = decode(text, digits, held);
  const sniffed = whole ? sniffImage(held.bytes) : undefined;
  if (sniffed) return createImage(held, sniffed);
  held.release();
  throw whole ? fault('image_unsupported', { field }) : invalid(field, NOT_BASE64);
}

const NOT_BASE64 = 'must be base64 in the standard alphabet, without spaces or line breaks';

function invalid(field: string, hint: string) {
  return fault('invalid_field', { field, hint });
}

/** How many characters precede the padding; undefined if that many cannot be base64. Padding may be missing. */
function countDigits(text: string): number | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  if (digits % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined;
  return digits;
}

/** Excludes what Node's decoder accepts besides the standard alphabet. Each is one fast pass of native code. */
function isPlain(text: string): boolean {
  return Buffer.byteLength(text) === text.length && !text.includes('-') && !text.includes('_');
}

/** Decoded in one go: a multiple of 4, so that a slice yields whole bytes. */
const SLICE_CHARS = 64 * 1024;

/** Node's decoder skips what is not base64, so a slice then yields fewer bytes than it should. */
function decode(text: string, digits: number, { bytes }: Held): boolean {
  let written = 0;
  for (let at = 0; at < digits; at += SLICE_CHARS) {
    const end = Math.min(at + SLICE_CHARS, digits);
    written += bytes.write(text.slice(at, end), written, 'base64');
    if (written !== Math.floor((end * 3) / 4)) return false;
  }
  return true;
}
