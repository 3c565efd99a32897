// The documents and recordings of a text request: their tokens, their form for other models, and their release.
import { freeBytes } from '../../base/free-bytes.ts';
import type { AudioContent, DocumentContent } from '../../upstream/contract/provider.ts';
import { writeDocumentText } from '../../upstream/formats/document-text.ts';
import { countPages, hasPdfHeader } from './pdf.ts';
import type { RequestContent, RequestMessage, RequestResult } from './request.ts';

type File = DocumentContent | AudioContent;

/** Vendors read a page as text and as an image. */
const TOKENS_PER_PAGE = 2000;
/** For well compressed speech: a second is 3 kB and about 32 tokens. */
const AUDIO_BYTES_PER_TOKEN = 100;
const BYTES_PER_TOKEN = 4;
/**
 * A file can look smaller here than to the vendor: damaged pages that its reader repairs, compressed text, silence. So
 * a vendor's count of up to a hundred pages is believed.
 */
const TOKENS_PER_FILE_BELIEVED = 100 * TOKENS_PER_PAGE;

export interface FileTokens {
  readonly estimated: number;
  /** How much more a vendor may count: no file that is more than text counts less than `TOKENS_PER_FILE_BELIEVED`. */
  readonly excess: number;
}

export interface RequestFileTokens {
  readonly documents: FileTokens;
  readonly recordings: FileTokens;
}

export function countFileTokens(messages: readonly RequestMessage[]): RequestFileTokens {
  const files = messages.flatMap(({ content }) => listContentFiles(content));
  return {
    documents: sumFileTokens(files.filter(({ type }) => type === 'document')),
    recordings: sumFileTokens(files.filter(({ type }) => type === 'audio')),
  };
}

function sumFileTokens(files: readonly File[]): FileTokens {
  let estimated = 0;
  let excess = 0;
  for (const file of files) {
    const tokens = estimateFileTokens(file);
    estimated += tokens;
    if (!isText(file)) excess += Math.max(0, TOKENS_PER_FILE_BELIEVED - tokens);
  }
  return { estimated, excess };
}

function estimateFileTokens(part: File): number {
  if (part.type === 'audio') return Math.ceil(part.bytes.length / AUDIO_BYTES_PER_TOKEN);
  if (!isText(part) && isPdf(part)) return TOKENS_PER_PAGE * countPages(part.bytes);
  return Math.ceil(part.bytes.length / BYTES_PER_TOKEN);
}

const isText = ({ mediaType }: File) => mediaType.startsWith('text/');

/** Whatever media type the client names. */
function isPdf({ mediaType, bytes }: File): boolean {
  return /pdf/i.test(mediaType) || hasPdfHeader(bytes);
}

/** All documents and recordings, also those in results. */
function listContentFiles(content: readonly RequestContent[]): readonly File[] {
  return content.flatMap((part): readonly File[] => {
    if (part.type === 'document' || part.type === 'audio') return [part];
    return part.type === 'tool-result' ? listContentFiles(part.content) : [];
  });
}

/** The messages for a model that takes no documents: those that are text stay as text. */
export function convertDocumentsToText(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  return messages.map((message) => ({ ...message, content: message.content.map(readAsText) }));
}

function readAsText(part: RequestContent): RequestContent {
  if (part.type === 'tool-result') {
    return { ...part, content: part.content.map(readAsText) as RequestResult['content'] };
  }
  if (part.type !== 'document') return part;
  const { cache } = part;
  return { type: 'text', text: writeDocumentText(part), ...(cache && { cache }) };
}

/** Frees their memory, even if something still refers to it. */
export function releaseFiles(messages: readonly RequestMessage[]): void {
  for (const { content } of messages) for (const { bytes } of listContentFiles(content)) freeBytes(bytes as Buffer);
}
