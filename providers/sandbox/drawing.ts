// Draws the sandbox's images: the prompt decides colours and pattern, references are laid out side by side on it.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { constants, crc32, createDeflate } from 'node:zlib';
import type { Size } from '../../lib/upstream/contract/provider.ts';
import { chooseColour, findNamedColour, type Rgb } from './colours.ts';
import type { Sight } from './eye.ts';

const LONG_SIDE = 1024;
const CELL = 64;
const MARGIN = 32;

/** The size of an image; by default its long side is 1024 pixels. */
export function chooseSize({ size, aspect = '1:1' }: { readonly size?: Size; readonly aspect?: string }): Size {
  if (size) return size;
  const [width = 1, height = 1] = aspect.split(':').map(Number);
  const unit = LONG_SIDE / Math.max(width, height);
  return { width: Math.round(width * unit), height: Math.round(height * unit) };
}

/** The space for one of `count` references on an image. */
export function measureRoom({ width, height }: Size, count: number): Size {
  return {
    width: Math.max(1, Math.floor(width / count) - 2 * MARGIN),
    height: Math.max(1, height - 2 * MARGIN),
  };
}

/** A PNG, made band by band: the event loop runs in between, and zlib works outside it. */
export async function draw(prompt: string, size: Size, references: readonly Sight[] = []): Promise<Uint8Array> {
  const bands = Readable.from(paint(prompt, size, references));
  const data = await pipeline(bands, createDeflate({ level: constants.Z_BEST_SPEED }), (source) => buffer(source));
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(size.width, 0);
  header.writeUInt32BE(size.height, 4);
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const length = Buffer.alloc(4);
  const sum = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Rows of cells of one height, in PNG's format: a byte for no filter, then three bytes per pixel. */
function* paint(prompt: string, size: Size, references: readonly Sight[]): Generator<Buffer> {
  const pickColour = choosePattern(prompt);
  for (let top = 0; top < size.height; top += CELL) {
    const row = paintRow(size.width, (column) => pickColour(column, top / CELL));
    const band = Buffer.concat(Array.from({ length: Math.min(CELL, size.height - top) }, () => row));
    for (const [at, reference] of references.entries()) {
      lay(reference, { at, of: references.length }, { band, top, size });
    }
    yield band;
  }
}

const PATTERNS: readonly ((column: number, row: number) => number)[] = [
  (column) => column,
  (_column, row) => row,
  (column, row) => column + row,
  (column, row) => column * row,
  (column, row) => column ^ row,
];

/** Two cells in three have the main colour, which the prompt may name. */
function choosePattern(prompt: string): (column: number, row: number) => Rgb {
  const [pattern = 0, main = 0, accent = 0] = createHash('sha256').update(prompt).digest();
  const base = findNamedColour(prompt) ?? chooseColour(main);
  const other = chooseColour(accent) === base ? chooseColour(accent + 1) : chooseColour(accent);
  const choose = PATTERNS[pattern % PATTERNS.length] as (typeof PATTERNS)[number];
  return (column, row) => (choose(column, row) % 3 === 1 ? other : base).rgb;
}

function paintRow(width: number, pickColour: (column: number) => Rgb): Buffer {
  const row = Buffer.alloc(1 + width * 3);
  for (let x = 0; x < width; x += CELL) {
    row.fill(Uint8Array.from(pickColour(x / CELL)), 1 + x * 3, 1 + Math.min(x + CELL, width) * 3);
  }
  return row;
}

interface Band {
  readonly band: Buffer;
  readonly top: number;
  readonly size: Size;
}

/** Places the part of a reference that a band shows in the middle of its column. */
function lay(
  { seen, rgb }: Sight,
  column: { readonly at: number; readonly of: number },
  { band, top, size }: Band,
): void {
  const stride = 1 + size.width * 3;
  const width = Math.floor(size.width / column.of);
  const left = column.at * width + Math.floor((width - seen.width) / 2);
  const start = Math.floor((size.height - seen.height) / 2);
  const rows = band.length / stride;
  for (let y = Math.max(top, start); y < Math.min(top + rows, start + seen.height); y += 1) {
    const row = rgb.subarray((y - start) * seen.width * 3, (y - start + 1) * seen.width * 3);
    band.set(row, (y - top) * stride + 1 + left * 3);
  }
}
