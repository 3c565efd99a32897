// Turns a message-style body into the engine's request.
import type { TextRequest } from '../../../calls/text/request.ts';
import { readSpending } from '../../spending.ts';
import { readOutputConfig } from '../answer-format.ts';
import { markPrompt, readUserId } from '../cache.ts';
import { checkFields } from '../fields.ts';
import { readMessages, readSystem } from '../messages.ts';
import { readThinking } from '../reasoning-wish.ts';
import { readSampling } from '../sampling.ts';
import { readStops } from '../stops.ts';
import { readMaxTokens, refuseThread } from '../text-fields.ts';
import { findEffort } from './effort.ts';
import { readMessageFormatFields } from './fields.ts';
import { type MessageFields, messageFields } from './schema.ts';
import { readMessageTools } from './tools.ts';

export function parseMessageRequest(body: unknown): TextRequest {
  refuseThread(body);
  const fields = checkFields<MessageFields>(messageFields, body);
  const tools = readMessageTools(fields);
  const { system, messages, ...contents } = readMessages(fields.messages);
  const prompt = [...readSystem(fields.system), ...system];
  return {
    model: fields.model,
    system: prompt.length > 0 ? prompt : undefined,
    messages: markPrompt(messages, fields),
    messageCount: fields.messages.length,
    ...contents,
    ...(tools && { tools }),
    ...readMessageFormatFields(fields),
    maxTokens: readMaxTokens(fields),
    stream: fields.stream ?? false,
    ...readUserId(body),
    ...readSpending(body),
    ...readSampling(body),
    ...readStops('stop_sequences', fields.stop_sequences),
    ...readOutputConfig(fields.output_config, fields.output_format),
    ...readThinking(fields.thinking, fields.output_config, findEffort(fields.messages)),
  };
}
