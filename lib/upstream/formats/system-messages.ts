// System messages between others: for vendors that know only one system prompt, they become part of it, or of messages of
// the user, and where they may stay, they stand before an answer.
import type { TextContent } from '../contract/provider.ts';

interface Prompt<Message> {
  readonly system?: readonly TextContent[] | undefined;
  readonly messages: readonly Message[];
}

/** The same call if it has none. */
export function moveSystemMessages<
  Message extends { readonly role: string; readonly content: readonly { readonly type: string }[] },
  Call extends Prompt<Message>,
>(call: Call): Call {
  const { system = [], messages } = call;
  const moved = messages.filter(isSystem).flatMap(({ content }) => content as readonly TextContent[]);
  if (moved.length === 0) return call;
  return { ...call, system: [...system, ...moved], messages: messages.filter((message) => !isSystem(message)) };
}

/**
 * The same call if it has none. What they say becomes part of the user's message before it, or one of its own, so that
 * what precedes it stays as it is.
 */
export function mergeSystemMessages<
  Message extends { readonly role: string; readonly content: readonly { readonly type: string }[] },
  Call extends Prompt<Message>,
>(call: Call): Call {
  return call.messages.some(isSystem) ? { ...call, messages: mergeIntoUsers(call.messages) } : call;
}

function mergeIntoUsers<
  Message extends { readonly role: string; readonly content: readonly { readonly type: string }[] },
>(messages: readonly Message[]): readonly Message[] {
  const merged: Message[] = [];
  /** Of the last message, once something was added to it. */
  let added: { readonly type: string }[] | undefined;
  for (const message of messages) {
    if (!isSystem(message)) {
      merged.push(message);
      added = undefined;
      continue;
    }
    if (!added) {
      const last = merged.at(-1)?.role === 'user' ? merged.pop() : undefined;
      added = [...(last?.content ?? [])];
      merged.push({ ...(last ?? message), role: 'user', content: added });
    }
    for (const part of message.content) added.push(wrapReminder(part as unknown as TextContent));
  }
  return merged;
}

const REMINDER = 'system-reminder';

/** Agents mark what their user did not say this way, some of them within system messages too. */
function wrapReminder(part: TextContent): TextContent {
  if (part.text.trimStart().startsWith(`<${REMINDER}>`)) return part;
  return { ...part, text: `<${REMINDER}>\n${part.text}\n</${REMINDER}>` };
}

/** The same call if all are right before an answer, or at the end: elsewhere the messages format refuses them. */
export function placeSystemMessages<Message extends { readonly role: string }, Call extends Prompt<Message>>(
  call: Call,
): Call {
  const { messages } = call;
  const isMisplaced = messages.some((message, at) => isSystem(message) && messages[at + 1]?.role === 'user');
  return isMisplaced ? { ...call, messages: [...placeBehindUsers(messages)] } : call;
}

function* placeBehindUsers<Message extends { readonly role: string }>(messages: readonly Message[]): Iterable<Message> {
  const waiting: Message[] = [];
  for (const message of messages) {
    if (isSystem(message)) waiting.push(message);
    else {
      if (message.role === 'assistant') yield* waiting.splice(0);
      yield message;
    }
  }
  yield* waiting;
}

function isSystem({ role }: { readonly role: string }): boolean {
  return role === 'system';
}
