// Turns a message-style body into the engine's request.
import type { TextRequest } from '../../../calls/text/request.ts';
import { checkFields } from '../fields.ts';
import { joinSystem, readMessages, readSystem } from '../messages.ts';
import { readOutputConfig, readThinking } from '../output.ts';
import { readStops } from '../stops.ts';
import { maxTokensOf, refuseThread, type TextFields } from '../text-fields.ts';
import { messageFields } from './schema.ts';
import { readMessageTools } from './tools.ts';

export function parseMessageRequest(body: unknown): TextRequest {
  refuseThread(body);
  const fields = checkFields<TextFields>(messageFields, body);
  const tools = readMessageTools(fields);
  const { system, messages, images, hasCalls } = readMessages(fields.messages);
  return {
    model: fields.model,
    system: joinSystem([...readSystem(fields.system), ...system]),
    messages,
    messageCount: fields.messages.length,
    images,
    ...(tools && { tools }),
    ...(hasCalls && { hasCalls }),
    maxTokens: maxTokensOf(fields),
    stream: fields.stream ?? false,
    ...readStops('stop_sequences', fields.stop_sequences),
    ...readOutputConfig(fields.output_config),
    ...readThinking(fields.thinking, fields.output_config),
  };
}
