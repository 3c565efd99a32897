// The request that one text call becomes.
import type { TextCall, TextMessage } from '../../../lib/plugin/contract.ts';

export function bodyOf({ model, system, messages, maxTokens }: TextCall): object {
  return { model, system, messages: messages.map(messageOf), max_tokens: maxTokens };
}

/** It sees no pictures: the catalog's `vision` list does not name its models. */
function messageOf({ role, content }: TextMessage): object {
  return { role, text: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') };
}
