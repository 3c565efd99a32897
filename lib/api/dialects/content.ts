// Reads the content of a message in any dialect: a string, or blocks. Strict on types, lenient on blocks that a text
// gateway does not use.
import { pluralize } from '../../base/pluralize.ts';
import { isRecord } from '../../base/record.ts';
import type { RequestContent, RequestResult } from '../../calls/text/request.ts';
import type { RequestImage } from '../../media/reference.ts';
import type {
  AudioContent,
  DocumentContent,
  TextContent,
  ToolReferenceContent,
} from '../../upstream/contract/provider.ts';
import { readMessageCitation } from '../../upstream/formats/citations.ts';
import { readCacheMarker } from './cache.ts';
import { checkToolName, type OpenCalls, readIsError, readToolUse } from './calls.ts';
import { invalidField } from './fields.ts';
import { hasCitations, isTextDocument, readAttachment } from './files.ts';
import { isImageBlock, readImageBlock, type WireBlock } from './images.ts';
import { readThinkingBlock } from './reasoning-content.ts';

/** Images in a user message; those in results of tools are not among them. */
export const IMAGES_MAX = 4;
/** Images of a whole request. */
export const IMAGES_TOTAL_MAX = 100;
/** Roles whose messages may have files, and `''`, which is the content of a result. Answers may have images, too. */
const WITH_FILES: ReadonlySet<string> = new Set(['user', 'tool', 'function', '']);
/** How deep nested blocks are searched for text. */
const DEPTH_MAX = 4;

/** Context for reading blocks. */
export interface Reading {
  /** Of the message; empty within a result. */
  readonly role: string;
  readonly calls: OpenCalls;
  /** Notes where the first document and the first recording are. */
  readonly files: FoundFiles;
  imagesLeft: number;
}

/** What the contents of a request have beside text, and where the first file of a kind is that some models refuse. */
export interface FoundFiles {
  /** Documents, also those that are text, or audio. */
  hasAny: boolean;
  images: number;
  /** Of the assistant; absent before the first. */
  answerImages?: number;
  hasReferences?: true;
  document?: string;
  audio?: string;
}

/** Images in a message that follows results are theirs: a chat has no other place for them. */
export function startReading(role: string, calls: OpenCalls, files: FoundFiles, followsResults = false): Reading {
  return { role, calls, files, imagesLeft: countAllowed(role, followsResults) };
}

function countAllowed(role: string, followsResults: boolean): number {
  // Only the limit of the whole request applies.
  if (role === 'assistant') return Number.POSITIVE_INFINITY;
  if (!WITH_FILES.has(role)) return 0;
  return role === 'user' && !followsResults ? IMAGES_MAX : IMAGES_TOTAL_MAX;
}

/** Texts of white space alone are left out: vendors refuse them, and they say nothing. */
function isBlank(text: string): boolean {
  return text.trimStart() === '';
}

export function readContent(given: unknown, field: string, reading: Reading): readonly RequestContent[] {
  if (typeof given === 'string') return isBlank(given) ? [] : [{ type: 'text', text: given }];
  if (!Array.isArray(given)) throw invalidField(field, 'must be a string or an array of blocks');
  return given.flatMap((item, at) =>
    readBlock(checkBlock(item, `${field}[${at}]`), `${field}[${at}]`, { field, reading }),
  );
}

interface Around {
  /** Of the whole content. */
  readonly field: string;
  readonly reading: Reading;
}

function readBlock(given: WireBlock, place: string, { field, reading }: Around): readonly RequestContent[] {
  const { role, calls } = reading;
  const block =
    given.type === 'search_result' && hasCitations(given) && WITH_FILES.has(role) ? toCitedDocument(given) : given;
  if (isImageBlock(block))
    return [{ ...readNextImage(block, { place, field, reading }), ...readCacheMarker(block, place) }];
  if (role === 'assistant') {
    if (block.type === 'tool_use') return [readToolUse(block, place, calls)];
    const thinking = readThinkingBlock(block, place);
    if (thinking) return [thinking];
  }
  if (block.type === 'tool_result' && role === 'user') return [readResult(block, place, reading)];
  if (block.type === 'tool_reference' && role === '') return [readReference(block, place, reading)];
  const file = isReadAsText(block, role) ? undefined : readAttachment(block, place);
  return file ? takeFile(file, block, { place, reading }) : readBlockTexts(block, place, role);
}

/** Throws a 400 fault for one in a place where vendors take none. */
function takeFile(
  file: DocumentContent | AudioContent,
  block: WireBlock,
  { place, reading: { role, files } }: { readonly place: string; readonly reading: Reading },
): readonly RequestContent[] {
  const { type } = file;
  if (!WITH_FILES.has(role)) throw invalidField(place, `only user messages may contain ${PLURALS[type]}`);
  if (type === 'audio' && role !== 'user') throw invalidField(place, 'a result must not contain audio');
  files.hasAny = true;
  if (type === 'audio') files.audio ??= place;
  else if (!isTextDocument(file)) files.document ??= place;
  const { context } = block;
  // Other formats have no place for it, and before the document it says the same.
  const said = typeof context === 'string' && !isBlank(context) ? [{ type: 'text', text: context } as const] : [];
  return [...said, { ...file, ...readCacheMarker(block, place) }];
}

const PLURALS = { document: 'documents', audio: 'audio' } as const;

/** The marker and the citations of the block go to its last text. */
function readBlockTexts(block: WireBlock, place: string, role: string): readonly TextContent[] {
  const texts = readTexts(block, 0).filter((text) => !isBlank(text));
  const last = texts.length > 0 && { ...readCacheMarker(block, place), ...readCitations(block, role) };
  return texts.map((text, at) => ({ type: 'text', text, ...(at === texts.length - 1 && last) }));
}

/** A search result as a document, so that the answer cites its pieces; without any it stays what it is. */
function toCitedDocument({ content, source: context, ...block }: WireBlock): WireBlock {
  const pieces = Array.isArray(content)
    ? content.filter((piece) => readTexts(piece, 0).some((each) => !isBlank(each)))
    : [];
  return pieces.length > 0
    ? { ...block, context, type: 'document', source: { type: 'content', content: pieces } }
    : { ...block, context, type: 'search_result' };
}

/** Of an earlier answer; what is none of them is left out, like unknown fields. */
function readCitations({ type, citations }: WireBlock, role: string): Pick<TextContent, 'citations'> {
  if (role !== 'assistant' || type !== 'text' || !Array.isArray(citations)) return {};
  const read = citations.flatMap((citation) => readMessageCitation(citation) ?? []);
  return read.length > 0 ? { citations: read } : {};
}

/** A document that every model may read as text: in a shape of its own, or where vendors take no documents. */
function isReadAsText(block: WireBlock, role: string): boolean {
  if (block.type !== 'document') return false;
  const { type, data } = (block.source ?? {}) as { readonly type?: unknown; readonly data?: unknown };
  if (type === 'text' && typeof data === 'string') return isBlank(data) || !WITH_FILES.has(role);
  // Citations name its pieces.
  if (type === 'content') return !hasCitations(block) || !WITH_FILES.has(role);
  return block.source === undefined && readTexts(block, 0).length > 0;
}

/** `{ type: "tool_result", tool_use_id, content, is_error }` */
function readResult(block: WireBlock, field: string, reading: Reading): RequestResult {
  const { id, name } = reading.calls.answer(block.tool_use_id, `${field}.tool_use_id`);
  const inner = startReading('', reading.calls, reading.files);
  const content = readContent(block.content ?? '', `${field}.content`, inner);
  const result = createResult({ id, name }, content);
  return { ...result, isError: readIsError(block.is_error, `${field}.is_error`), ...readCacheMarker(block, field) };
}

/** `{ type: "tool_reference", tool_name }` */
function readReference(block: WireBlock, field: string, { files }: Reading): ToolReferenceContent {
  const { tool_name: name } = block;
  checkToolName(name, `${field}.tool_name`);
  files.hasReferences = true;
  return { type: 'tool-reference', name, ...readCacheMarker(block, field) };
}

/** A marker within a result moves to the result, where vendors take it. */
export function createResult(
  call: { readonly id: string; readonly name: string },
  content: readonly RequestContent[],
): RequestResult {
  const inner = content as RequestResult['content'];
  const cache = inner.findLast((part) => part.cache)?.cache;
  const plain = cache ? inner.map(({ cache: _, ...part }) => part as RequestResult['content'][number]) : inner;
  return { type: 'tool-result', ...call, isError: false, content: plain, ...(cache && { cache }) };
}

function readNextImage(
  block: WireBlock,
  { place, field, reading }: { readonly place: string; readonly field: string; readonly reading: Reading },
): RequestImage {
  // Before it is decoded, so that one image too many costs nothing.
  if (reading.imagesLeft === 0) throw invalidField(field, describeImageLimit(reading.role));
  const { files } = reading;
  const { images, answerImages = 0 } = files;
  if (images + answerImages === IMAGES_TOTAL_MAX) {
    throw invalidField('messages', `must contain at most ${pluralize(IMAGES_TOTAL_MAX, 'image')} in all`);
  }
  if (reading.role === 'assistant') files.answerImages = answerImages + 1;
  else files.images += 1;
  reading.imagesLeft -= 1;
  return readImageBlock(block, place);
}

/** `images` of an assistant message in a chat, as answers have them; what has another shape is left out, like other fields. */
export function readAnswerImages(given: unknown, field: string, reading: Reading): readonly RequestImage[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((item: unknown, at) => {
    if (!isRecord(item) || !isRecord(item.image_url)) return [];
    const block = { type: 'image_url', image_url: item.image_url };
    return [readNextImage(block, { place: `${field}[${at}]`, field, reading })];
  });
}

/** The image of an item that drew it; undefined if it has none. */
export function readDrawnImage({ result }: Readonly<Record<string, unknown>>, field: string, reading: Reading) {
  if (typeof result !== 'string' || result === '') return undefined;
  const source = { type: 'base64', media_type: '', data: result };
  return readNextImage({ type: 'image', source }, { place: field, field, reading });
}

function describeImageLimit(role: string): string {
  if (role === 'system' || role === 'developer') return 'only messages of users and assistants may contain images';
  return `a message may contain at most ${pluralize(IMAGES_MAX, 'image')}`;
}

function checkBlock(item: unknown, field: string): WireBlock {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalidField(field, 'must be an object');
  const block = item as WireBlock;
  if (typeof block.type !== 'string') throw invalidField(`${field}.type`, 'must be a string');
  if (block.type === 'text' && typeof block.text !== 'string') throw invalidField(`${field}.text`, 'must be a string');
  return block;
}

/** The texts in a block of any type, including nested ones; never fails. */
function readTexts(block: unknown, depth: number): readonly string[] {
  if (typeof block === 'string') return block === '' ? [] : [block];
  if (typeof block !== 'object' || block === null || depth > DEPTH_MAX) return [];
  if (Array.isArray(block)) return block.flatMap((item) => readTexts(item, depth + 1));
  const { type, text, title, context, content, source, refusal } = block as Readonly<Record<string, unknown>>;
  if (typeof text === 'string') return readTexts(text, depth);
  // Of an earlier answer.
  if (typeof refusal === 'string') return readTexts(refusal, depth);
  const isTitled = typeof type === 'string' && TITLED.has(type);
  const heads = isTitled ? [title, source, context].filter((each) => typeof each === 'string') : [];
  const body = [...readTexts(readSourceText(source), depth + 1), ...readTexts(content, depth + 1)];
  return heads.length > 0 && body.length > 0 ? [heads.join('\n'), ...body] : body;
}

/** Blocks that say beside their texts what these are about. */
const TITLED: ReadonlySet<string> = new Set(['document', 'search_result']);

/** A document may have its text in its source; other data is not text. */
function readSourceText(source: unknown): unknown {
  if (typeof source !== 'object' || source === null) return undefined;
  const { type, data, content } = source as { type?: unknown; data?: unknown; content?: unknown };
  return type === 'text' ? data : content;
}
