// Collects bytes that arrive in chunks in one buffer: kept as received, small chunks would hold many times their size.

export interface GrowingBuffer {
  append(chunk: Uint8Array): void;
  /** The bytes received so far. */
  content(): Buffer;
}

interface RoomOptions {
  /** The maximum number of bytes, if known. */
  readonly announced: number | undefined;
  readonly bytesMax: number;
  /** Called before the buffer grows; may throw to refuse the memory. */
  readonly take?: (bytes: number) => void;
}

/** First size: room for several chunks. */
const BYTES_MIN = 64 * 1024;

export function createGrowingBuffer({ announced, bytesMax, take }: RoomOptions): GrowingBuffer {
  let room: Buffer = Buffer.alloc(0);
  let bytes = 0;

  /** Untouched pages of the buffer take no physical memory. */
  function grow(total: number): void {
    const size = announced ?? Math.min(Math.max(2 * total, BYTES_MIN), bytesMax);
    take?.(size - room.length);
    const larger = Buffer.allocUnsafeSlow(size);
    room.copy(larger, 0, 0, bytes);
    room = larger;
  }

  return {
    append(chunk) {
      const total = bytes + chunk.length;
      if (total > room.length) grow(total);
      room.set(chunk, bytes);
      bytes = total;
    },
    content: () => room.subarray(0, bytes),
  };
}
