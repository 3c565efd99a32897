// The documents and recordings of a text request: what they weigh, what they may cost, and what is left of them.
import { freeBytes } from '../../base/free-bytes.ts';
import type { AudioContent, DocumentContent } from '../../upstream/contract/provider.ts';
import { countPages, hasPdfHeader } from './pdf.ts';
import type { RequestContent, RequestMessage, RequestResult } from './request.ts';

type File = DocumentContent | AudioContent;

/** Vendors read a page as text and as an image. */
const TOKENS_PER_PAGE = 2000;
/** Of speech, compressed well: a second has 3 kB and counts as some 32 tokens. */
const AUDIO_BYTES_PER_TOKEN = 100;
const BYTES_PER_TOKEN = 4;
/**
 * A file may be made to look smaller here than to the vendor: pages that a reader repairs, texts that unfold, silence.
 * The vendor's count of a hundred pages is believed.
 */
const TOKENS_PER_FILE_BELIEVED = 100 * TOKENS_PER_PAGE;

export interface FileTokens {
  readonly estimated: number;
  /** The same, but no file that is more than text counts less than `TOKENS_PER_FILE_BELIEVED`. */
  readonly believable: number;
}

export function countFileTokens(messages: readonly RequestMessage[]): FileTokens {
  let estimated = 0;
  let believable = 0;
  for (const { content } of messages) {
    for (const file of filesIn(content)) {
      const tokens = estimateFileTokens(file);
      estimated += tokens;
      believable += isText(file) ? tokens : Math.max(tokens, TOKENS_PER_FILE_BELIEVED);
    }
  }
  return { estimated, believable };
}

function estimateFileTokens(part: File): number {
  if (part.type === 'audio') return Math.ceil(part.bytes.length / AUDIO_BYTES_PER_TOKEN);
  if (!isText(part) && isPdf(part)) return TOKENS_PER_PAGE * countPages(part.bytes);
  return Math.ceil(part.bytes.length / BYTES_PER_TOKEN);
}

const isText = ({ mediaType }: File) => mediaType.startsWith('text/');

/** Whatever the client calls it. */
function isPdf({ mediaType, bytes }: File): boolean {
  return /pdf/i.test(mediaType) || hasPdfHeader(bytes);
}

/** All documents and recordings, also those in results. */
function filesIn(content: readonly RequestContent[]): readonly File[] {
  return content.flatMap((part): readonly File[] => {
    if (part.type === 'document' || part.type === 'audio') return [part];
    return part.type === 'tool-result' ? filesIn(part.content) : [];
  });
}

/** The messages for a model that takes no documents: those that are text stay as text. */
export function withDocumentsAsText(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  return messages.map((message) => ({ ...message, content: message.content.map(readAsText) }));
}

function readAsText(part: RequestContent): RequestContent {
  if (part.type === 'tool-result') {
    return { ...part, content: part.content.map(readAsText) as RequestResult['content'] };
  }
  if (part.type !== 'document') return part;
  const { bytes, cache } = part;
  return { type: 'text', text: new TextDecoder().decode(bytes), ...(cache && { cache }) };
}

/** Frees their memory, whoever still refers to it. */
export function releaseFiles(messages: readonly RequestMessage[]): void {
  for (const { content } of messages) for (const { bytes } of filesIn(content)) freeBytes(bytes as Buffer);
}
