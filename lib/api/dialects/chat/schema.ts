// The fields of a chat-style request; its messages are read by `messages.ts`.
import { textFields } from '../text-fields.ts';

export const chatFields = textFields({
  schema: 'ChatMessage',
  description: 'System prompt and history, oldest first; the last `user` message is the prompt.',
});
