// The request bodies by format name: the text dialects, embeddings, images and videos.
import { estimateInputs } from '../calls/embeddings/estimate.ts';
import type { EmbeddingRequest } from '../calls/embeddings/request.ts';
import { estimateInput } from '../calls/text/estimate.ts';
import type { TextRequest } from '../calls/text/request.ts';
import { chatDialect } from './dialects/chat/dialect.ts';
import type { Dialect } from './dialects/dialect.ts';
import { messageDialect } from './dialects/message/dialect.ts';
import { compactionDialect, responsesDialect } from './dialects/responses/dialect.ts';
import { cutEmbeddingRequest, joinEmbeddingRequest } from './embedding-parts.ts';
import { parseEmbedding } from './embedding-request.ts';
import { parseEdit, parseGeneration } from './image-request.ts';
import type { Cut, Joining } from './parts.ts';
import { cutPromptRequest, joinPromptRequest, type PromptRequest } from './prompt-parts.ts';
import { cutTextRequest, joinTextRequest } from './text-parts.ts';
import { parseVideo } from './video-request.ts';

/** Method syntax, so that one table can hold formats of different requests. */
export interface Format<Request extends object = object> {
  /** Checks and reads a parsed JSON body. Throws 400 faults that name the field. */
  parse(body: unknown): Request;
  /** Splits a long request for the transfer between threads. */
  cut(request: Request): Promise<Cut<Request>>;
  join(head: Request): Joining<Request>;
}

const embeddingFormat: Format<EmbeddingRequest> = {
  parse: parseEmbedding,
  async cut(request) {
    const { head, groups } = cutEmbeddingRequest(request);
    return { head: { ...head, estimate: await estimateInputs(request) }, groups };
  },
  join: joinEmbeddingRequest,
};

export const FORMATS = {
  message: textFormat(messageDialect),
  chat: textFormat(chatDialect),
  responses: textFormat(responsesDialect),
  compaction: textFormat(compactionDialect),
  embedding: embeddingFormat,
  generation: promptFormat(parseGeneration),
  edit: promptFormat(parseEdit),
  video: promptFormat(parseVideo),
};

export type FormatName = keyof typeof FORMATS;

export type ParsedRequest<Name extends FormatName> = ReturnType<(typeof FORMATS)[Name]['parse']>;

function textFormat({ parse }: Dialect): Format<TextRequest> {
  return {
    parse,
    async cut(request) {
      const { head, groups } = cutTextRequest(request);
      return { head: { ...head, estimate: await estimateInput(request) }, groups };
    },
    join: joinTextRequest,
  };
}

function promptFormat<Request extends PromptRequest>(parse: (body: unknown) => Request): Format<Request> {
  return { parse, cut: async (request) => cutPromptRequest(request), join: (head) => joinPromptRequest(head) };
}
