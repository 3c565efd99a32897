// Documents and audio of a message, in the shapes of all dialects: their bytes are decoded now.

import { isUtf8 } from 'node:buffer';
import { constant, type Json, list, object, text } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import { hasPdfHeader } from '../../calls/text/pdf.ts';
import type { RequestContent } from '../../calls/text/request.ts';
import { decodeBase64, isDataUri, splitDataUri } from '../../media/inline.ts';
import type { AudioContent, DocumentContent } from '../../upstream/contract/provider.ts';
import { invalidField } from './fields.ts';
import type { WireBlock } from './images.ts';

/** A document with a source, or a file of the chat or the responses dialect. */
const FILE_TYPES = ['document', 'file', 'input_file'] as const;
const AUDIO_TYPES = ['input_audio'] as const;
/**
 * The types of files in the shapes of other vendors and of frameworks. No upstream takes these from us; to drop them would
 * change what the client asks for.
 */
const REFUSED_TYPE =
  /^(?:(?:input_)?(?:audio|video|media|pdf|document)(?:_url)?|(?:image|document|file)_(?:url|file|data|id)|inline_data|inlineData|fileData|container_upload)$/;

const READ_TYPES: readonly string[] = [...FILE_TYPES, ...AUDIO_TYPES];

/** The schema of the type of a block that is no file. */
export const NO_FILE: Json = { not: { anyOf: [{ enum: READ_TYPES }, { pattern: REFUSED_TYPE.source }] } };

const PDF = 'application/pdf';
const PLAIN = 'text/plain';
const DOCUMENT = 'must be a document in base64 or as text: the gateway fetches no documents and keeps no files';

/** The document or recording of a block; undefined for a block of another type. Throws 400 faults that name the field. */
export function readAttachment(block: WireBlock, field: string): DocumentContent | AudioContent | undefined {
  switch (block.type) {
    case 'document':
      return readDocument(block, field);
    case 'file':
      return readFile(block.file, `${field}.file`);
    case 'input_file':
      return readFile(block, field);
    case 'input_audio':
      return readAudio(block.input_audio, `${field}.input_audio`);
    default:
      if (!REFUSED_TYPE.test(block.type)) return undefined;
      throw invalidField(`${field}.type`, `must not be ${block.type}: no model takes it here`);
  }
}

/** Whether citations of a document are asked for: `citations: { enabled: true }`. */
export function hasCitations({ citations }: WireBlock): boolean {
  return isRecord(citations) && citations.enabled === true;
}

/** `{ source: { type: "base64", media_type, data } | { type: "text", data } | { type: "content", content }, title? }` */
function readDocument(block: WireBlock, field: string): DocumentContent {
  const { citations } = block;
  const enabled = isRecord(citations) ? citations.enabled : citations;
  if (enabled != null && typeof enabled !== 'boolean') {
    throw invalidField(`${field}.citations`, 'must be an object whose `enabled` is true or false');
  }
  return { ...readSource(block, field), ...(hasCitations(block) && { citations: true }) };
}

function readSource({ source, title }: WireBlock, field: string): DocumentContent {
  const place = `${field}.source`;
  if (!isRecord(source)) throw invalidField(place, 'must be an object');
  const { type, media_type: mediaType, data, content } = source;
  if (type === 'content') return { ...readPieces(content, `${place}.content`), ...readTitle(title) };
  if (type !== 'base64' && type !== 'text') throw invalidField(place, DOCUMENT);
  if (typeof data !== 'string') throw invalidField(`${place}.data`, 'must be a string');
  const name = readTitle(title);
  if (type === 'text') return { type: 'document', mediaType: PLAIN, bytes: encodeText(data), ...name };
  if (typeof mediaType !== 'string') throw invalidField(`${place}.media_type`, 'must be a string');
  const bytes = readBytes(decodeBase64(data, `${place}.data`), { mediaType, said: mediaType, field: `${place}.data` });
  return { type: 'document', mediaType, bytes, ...name };
}

function readTitle(title: unknown): Pick<DocumentContent, 'name'> {
  return typeof title === 'string' && title !== '' ? { name: title } : {};
}

/** A text in pieces that citations name: `[{ type: "text", text }]`, or one text. */
function readPieces(content: unknown, field: string): DocumentContent {
  const blocks: readonly unknown[] = typeof content === 'string' ? [{ text: content }] : readList(content, field);
  const pieces = blocks.map((block, at) => {
    const { text: piece } = isRecord(block) ? block : {};
    if (typeof piece !== 'string' || piece.trim() === '') {
      throw invalidField(`${field}[${at}]`, 'must be a text that is not empty: citations count its blocks');
    }
    return piece;
  });
  return { type: 'document', mediaType: PLAIN, bytes: encodeText(pieces.join('\n\n')), pieces };
}

function readList(content: unknown, field: string): readonly unknown[] {
  if (!Array.isArray(content) || content.length === 0)
    throw invalidField(field, 'must be an array of texts, not empty');
  return content;
}

/** `{ filename?, file_data }`, a data URI or bare base64. */
function readFile(file: unknown, field: string): DocumentContent | AudioContent {
  if (!isRecord(file)) throw invalidField(field, 'must be an object');
  const { file_data: data, filename } = file;
  const place = `${field}.file_data`;
  if (typeof data !== 'string' || data === '') throw invalidField(place, DOCUMENT);
  const { mediaType: named, parameters = '', base64 } = isDataUri(data) ? splitDataUri(data, place) : { base64: data };
  const decoded = decodeBase64(base64, place);
  if (named?.startsWith('audio/')) return { type: 'audio', mediaType: named, bytes: decoded };
  const mediaType = named || guessType(decoded, filename);
  const bytes = readBytes(decoded, { mediaType, said: parameters, field: place });
  const name = typeof filename === 'string' && filename !== '' ? { name: filename } : {};
  return { type: 'document', mediaType, bytes, ...name };
}

interface BytesFacts {
  readonly mediaType: string;
  /** What may name a charset: the parameters of a media type. */
  readonly said: string;
  readonly field: string;
}

/** Text in UTF-8, as vendors read it. Others would be sent as signs that nobody can read, and charged. */
function readBytes(bytes: Buffer, { mediaType, said, field }: BytesFacts): Uint8Array {
  if (!mediaType.startsWith('text/')) return bytes;
  const charset = findByteOrder(bytes) ?? /;\s*charset="?([\w.:-]+)/i.exec(said)?.[1] ?? 'utf-8';
  if (isUtf8(bytes) && !/^utf-?16/i.test(charset)) return bytes;
  try {
    return encodeText(new TextDecoder(charset, { fatal: true }).decode(bytes));
  } catch {
    throw invalidField(field, 'has characters that cannot be read: send the text in UTF-8, or name its charset');
  }
}

/** UTF-16 says so at its beginning. */
function findByteOrder([first, second]: Buffer): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function guessType(bytes: Uint8Array, filename: unknown): string {
  if (hasPdfHeader(bytes)) return PDF;
  return typeof filename === 'string' && /\.(?:txt|md|csv|json|html?|xml)$/i.test(filename) ? PLAIN : PDF;
}

const AUDIO_ALIASES: Readonly<Record<string, string>> = { mp3: 'mpeg', m4a: 'mp4' };

/** `{ data, format: "wav" | "mp3" | … }` */
function readAudio(audio: unknown, field: string): AudioContent {
  if (!isRecord(audio)) throw invalidField(field, 'must be an object');
  const { data, format } = audio;
  if (typeof data !== 'string' || data === '') throw invalidField(`${field}.data`, 'must be audio in base64');
  if (typeof format !== 'string' || !/^[a-z0-9]{1,16}$/i.test(format)) {
    throw invalidField(`${field}.format`, 'must be the format of the audio, such as wav or mp3');
  }
  const base64 = isDataUri(data) ? splitDataUri(data, `${field}.data`).base64 : data;
  const known = format.toLowerCase();
  const mediaType = `audio/${AUDIO_ALIASES[known] ?? known}`;
  return { type: 'audio', mediaType, bytes: decodeBase64(base64, `${field}.data`) };
}

/** In memory of its own, which can be passed to another thread. */
function encodeText(given: string): Uint8Array {
  return new Uint8Array(new TextEncoder().encode(given));
}

/** Whether a model that takes no documents can read it as text. */
export function isTextDocument(part: RequestContent): boolean {
  return part.type === 'document' && part.mediaType.startsWith('text/');
}

const FILE_DATA = text('A data URI of the document in base64.');

export const documentBlock: Json = object(
  {
    type: constant('document'),
    source: {
      oneOf: [
        object({ type: constant('base64'), media_type: text('Such as `application/pdf`.'), data: text('In base64.') }),
        object({ type: constant('text'), media_type: constant('text/plain'), data: text('The text.') }),
        object({
          type: constant('content'),
          content: { anyOf: [{ type: 'string' }, list(object({ type: constant('text'), text: text('A piece.') }))] },
        }),
      ],
    },
    title: text('Its title.'),
    context: text('What the model should know about it; a text before it.'),
    citations: {
      description: 'Whether the answer cites it; only for models at vendors of the messages format, others ignore it.',
      anyOf: [object({ enabled: { type: 'boolean' } }), { type: 'null' }],
    },
  },
  { optional: ['title', 'context', 'citations'] },
);

export const filePart: Json = object({
  type: constant('file'),
  file: object({ filename: text('Its name.'), file_data: FILE_DATA }, { optional: ['filename'] }),
});

export const audioPart: Json = object({
  type: constant('input_audio'),
  input_audio: object({ data: text('In base64.'), format: text('`wav`, `mp3`, …') }),
});
