// The fields of a message-style request; its messages are read by `messages.ts`.
import { list, ref } from '../../openapi/schema.ts';
import type { FieldRules } from '../fields.ts';
import { outputConfigField, thinkingField } from '../output.ts';
import { stopSequencesField } from '../stops.ts';
import { textFields } from '../text-fields.ts';
import { messageToolRules } from './tools.ts';

export const messageFields: FieldRules = {
  ...textFields({
    schema: 'Message',
    description: 'The history, oldest first; the last `user` message is the prompt.',
  }),
  ...messageToolRules,
  system: {
    required: false,
    accepts: (value) => typeof value === 'string' || Array.isArray(value),
    hint: 'must be a string or an array of text blocks',
    schema: { description: 'The system prompt.', anyOf: [{ type: 'string' }, list(ref('MessageBlock'))] },
  },
  stop_sequences: stopSequencesField,
  output_config: outputConfigField,
  thinking: thinkingField,
};
