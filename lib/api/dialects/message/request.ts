// From a message-style body to the engine's request.
import type { TextRequest } from '../../../text/request.ts';
import { checkFields, invalidField, maxTokensOf } from '../fields.ts';
import { isImageUrl } from '../image-url.ts';
import { joinSystem, readMessages, readSystem, type WireBlock } from '../messages.ts';
import { messageFields } from './schema.ts';

export function parseMessageRequest(body: unknown): TextRequest {
  const fields = checkFields(messageFields, body);
  const { system, messages, images } = readMessages(fields.messages, isImage);
  return {
    model: fields.model,
    system: joinSystem([...readSystem(fields.system), ...system]),
    messages,
    messageCount: fields.messages.length,
    images,
    maxTokens: maxTokensOf(fields),
    stream: fields.stream ?? false,
  };
}

function isImage(block: WireBlock, field: string): boolean {
  if (block.type !== 'image') return false;
  const source = block.source as
    | { type?: unknown; url?: unknown; media_type?: unknown; data?: unknown }
    | null
    | undefined;
  if (typeof source !== 'object' || source === null) throw invalidField(`${field}.source`, 'must be an object');
  switch (source.type) {
    case 'url':
      if (typeof source.url === 'string' && isImageUrl(source.url)) return true;
      throw invalidField(`${field}.source.url`, 'must be an https URL');
    case 'base64':
      if (typeof source.media_type !== 'string') throw invalidField(`${field}.source.media_type`, 'must be a string');
      if (typeof source.data !== 'string') throw invalidField(`${field}.source.data`, 'must be a base64 string');
      return true;
    default:
      throw invalidField(`${field}.source.type`, 'must be url or base64');
  }
}
