// Reads the picture in a reply whole into memory, counted as it arrives.
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
import { SNIFF_BYTES, sniffImage } from './sniff.ts';

/** The image in a reply, in memory of the budget. Throws a `FetchFailure`. */
export async function readImageReply(
  reply: Reply,
  budget: ByteBudget | undefined,
  signal: AbortSignal,
): Promise<Image> {
  const length = checkReply(reply);
  if (length !== undefined && length > IMAGE_BYTES_MAX) throw new FetchFailure('too-large');
  if (!mayBeImage(reply.headers['content-type'])) throw new FetchFailure('unsupported');
  const room = new GrowingMemory(budget, length ?? ROOM_BYTES_MIN);
  try {
    await fill(room, reply.source, signal);
    const sniffed = sniffImage(room.bytes());
    if (!sniffed) throw new FetchFailure('unsupported');
    return createImage(room.held(), sniffed);
  } catch (error) {
    room.release();
    throw error;
  }
}

function fill(room: GrowingMemory, source: ByteSource, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let hasFailed = false;
    const fail = (error: unknown) => {
      reject(signal.aborted ? signal.reason : error instanceof FetchFailure ? error : brokenReply(error));
    };
    source.open({
      data(chunk) {
        const failure = hasFailed ? undefined : room.append(chunk);
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

/** If the length is not known. */
const ROOM_BYTES_MIN = 64 * 1024;

/** Memory that grows with what arrives, every byte taken from the budget. */
class GrowingMemory {
  readonly #budget: ByteBudget | undefined;
  #held: Held;
  #filled = 0;

  constructor(budget: ByteBudget | undefined, bytes: number) {
    this.#budget = budget;
    this.#held = this.#hold(bytes);
  }

  /** Takes a chunk, or says why it can't. */
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
    // A web page or a film is not read to its end.
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
