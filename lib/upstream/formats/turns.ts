// Messages of one role in a row, for vendors that refuse them: they become one.
import type { Content, TextMessage } from '../contract/provider.ts';

/** Of one role only, if it is named. */
export function joinTurns(messages: readonly TextMessage[], only?: TextMessage['role']): readonly TextMessage[] {
  const turns: { readonly role: TextMessage['role']; readonly content: Content[] }[] = [];
  for (const { role, content } of messages) {
    const last = turns.at(-1);
    if (last?.role !== role || (only !== undefined && role !== only)) turns.push({ role, content: [...content] });
    else for (const part of content) last.content.push(part);
  }
  return turns;
}
