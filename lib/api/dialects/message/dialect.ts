// The message-style wire format as one value.
import type { Dialect } from '../dialect.ts';
import { createMessageRenderer, messageReply } from './render.ts';
import { parseMessageRequest } from './request.ts';

export const messageDialect: Dialect = {
  name: 'message',
  parse: parseMessageRequest,
  createRenderer: createMessageRenderer,
  reply: messageReply,
};
