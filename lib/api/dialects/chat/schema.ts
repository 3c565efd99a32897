// The fields of a chat-style request; its messages are read, not described.
import { commonFields, type FieldRule } from '../fields.ts';

export const chatFields: Readonly<Record<string, FieldRule>> = commonFields;
