// The responses wire format as one value.
import type { Dialect } from '../dialect.ts';
import { createResponsesRenderer, responsesReply } from './render.ts';
import { parseCompactionRequest, parseResponsesRequest } from './request.ts';

export const responsesDialect: Dialect = {
  name: 'responses',
  parse: parseResponsesRequest,
  createRenderer: createResponsesRenderer,
  reply: responsesReply,
};

/** Of the path at which a client asks for a compaction: there are no streams. */
export const compactionDialect: Dialect = {
  ...responsesDialect,
  name: 'compaction',
  parse: parseCompactionRequest,
};
