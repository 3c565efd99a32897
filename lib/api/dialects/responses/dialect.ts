// The responses wire format as one value.
import type { Dialect } from '../dialect.ts';
import { createResponsesRenderer, responsesReply } from './render.ts';
import { parseResponsesRequest } from './request.ts';

export const responsesDialect: Dialect = {
  name: 'responses',
  parse: parseResponsesRequest,
  createRenderer: createResponsesRenderer,
  reply: responsesReply,
};
