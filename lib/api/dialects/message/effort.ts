// The effort that system messages set within a conversation. Agents change it there, because another effort of the whole
// request would invalidate the vendor's prompt cache.
import { type Json, nullable, object } from '../../../base/json-schema.ts';
import { isRecord } from '../../../base/record.ts';
import type { Effort } from '../../../upstream/contract/provider.ts';
import { invalidField } from '../fields.ts';
import { nullableEffort, readEffort } from '../reasoning-wish.ts';

/**
 * The effort of the next answer. One that is set right behind a message of the user counts from the answer to that message;
 * any other from the user's next message on, of which results of tools alone are none. Throws 400 faults that name the field.
 */
export function findEffort(messages: readonly unknown[]): Effort | undefined {
  let now: Effort | undefined;
  let next: Effort | undefined;
  let isAsked = false;
  for (const [at, message] of messages.entries()) {
    if (!isRecord(message)) continue;
    if (message.role !== 'system') {
      isAsked = message.role === 'user' && hasInput(message.content);
      if (isAsked) now = next;
      continue;
    }
    next = readMessageEffort(message.output_config, `messages[${at}].output_config`) ?? next;
    if (isAsked) now = next;
  }
  return now;
}

function readMessageEffort(config: unknown, field: string): Effort | undefined {
  if (config != null && !isRecord(config)) throw invalidField(field, 'must be an object');
  return readEffort(config, field);
}

function hasInput(content: unknown): boolean {
  return !Array.isArray(content) || content.some((block) => !isRecord(block) || block.type !== 'tool_result');
}

export const messageEffort: Json = {
  ...nullable(object({ effort: nullableEffort }, { optional: ['effort'] })),
  description:
    'Of a `system` message, which then needs no content: the effort of the answers that follow. Right behind a message of ' +
    'the user it counts for the answer to it, otherwise from their next message on.',
};
