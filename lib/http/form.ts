// Reads `multipart/form-data` bodies under the timeouts and limits of every body; files are collected once, into their
// own memory.
import type { IncomingMessage } from 'node:http';
import { type BusboyFileStream, Busboy as createParser } from '@fastify/busboy';
import { rejectOnAbort } from '../base/abort.ts';
import { type Fault, fault } from '../base/faults.ts';
import { createGrowingBuffer, type GrowingBuffer } from '../base/growing-buffer.ts';
import { type BodyOptions, readPieces } from './body.ts';

export interface Form {
  /** In the order received. */
  readonly texts: readonly FormText[];
  readonly files: readonly FormFile[];
}

interface FormText {
  readonly name: string;
  readonly text: string;
}

export interface FormFile {
  readonly name: string;
  /** The sender's file name; empty if no file was chosen on a page, absent if the part has none. */
  readonly fileName: string | undefined;
  /** Truncated at `fileBytesMax`. */
  readonly bytes: Buffer;
  /** Whether the file was truncated. */
  readonly isCut: boolean;
}

export interface FormOptions extends BodyOptions {
  readonly type: string;
  /** How to treat a part; parts of another kind are read and dropped. */
  classifyPart(name: string, isFile: boolean): 'file' | 'text' | 'other';
  readonly fileBytesMax: number;
  readonly textBytesMax: number;
}

/** Whether a `content-type` is that of a form. */
export function isForm(type: string | undefined): type is string {
  return /^multipart\/form-data\s*(?:;|$)/i.test(type?.trim() ?? '');
}

const PARTS_MAX = 64;
/** Per part. */
const HEADER_BYTES_MAX = 8 * 1024;
const HEADERS_MAX = 16;

/** Throws what `readBody` throws, and 400 faults for anything that is not a form. */
export async function readForm(request: IncomingMessage, options: FormOptions): Promise<Form> {
  const form = openForm(options);
  await readPieces(request, { ...options, onChunk: form.write });
  return rejectOnAbort(form.end(), options.signal);
}

interface OpenForm {
  write(chunk: Buffer, left: number | undefined): void;
  end(): Promise<Form>;
}

function openForm(options: FormOptions): OpenForm {
  const texts: FormText[] = [];
  const files: {
    readonly name: string;
    readonly fileName: string | undefined;
    readonly stream: BusboyFileStream;
    readonly room: GrowingBuffer;
  }[] = [];
  let failure: Fault | undefined;
  let left: number | undefined;
  const parser = openParser(options);
  const fail = (reason: Fault) => {
    failure ??= reason;
  };
  const tooMany = () => fail(invalidForm(`it has more than ${PARTS_MAX} parts`));
  const finished = new Promise<void>((resolve) => {
    parser.once('finish', resolve).on('error', () => {
      fail(invalidForm('it ends too early'));
      resolve();
    });
  });
  parser.on('partsLimit', tooMany);
  parser.on('field', (name, content, _nameCut, isCut, encoding) => {
    const refuse = (hint: string) => fail(fault('invalid_field', { field: sanitizeName(name), hint }));
    if (isCut) refuse('is too long');
    const text = decodeText(content, encoding);
    if (text.includes(UNREADABLE)) refuse('has characters that cannot be read: send it in UTF-8');
    texts.push({ name, text });
  });
  parser.on('file', (name, stream, fileName: string | undefined) => {
    stream.on('error', () => undefined);
    if (options.classifyPart(name ?? '', true) !== 'file') {
      stream.resume();
      return;
    }
    const bytesMax = options.fileBytesMax;
    const announced = left === undefined ? undefined : Math.min(left, bytesMax);
    const room = createGrowingBuffer({ announced, bytesMax });
    files.push({ name, fileName, stream, room });
    stream.on('data', room.append);
  });
  return {
    write(chunk, stillLeft) {
      // A file that starts in this chunk may also end in it.
      left = stillLeft === undefined ? undefined : stillLeft + chunk.length;
      parser.write(chunk);
      if (failure) throw failure;
    },
    async end() {
      parser.end();
      await finished;
      if (failure) throw failure;
      return {
        texts,
        files: files.map(({ name, fileName, stream, room }) => ({
          name,
          fileName,
          bytes: room.content(),
          isCut: stream.truncated,
        })),
      };
    },
  };
}

function openParser({ type, classifyPart, fileBytesMax, textBytesMax }: FormOptions) {
  const limits = {
    parts: PARTS_MAX,
    headerPairs: HEADERS_MAX,
    headerSize: HEADER_BYTES_MAX,
    fieldSize: textBytesMax,
    fileSize: fileBytesMax,
  };
  const isPartAFile = (name = '', partType = '', fileName?: string) =>
    classifyPart(name, isFilePart(partType, fileName)) !== 'text';
  try {
    return createParser({ headers: { 'content-type': type }, limits, isPartAFile });
  } catch {
    throw invalidForm('its content type has no usable boundary');
  }
}

function isFilePart(type: string, fileName: string | undefined): boolean {
  return fileName !== undefined || type === 'application/octet-stream' || type.startsWith('image/');
}

/** What a character that is not valid in its encoding is read as. */
const UNREADABLE = '\uFFFD';

/**
 * Undoes a `content-transfer-encoding`. HTTP has no use for it, but the form class of Indy (Delphi) writes every text in
 * quoted-printable, with a line break behind each line.
 */
function decodeText(content: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(content, 'base64').toString();
  if (encoding !== 'quoted-printable') return content;
  const joined = Buffer.from(content.replace(/=[ \t]*\r?\n|\r?\n$/g, '')).toString('latin1');
  const bytes = joined.replace(/=([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

function invalidForm(hint: string): Fault {
  return fault('invalid_form', { hint });
}

const NAME_LENGTH_MAX = 50;

/** A name sent by a client, safe to repeat in a message. */
function sanitizeName(name: string): string {
  return name.slice(0, NAME_LENGTH_MAX).replace(/[^\w[\].-]/g, '?');
}
