// The fields of a chat-style request; its messages are read by `messages.ts`.
import { cacheControlField, cacheFields } from '../cache.ts';
import { body } from '../fields.ts';
import { chatThinkingFields, reasoningEffortField, reasoningField, responseFormatField } from '../output.ts';
import { stopField } from '../stops.ts';
import { textFields } from '../text-fields.ts';
import { chatToolFields } from './tools.ts';

export const chatFields = body({
  ...textFields({
    schema: 'ChatMessage',
    description: 'System prompt and history, oldest first; the last `user` message is the prompt.',
  }),
  ...chatToolFields,
  ...cacheFields,
  cache_control: cacheControlField,
  stop: stopField,
  response_format: responseFormatField,
  reasoning_effort: reasoningEffortField,
  reasoning: reasoningField,
  ...chatThinkingFields,
});
