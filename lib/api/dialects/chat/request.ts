// Turns a chat-style body into the engine's request.
import type { TextRequest } from '../../../calls/text/request.ts';
import { readSpending } from '../../spending.ts';
import { readResponseFormat } from '../answer-format.ts';
import { markPrompt, readCacheKey, readUserId } from '../cache.ts';
import { checkFields, refuseMisplacedBody } from '../fields.ts';
import { readMessages } from '../messages.ts';
import { readChatReasoning } from '../reasoning-wish.ts';
import { readSampling } from '../sampling.ts';
import { readStops } from '../stops.ts';
import { readMaxTokens, refuseThread } from '../text-fields.ts';
import { type ChatFields, chatFields } from './schema.ts';
import { createSpeakerPrefix } from './speakers.ts';
import { readCallEcho, readChatTools } from './tools.ts';

export function parseChatRequest(body: unknown): TextRequest {
  refuseThread(body);
  refuseMisplacedBody(body, { needs: 'messages', has: 'input', path: '/api/v1/responses' });
  const fields = checkFields<ChatFields>(chatFields, body);
  const tools = readChatTools(fields);
  const { system, messages, ...contents } = readMessages(fields.messages, {
    prefixSpeaker: createSpeakerPrefix(fields.messages),
  });
  return {
    model: fields.model,
    system: system.length > 0 ? system : undefined,
    messages: markPrompt(messages, fields),
    ...(messages.some(({ role }) => role === 'system') && { hasSystemAnywhere: true }),
    messageCount: fields.messages.length,
    ...contents,
    ...(tools && { tools }),
    ...readCallEcho(fields),
    maxTokens: readMaxTokens(fields),
    stream: fields.stream ?? false,
    ...readCacheKey(fields),
    ...readUserId(body),
    ...readSpending(body),
    ...readSampling(body),
    ...readModalities(body),
    ...readStops('stop', fields.stop),
    ...readResponseFormat(fields.response_format),
    ...(fields.verbosity && { verbosity: fields.verbosity }),
    ...readChatReasoning(fields),
  };
}

const MODALITIES: readonly unknown[] = ['text', 'image'];

/** Text alone is what every model answers, and other values are not taken: neither is told to an upstream. */
function readModalities(body: unknown): Pick<TextRequest, 'modalities'> {
  const { modalities } = body as { readonly modalities?: unknown };
  if (!Array.isArray(modalities) || !modalities.includes('image')) return {};
  return modalities.every((each) => MODALITIES.includes(each)) ? { modalities } : {};
}
