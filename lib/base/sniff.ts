// Detects the type of a file from its first bytes, and the size of an image from its header.
import { isWholeFile } from './whole-file.ts';

export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp';
type VideoFormat = 'mp4' | 'webm' | 'quicktime';

interface Sniffed<Format extends ImageFormat | VideoFormat = ImageFormat | VideoFormat> {
  readonly kind: 'image' | 'video';
  readonly format: Format;
  readonly mediaType: string;
  /** File extension without the dot. */
  readonly extension: string;
}

export interface SniffedImage extends Sniffed<ImageFormat> {
  readonly kind: 'image';
}

export interface SniffedVideo extends Sniffed<VideoFormat> {
  readonly kind: 'video';
}

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** `sniff` reads at most this many bytes. */
export const SNIFF_BYTES = 64;

const PNG = describeImageFormat('png', 'png');
const JPEG = describeImageFormat('jpeg', 'jpg');
const GIF = describeImageFormat('gif', 'gif');
const WEBP = describeImageFormat('webp', 'webp');
const MP4 = describeVideoFormat('mp4', 'mp4');
const WEBM = describeVideoFormat('webm', 'webm');
const QUICKTIME = describeVideoFormat('quicktime', 'mov');

const EXTENSIONS: ReadonlyMap<string, string> = new Map(
  [PNG, JPEG, GIF, WEBP, MP4, WEBM, QUICKTIME].map(({ mediaType, extension }) => [mediaType, extension]),
);

/** The file extension of a media type that `sniff` returns. */
export function findExtension(mediaType: string): string | undefined {
  return EXTENSIONS.get(mediaType);
}

/** Brands of MP4-like files that are images or audio. */
const OTHER_BRANDS = /^(?:avi[fos]|hei[cmsx]|hev[cmsx]|mif[12]|miaf|msf1|M4[AB] |crx )$/;

export function sniff(bytes: Uint8Array): SniffedImage | SniffedVideo | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SNIFF_BYTES)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return PNG;
  if (head.startsWith('\xff\xd8\xff')) return JPEG;
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return GIF;
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return WEBP;
  if (head.startsWith('ftyp', 4) && head.length >= 12) return sniffBrand(head.slice(8, 12));
  // The document type is among the first elements.
  if (head.startsWith('\x1a\x45\xdf\xa3') && head.includes('\x42\x82\x84webm')) return WEBM;
  return undefined;
}

/** Like `sniff` for a whole file: one that was cut short, and an image without a size, are refused. */
export function sniffWhole(bytes: Uint8Array): SniffedImage | SniffedVideo | undefined {
  const sniffed = sniff(bytes);
  if (!sniffed || (sniffed.kind === 'image' && !readImageSize(bytes, sniffed.format))) return undefined;
  return isWholeFile(bytes, sniffed.format) ? sniffed : undefined;
}

/** Detects images only. */
export function sniffImage(bytes: Uint8Array): SniffedImage | undefined {
  const sniffed = sniff(bytes);
  return sniffed?.kind === 'image' ? sniffed : undefined;
}

function sniffBrand(brand: string): SniffedVideo | undefined {
  if (brand === 'qt  ') return QUICKTIME;
  return OTHER_BRANDS.test(brand) ? undefined : MP4;
}

function describeImageFormat(format: ImageFormat, extension: string): SniffedImage {
  return { kind: 'image', format, mediaType: `image/${format}`, extension };
}

function describeVideoFormat(format: VideoFormat, extension: string): SniffedVideo {
  return { kind: 'video', format, mediaType: `video/${format}`, extension };
}

/** Reads width and height from the header of an image; undefined if it is truncated or invalid. */
export function readImageSize(bytes: Uint8Array, format: ImageFormat): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = readSize(view, format);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

function readSize(view: DataView, format: ImageFormat): ImageSize | undefined {
  switch (format) {
    case 'png':
      // The first chunk is IHDR.
      if (view.byteLength < 24 || view.getUint32(12) !== 0x49484452) return undefined;
      return { width: view.getUint32(16), height: view.getUint32(20) };
    case 'gif':
      if (view.byteLength < 10) return undefined;
      return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    case 'webp':
      return readWebpSize(view);
    case 'jpeg':
      return readJpegSize(view);
  }
}

const VP8 = 0x56503820;
const VP8_LOSSLESS = 0x5650384c;
const VP8_EXTENDED = 0x56503858;

function readWebpSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 30) return undefined;
  const upTo14Bits = (at: number) => view.getUint16(at, true) & 0x3fff;
  switch (view.getUint32(12)) {
    case VP8:
      return view.getUint16(23) === 0x9d01 ? { width: upTo14Bits(26), height: upTo14Bits(28) } : undefined;
    case VP8_LOSSLESS: {
      const packed = view.getUint32(21, true);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case VP8_EXTENDED:
      // Two 24-bit numbers, each stored minus one.
      return { width: (view.getUint32(24, true) & 0xffffff) + 1, height: (view.getUint32(26, true) >>> 8) + 1 };
    default:
      return undefined;
  }
}

/** Real files have some dozens of segments before their frame; a walk over millions would hold up all other calls. */
const JPEG_STEPS_MAX = 10_000;

/** Walks the segments to the frame header. */
function readJpegSize(view: DataView): ImageSize | undefined {
  let at = 2;
  for (let step = 0; step < JPEG_STEPS_MAX && at + 9 <= view.byteLength; step += 1) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    // Image data or the end of the file before any frame.
    else if (marker === 0xda || marker === 0xd9) return undefined;
    else at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return undefined;
}

/** Start-of-frame markers of any coding; C4, C8 and CC are tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
