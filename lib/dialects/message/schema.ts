// The fields of a message-style request; its messages are read, not described.
import Joi from 'joi';
import { commonFields, preferences, systemField } from '../fields.ts';

export const messageSchema = Joi.object({ ...commonFields, system: systemField }).prefs(preferences);
