// The fields of a chat-style request; its messages are read by `messages.ts`.

import type { Verbosity } from '../../../upstream/contract/provider.ts';
import { responseFormatField, verbosityField } from '../answer-format.ts';
import { cacheControlField, cacheFields } from '../cache.ts';
import { body } from '../fields.ts';
import { chatThinkingFields, reasoningEffortField, reasoningField } from '../reasoning-wish.ts';
import { stopField } from '../stops.ts';
import { type TextFields, textFields } from '../text-fields.ts';
import { type ChatToolFields, chatToolFields } from './tools.ts';

export interface ChatFields extends TextFields, ChatToolFields {
  readonly response_format?: object | null;
  readonly verbosity?: Verbosity | null;
  readonly reasoning_effort?: string | null;
  readonly reasoning?: object | null;
  readonly thinking?: object | null;
  readonly enable_thinking?: unknown;
  readonly chat_template_kwargs?: unknown;
  readonly stop?: string | readonly unknown[] | null;
  readonly prompt_cache_key?: string | null;
  readonly prompt_cache_retention?: string | null;
}

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
  verbosity: verbosityField,
  reasoning_effort: reasoningEffortField,
  reasoning: reasoningField,
  ...chatThinkingFields,
});
