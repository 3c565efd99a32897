// An image in memory: sniffed, counted against a budget, and released by its holder.
import { type Fault, fault } from '../base/faults.ts';
import { freeBytes } from '../base/free-bytes.ts';
import { type ImageFormat, type ImageSize, readImageSize, type SniffedImage } from '../base/sniff.ts';

export const IMAGE_BYTES_MAX = 8 * 1024 * 1024;

export interface Image {
  readonly bytes: Buffer;
  readonly format: ImageFormat;
  /** Detected from the bytes; the declared type is ignored. */
  readonly mediaType: string;
  /** Undefined if the header of the file does not contain it. */
  readonly size: ImageSize | undefined;
  /** Frees the bytes and returns them to the budget; idempotent. */
  release(): void;
}

/** Memory shared by all calls. */
export interface ByteBudget {
  /** Takes bytes, and returns what gives them back; undefined if too few are left. */
  takePart(bytes: number): Release | undefined;
}

type Release = () => void;

/** Bytes in memory of their own; call `release` once to free them. */
export interface Held {
  readonly bytes: Buffer;
  readonly release: Release;
}

/** Allocates memory from the budget, not zeroed; undefined if too little is left. */
export function holdBytes(bytes: number, budget: ByteBudget | undefined): Held | undefined {
  const releaseBudget = budget ? budget.takePart(bytes) : () => {};
  if (!releaseBudget) return undefined;
  const memory = Buffer.allocUnsafeSlow(bytes);
  return {
    bytes: memory,
    release() {
      freeBytes(memory);
      releaseBudget();
    },
  };
}

export function createImage({ bytes, release }: Held, { format, mediaType }: SniffedImage): Image {
  let isHeld = true;
  return {
    bytes,
    format,
    mediaType,
    size: readImageSize(bytes, format),
    release() {
      if (!isHeld) return;
      isHeld = false;
      release();
    },
  };
}

/**
 * Whether a declared media type is acceptable for an image. The format is detected from the bytes, because servers and
 * clients mix up the image types; a file declared as another type is refused.
 */
export function mayBeImage(declared: string | undefined): boolean {
  const [type = ''] = (declared ?? '').split(';', 1);
  return /^(?:|image\/(?!svg)[\w.+-]+|(?:application|binary)\/octet-stream)$/i.test(type.trim());
}

export function tooLarge(field: string): Fault {
  return fault('image_too_large', { field, hint: `${IMAGE_BYTES_MAX / 1024 / 1024} MiB` });
}
