// System messages between others: for vendors that know only one system prompt, they become part of it.
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

function isSystem({ role }: { readonly role: string }): boolean {
  return role === 'system';
}
