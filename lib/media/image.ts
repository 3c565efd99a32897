// A picture in memory: sniffed, counted against a budget, and released by its holder.
import { type Fault, fault } from '../base/faults.ts';
import { freeBytes } from '../base/free-bytes.ts';
import { type ImageFormat, type ImageSize, readImageSize, type SniffedImage } from './sniff.ts';

export const IMAGE_BYTES_MAX = 8 * 1024 * 1024;

export interface Image {
  readonly bytes: Buffer;
  readonly format: ImageFormat;
  /** By the bytes, whatever was declared. */
  readonly mediaType: string;
  /** Absent if the picture's header does not tell. */
  readonly size: ImageSize | undefined;
  /** Frees the bytes and returns them to the budget; idempotent. */
  release(): void;
}

/** Memory shared by all calls. */
export interface ByteBudget {
  /** Takes bytes, once; undefined if too few are left. */
  take(bytes: number): Release | undefined;
}

export type Release = () => void;

/** Bytes in memory of their own, which `release` frees; called once. */
export interface Held {
  readonly bytes: Buffer;
  readonly release: Release;
}

/** Memory from the budget; undefined if it has none left. Not zeroed. */
export function holdBytes(bytes: number, budget: ByteBudget | undefined): Held | undefined {
  const releaseBudget = budget ? budget.take(bytes) : () => {};
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
 * Whether a declared media type is acceptable for a picture. The bytes decide which of the four formats it is, because
 * servers and clients mix those up; anything declared as something else is taken at its word.
 */
export function mayBeImage(declared: string | undefined): boolean {
  const [type = ''] = (declared ?? '').split(';', 1);
  return /^(?:|image\/(?!svg)[\w.+-]+|(?:application|binary)\/octet-stream)$/i.test(type.trim());
}

export function tooLarge(field: string): Fault {
  return fault('image_too_large', { field, hint: `${IMAGE_BYTES_MAX / 1024 / 1024} MiB` });
}
