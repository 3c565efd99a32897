// The request that one text call becomes.
import type { Host, TextCall } from '../../../lib/plugin/contract.ts';

/** It sees no pictures: the catalog's `vision` list does not name its models. */
export function bodyOf({ model, system, messages, maxTokens }: TextCall, { textOf }: Host): object {
  const told = messages.map(({ role, content }) => ({ role, text: textOf(content) }));
  return { model, system, messages: told, max_tokens: maxTokens };
}
