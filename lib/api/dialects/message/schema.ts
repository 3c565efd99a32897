// The fields of a message-style request; its messages are read, not described.
import { commonFields, type FieldRule } from '../fields.ts';

export const messageFields: Readonly<Record<string, FieldRule>> = {
  ...commonFields,
  system: {
    required: false,
    accepts: (value) => typeof value === 'string' || Array.isArray(value),
    hint: 'must be a string or an array of text blocks',
  },
};
