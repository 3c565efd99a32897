// Reads the image in a reply into memory, counted against the budget as it arrives.

import { SNIFF_BYTES, sniffImage } from '../base/sniff.ts';
import type { ByteSource } from '../stream/bytes.ts';
import { FetchFailure } from './failure.ts';
import {
  type ByteBudget,
  createImage,
  type Held,
  holdBytes,
  IMAGE_BYTES_MAX,
  type Image,
  mayBeImage,
} from './image.ts';
import { checkReply, type Reply } from './reply.ts';

/** Throws a `FetchFailure`. */
export async function readImageReply(
  reply: Reply,
  budget: ByteBudget | undefined,
  signal: AbortSignal,
): Promise<Image> {
  const length = checkReply(reply);
  if (length !== undefined && length > IMAGE_BYTES_MAX) throw new FetchFailure('too-large');
  if (!mayBeImage(reply.headers['content-type'])) throw new FetchFailure('unsupported');
  const memory = new GrowingMemory(budget, length ?? INITIAL_BYTES);
  try {
    await fill(memory, reply.source, signal);
    const sniffed = sniffImage(memory.bytes());
    if (!sniffed) throw new FetchFailure('unsupported');
    return createImage(memory.held(), sniffed);
  } catch (error) {
    memory.release();
    throw error;
  }
}

function fill(memory: GrowingMemory, source: ByteSource, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let hasFailed = false;
    const fail = (error: unknown) => {
      reject(signal.aborted ? signal.reason : error instanceof FetchFailure ? error : brokenReply(error));
    };
    source.open({
      data(chunk) {
        const failure = hasFailed ? undefined : memory.append(chunk);
        if (!failure) return;
        hasFailed = true;
        fail(failure);
        source.destroy();
      },
      end: resolve,
      fail,
    });
  });
}

const brokenReply = (cause: unknown) => new FetchFailure('broken', { cause });

/** Initial size if the length is unknown. */
const INITIAL_BYTES = 64 * 1024;

/** A growing buffer whose memory is taken from the budget. */
class GrowingMemory {
  readonly #budget: ByteBudget | undefined;
  #held: Held;
  #filled = 0;

  constructor(budget: ByteBudget | undefined, bytes: number) {
    this.#budget = budget;
    this.#held = this.#hold(bytes);
  }

  /** Returns a failure if the chunk cannot be taken. */
  append(chunk: Uint8Array): FetchFailure | undefined {
    const total = this.#filled + chunk.length;
    if (total > IMAGE_BYTES_MAX) return new FetchFailure('too-large');
    if (total > this.#held.bytes.length) {
      const failure = this.#grow(Math.min(IMAGE_BYTES_MAX, 2 * total));
      if (failure) return failure;
    }
    this.#held.bytes.set(chunk, this.#filled);
    const wasSniffed = this.#filled >= SNIFF_BYTES;
    this.#filled = total;
    // Other files are refused after their first bytes.
    const isImage = wasSniffed || total < SNIFF_BYTES || sniffImage(this.bytes());
    return isImage ? undefined : new FetchFailure('unsupported');
  }

  bytes(): Buffer {
    return this.#held.bytes.subarray(0, this.#filled);
  }

  held(): Held {
    return { bytes: this.bytes(), release: this.#held.release };
  }

  release(): void {
    this.#held.release();
  }

  #grow(bytes: number): FetchFailure | undefined {
    const former = this.#held;
    const held = holdBytes(bytes, this.#budget);
    if (!held) return new FetchFailure('no-memory');
    former.bytes.copy(held.bytes, 0, 0, this.#filled);
    former.release();
    this.#held = held;
    return undefined;
  }

  #hold(bytes: number): Held {
    const held = holdBytes(bytes, this.#budget);
    if (!held) throw new FetchFailure('no-memory');
    return held;
  }
}
