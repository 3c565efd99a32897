// The chat-style wire format as one value.
import type { Dialect } from '../dialect.ts';
import { chatReply, createChatRenderer } from './render.ts';
import { parseChatRequest } from './request.ts';

export const chatDialect: Dialect = {
  name: 'chat',
  parse: parseChatRequest,
  createRenderer: createChatRenderer,
  reply: chatReply,
};
