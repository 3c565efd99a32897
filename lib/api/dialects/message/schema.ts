// The fields of a message-style request; its messages are read by `messages.ts`.

import Joi from 'joi';
import { list, ref } from '../../../base/json-schema.ts';
import { outputConfigField, outputFormatField } from '../answer-format.ts';
import { cacheControlField } from '../cache.ts';
import { body, documentAs, optional } from '../fields.ts';
import { thinkingField } from '../reasoning-wish.ts';
import { stopSequencesField } from '../stops.ts';
import { type TextFields, textFields } from '../text-fields.ts';
import { type MessageFormatFields, messageFormatFields } from './fields.ts';
import { type MessageToolFields, messageToolFields } from './tools.ts';

export interface MessageFields extends TextFields, MessageToolFields, MessageFormatFields {
  readonly system?: string | readonly unknown[] | null;
  readonly output_config?: object | null;
  readonly output_format?: object | null;
  readonly thinking?: object | null;
  readonly stop_sequences?: readonly unknown[] | null;
}

export const messageFields = body({
  ...textFields({
    schema: 'Message',
    description: 'The history, oldest first; the last `user` message is the prompt.',
  }),
  ...messageToolFields,
  ...messageFormatFields,
  system: optional(
    documentAs(Joi.alternatives(Joi.string().allow(''), Joi.array()), {
      description: 'The system prompt.',
      anyOf: [{ type: 'string' }, list(ref('MessageBlock'))],
    }),
    'must be a string or an array of text blocks',
  ),
  cache_control: cacheControlField,
  stop_sequences: stopSequencesField,
  output_config: outputConfigField,
  output_format: outputFormatField,
  thinking: thinkingField,
});
