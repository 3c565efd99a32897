// From a chat-style body to the engine's request.
import type { TextRequest } from '../../../text/request.ts';
import { checkFields, invalidField, maxTokensOf } from '../fields.ts';
import { isImageUrl } from '../image-url.ts';
import { joinSystem, readMessages, type WireBlock } from '../messages.ts';
import { chatFields } from './schema.ts';

export function parseChatRequest(body: unknown): TextRequest {
  const fields = checkFields(chatFields, body);
  const { system, messages, images } = readMessages(fields.messages, isImage);
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

const DATA_URI = /^data:image\/[a-z0-9.+-]+;base64,/i;

function isImage(block: WireBlock, field: string): boolean {
  if (block.type !== 'image_url') return false;
  const url = (block.image_url as { url?: unknown } | null | undefined)?.url;
  if (typeof url === 'string' && (isImageUrl(url) || DATA_URI.test(url))) return true;
  throw invalidField(`${field}.image_url.url`, 'must be an https URL or a data URI of an image');
}
