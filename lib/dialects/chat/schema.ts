// The fields of a chat-style request; its messages are read, not described.
import Joi from 'joi';
import { commonFields, preferences } from '../fields.ts';

export const chatSchema = Joi.object(commonFields).prefs(preferences);
