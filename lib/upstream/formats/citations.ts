// Citations in the shapes of the formats that have them: what of each is common to all, and how each writes it.
import type { CitedRange } from '../../stream/provider-part.ts';
import type { Citation, JsonObject } from '../contract/provider.ts';
import { isFields, parseFields, readFields } from '../host/fields.ts';
import { CHAT_FORMAT, MESSAGES_FORMAT, RESPONSES_FORMAT } from './names.ts';

/** Where in all texts of an answer a passage is, as clients of chats get it. */
interface Passage {
  readonly start: number;
  readonly end: number;
}

/** The names of a range's ends in a message's citation, and its type. */
const RANGES: readonly (readonly [type: string, unit: CitedRange['unit'], start: string, end: string])[] = [
  ['char_location', 'characters', 'start_char_index', 'end_char_index'],
  ['page_location', 'pages', 'start_page_number', 'end_page_number'],
  ['content_block_location', 'blocks', 'start_block_index', 'end_block_index'],
];

/** `{ type: "char_location", cited_text, document_index, document_title, start_char_index, end_char_index }` and others. */
export function readMessageCitation(value: unknown): Citation | undefined {
  if (!isFields(value) || typeof value.type !== 'string') return undefined;
  const {
    type,
    url,
    source,
    title,
    document_title: documentTitle,
    cited_text: quote,
    document_index: document,
  } = value;
  // Clients link it, and get the citation as it came: `javascript:` is no address.
  if (typeof url === 'string' && !isWebAddress(url)) return undefined;
  const [, unit, from = '', to = ''] = RANGES.find(([known]) => known === type) ?? [];
  const start = value[from];
  const end = value[to];
  return {
    ...readUrl(url ?? source),
    ...readText('title', title ?? documentTitle),
    ...readText('quote', quote),
    ...(isIndex(document) && { document }),
    ...(unit && isIndex(start) && isIndex(end) && { range: { unit, start, end } }),
    original: { format: MESSAGES_FORMAT, value: JSON.stringify(value) },
  };
}

/** Undefined for one that clients of messages could not read. */
export function writeMessageCitation(citation: Citation): JsonObject | undefined {
  const { url, title, quote = '', document, range } = citation;
  const own = findOriginal(citation, MESSAGES_FORMAT);
  if (own) return own;
  const named = RANGES.find(([, unit]) => unit === range?.unit);
  if (document !== undefined && range && named) {
    const [type, , from, to] = named;
    return {
      type,
      cited_text: quote,
      document_index: document,
      document_title: title ?? null,
      [from]: range.start,
      [to]: range.end,
    };
  }
  return url === undefined
    ? undefined
    : { type: 'web_search_result_location', cited_text: quote, url, title: title ?? url, encrypted_index: '' };
}

/** The fields that a messages upstream takes back, of citations of documents. */
export function writeCitationBack({ original: _, ...citation }: Citation): JsonObject | undefined {
  const { quote, document, range } = citation;
  return document !== undefined && range && quote !== undefined ? writeMessageCitation(citation) : undefined;
}

/** `{ type: "url_citation", url_citation: { url, title, start_index, end_index } }`, or the same without the nesting. */
export function readChatAnnotation(value: unknown): Citation | undefined {
  return readAnnotation(value, CHAT_FORMAT, 0);
}

/** `{ type: "url_citation", url, title, start_index, end_index }`, whose places are those of a part with so much before it. */
export function readResponsesAnnotation(value: unknown, before: number): Citation | undefined {
  return readAnnotation(value, RESPONSES_FORMAT, before);
}

function readAnnotation(value: unknown, format: string, before: number): Citation | undefined {
  if (!isFields(value) || typeof value.type !== 'string') return undefined;
  const fields = { ...value, ...readFields(value[value.type]) };
  const { url, title, filename, content, start_index: start, end_index: end } = fields as JsonObject;
  return {
    ...readUrl(url),
    ...readText('title', title ?? filename),
    ...readText('quote', content),
    ...(isIndex(start) && isIndex(end) && { passage: { start: before + start, end: before + end } }),
    original: { format, value: JSON.stringify(value) },
  };
}

/** `given` is the passage where a citation names none. */
export function writeChatAnnotations(citations: readonly Citation[], given: Passage): readonly JsonObject[] {
  return citations.map((citation) => writeChatAnnotation(citation, given)).filter((written) => written !== undefined);
}

/** Clients of chats fail for any other type, and for less. */
function writeChatAnnotation(citation: Citation, given: Passage): JsonObject | undefined {
  const { url, title = url, quote, passage = given } = citation;
  if (url === undefined) return undefined;
  const own = findOriginal(citation, CHAT_FORMAT);
  const place = { start_index: passage.start, end_index: passage.end };
  const quoted = quote !== undefined && { content: quote };
  return { type: 'url_citation', url_citation: { ...readFields(own?.url_citation), url, title, ...quoted, ...place } };
}

/** Those of files are as the vendor writes them. */
const FILE_TYPES: ReadonlySet<unknown> = new Set(['file_citation', 'container_file_citation', 'file_path']);

/** `given` is the text of the part: places count from its start. */
export function writeResponsesAnnotations(citations: readonly Citation[], given: Passage): readonly JsonObject[] {
  return citations
    .map((citation) => writeResponsesAnnotation(citation, given))
    .filter((written) => written !== undefined);
}

function writeResponsesAnnotation(citation: Citation, given: Passage): JsonObject | undefined {
  const { url, title = url, passage = given } = citation;
  const own = findOriginal(citation, RESPONSES_FORMAT);
  if (FILE_TYPES.has(own?.type)) return own;
  if (url === undefined) return undefined;
  // Texts that were two parts upstream may be one here.
  const start = Math.max(0, passage.start - given.start);
  const end = Math.max(start, passage.end - given.start);
  return { ...own, type: 'url_citation', url, title, start_index: start, end_index: end };
}

/** Pages that an answer is based on as a whole: a list of addresses, or of results with a `url` and a `title`. */
export function readSources(given: unknown): readonly Citation[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((source: unknown) => {
    const { url, title, uri } = typeof source === 'string' ? { url: source } : readFields(source);
    const found = readUrl(url ?? uri);
    return 'url' in found ? [{ ...found, ...readText('title', title) }] : [];
  });
}

function findOriginal({ original }: Citation, format: string): JsonObject | undefined {
  return original?.format === format ? parseFields(original.value) : undefined;
}

function readUrl(value: unknown): Pick<Citation, 'url'> {
  return typeof value === 'string' && isWebAddress(value) ? { url: value } : {};
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

function readText<Name extends 'title' | 'quote'>(name: Name, value: unknown): { readonly [Key in Name]?: string } {
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as { [Key in Name]: string }) : {};
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
