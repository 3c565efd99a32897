// Counts the pages of a PDF from its bytes alone: cheap, and bounded for any bytes.
import { inflateSync } from 'node:zlib';

/** For a PDF that does not say how many pages it has. */
const BYTES_PER_PAGE = 50_000;
/** The most that compressed objects are inflated to, per byte of the file: ordinary ones stay below 10. */
const INFLATED_PER_BYTE = 16;
const INFLATED_MAX = 32 * 1024 * 1024;
const STREAM_BYTES_MAX = 1024 * 1024;
/** More than any program writes. */
const OBJECTS_MAX = 20_000;
/** The most characters between the type of a compressed object and its data. */
const HEAD_CHARACTERS_MAX = 1000;

const PAGE = /\/Type\s*\/Page(?![a-zA-Z])/g;
const COUNT = /\/Count\s+(\d{1,6})(?!\d)/g;
const OBJECTS = /\/Type\s*\/ObjStm/g;

/** Other bytes may precede it: readers accept that. */
export function hasPdfHeader(bytes: Uint8Array): boolean {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1');
  return beginning.includes('%PDF-');
}

/** At least one. Counts the pages in the file itself and in the compressed objects of newer files. */
export function countPages(bytes: Uint8Array): number {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const text = file.toString('latin1');
  let { pages, counted } = countPagesIn(text);
  let isWhole = true;
  for (const objects of inflateObjects(file, text)) {
    isWhole &&= objects !== undefined;
    const inside = countPagesIn(objects ?? '');
    pages += inside.pages;
    counted = Math.max(counted, inside.counted);
  }
  const known = Math.max(pages, counted);
  return known > 0 && isWhole ? known : Math.max(1, known, Math.ceil(bytes.length / BYTES_PER_PAGE));
}

/** The compressed objects of a file, undefined for those that cannot be read. Each byte of the file is seen once. */
function* inflateObjects(file: Buffer, text: string): Generator<string | undefined> {
  let bytesLeft = Math.min(INFLATED_MAX, INFLATED_PER_BYTE * file.length);
  let at = 0;
  for (let seen = 0; seen < OBJECTS_MAX; seen += 1) {
    OBJECTS.lastIndex = at;
    const found = OBJECTS.exec(text);
    if (!found) return;
    const head = text.slice(found.index, found.index + HEAD_CHARACTERS_MAX);
    const start = /stream\r?\n/.exec(head);
    const from = found.index + (start ? start.index + start[0].length : head.length);
    const end = start ? text.indexOf('endstream', from) : from;
    if (end < 0) break;
    const objects = bytesLeft > 0 ? inflate(file.subarray(from, end), bytesLeft) : undefined;
    bytesLeft -= objects?.length ?? STREAM_BYTES_MAX;
    yield objects;
    at = end;
  }
  yield undefined;
}

function inflate(data: Buffer, bytesMax: number): string | undefined {
  try {
    return inflateSync(data, { maxOutputLength: Math.min(STREAM_BYTES_MAX, bytesMax) }).toString('latin1');
  } catch {
    return undefined;
  }
}

/** `counted` is the largest count of its page tree, if it is there. */
function countPagesIn(text: string): { readonly pages: number; readonly counted: number } {
  let pages = 0;
  let counted = 0;
  for (const _ of text.matchAll(PAGE)) pages += 1;
  for (const [, count] of text.matchAll(COUNT)) counted = Math.max(counted, Number(count));
  return { pages, counted };
}
