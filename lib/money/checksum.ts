// Checksums of rows: short, and not a signature.
import { crc32 } from 'node:zlib';

export const CHECKSUM_LENGTH = 8;

export function checksum(values: readonly unknown[]): string {
  return crc32(JSON.stringify(values)).toString(16).padStart(CHECKSUM_LENGTH, '0');
}
