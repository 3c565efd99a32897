// The upstream request for one text call.
import type { Host, TextCall } from '../../../lib/upstream/contract/provider.ts';

/** It cannot see images: the catalog's `vision` list does not name its models. */
export function buildBody({ model, system, messages, maxTokens }: TextCall, { textOf }: Host): object {
  const told = messages.map(({ role, content }) => ({ role, text: textOf(content) }));
  return { model, system, messages: told, max_tokens: maxTokens };
}
