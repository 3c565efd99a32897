// From a chat-style body to the engine's request.
import type { TextRequest } from '../../../text/request.ts';
import { checkFields } from '../fields.ts';
import { joinSystem, readMessages } from '../messages.ts';
import { maxTokensOf, type TextFields } from '../text-fields.ts';
import { chatFields } from './schema.ts';

export function parseChatRequest(body: unknown): TextRequest {
  const fields = checkFields<TextFields>(chatFields, body);
  const { system, messages, images } = readMessages(fields.messages);
  return {
    model: fields.model,
    system: joinSystem(system),
    messages,
    messageCount: fields.messages.length,
    images,
    maxTokens: maxTokensOf(fields),
    stream: fields.stream ?? false,
  };
}
