// The fields of a chat-style request; its messages are read, not described.
import Joi from 'joi';
import { commonFields } from '../fields.ts';

export const chatSchema = Joi.object(commonFields);
