// Memory for bytes that arrive in chunks: they are copied into one buffer, because kept as they come they would hold
// many times their own size.

export interface GrowingBuffer {
  append(chunk: Uint8Array): void;
  /** What has arrived so far. */
  content(): Buffer;
}

export interface RoomOptions {
  /** The maximum number of bytes to come, if known. */
  readonly announced: number | undefined;
  readonly bytesMax: number;
  /** Asked for memory before it grows; what it throws is passed on. */
  readonly take?: (bytes: number) => void;
}

/** Enough for several chunks at first. */
const BYTES_MIN = 64 * 1024;

export function createGrowingBuffer({ announced, bytesMax, take }: RoomOptions): GrowingBuffer {
  let room: Buffer = Buffer.alloc(0);
  let bytes = 0;

  /** Memory not written to yet uses none of the machine's. */
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
