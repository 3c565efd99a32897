// Memory for bytes that come in chunks: copied behind each other, as kept as they came they would hold many times their
// own size.

export interface Room {
  append(chunk: Uint8Array): void;
  /** What has come so far. */
  content(): Buffer;
}

export interface RoomOptions {
  /** How many bytes will come at the most, if that is known. */
  readonly announced: number | undefined;
  readonly bytesMax: number;
  /** Asked for the memory before it grows; what it throws is thrown on. */
  readonly take?: (bytes: number) => void;
}

/** For several chunks to begin with. */
const BYTES_MIN = 64 * 1024;

export function createRoom({ announced, bytesMax, take }: RoomOptions): Room {
  let room: Buffer = Buffer.alloc(0);
  let bytes = 0;

  /** Memory that nothing was written to yet takes none of the machine's. */
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
