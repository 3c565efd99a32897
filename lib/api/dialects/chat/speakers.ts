// Names of the speakers of a chat. Few vendors take them and many refuse them, so they are written before the texts.

import { isRecord } from '../../../base/record.ts';
import type { RequestContent } from '../../../calls/text/request.ts';

type Said = Readonly<Record<string, unknown>>;

export type PrefixSpeaker = (message: Said, content: readonly RequestContent[]) => readonly RequestContent[];

/** Only where a role has several names: one alone tells nobody from another, and a model would answer under its own. */
export function createSpeakerPrefix(messages: readonly unknown[]): PrefixSpeaker {
  const several = new Set(['user', 'assistant'].filter((role) => countNames(messages, role) > 1));
  return (message, content) => {
    const name = several.has(`${message.role}`) ? readName(message) : undefined;
    return name === undefined ? content : prefixText(name, content);
  };
}

function countNames(messages: readonly unknown[], role: string): number {
  const names = messages.map((message) => (isRecord(message) && message.role === role ? readName(message) : undefined));
  return new Set(names.filter((name) => name !== undefined)).size;
}

function readName({ name }: Said): string | undefined {
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : undefined;
}

function prefixText(name: string, content: readonly RequestContent[]): readonly RequestContent[] {
  const at = content.findIndex(({ type }) => type === 'text');
  const part = content[at];
  if (part?.type === 'text') return content.with(at, { ...part, text: `${name}: ${part.text}` });
  // Nothing else that is said has a place for it.
  const isShown = content.some(({ type }) => type === 'image' || type === 'document' || type === 'audio');
  return isShown ? [{ type: 'text', text: `${name}:` }, ...content] : content;
}
