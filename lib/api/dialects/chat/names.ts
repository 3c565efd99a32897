// The names of those who speak in a chat. Few vendors take them and many refuse them, so models read them before the texts.
import type { RequestContent } from '../../../calls/text/request.ts';
import { isRecord } from '../fields.ts';

type Said = Readonly<Record<string, unknown>>;

export type TellName = (message: Said, content: readonly RequestContent[]) => readonly RequestContent[];

/**
 * Whoever speaks as a user is named. An assistant is the model itself, unless there are several; named all the same, it
 * would begin its answers with its name.
 */
export function createTellName(messages: readonly unknown[]): TellName {
  const assistants = new Set(
    messages.map((message) => (isRecord(message) ? readName(message, 'assistant') : undefined)),
  );
  assistants.delete(undefined);
  return (message, content) => {
    const name = readName(message, 'user') ?? (assistants.size > 1 ? readName(message, 'assistant') : undefined);
    return name === undefined ? content : tell(name, content);
  };
}

function readName({ role, name }: Said, of: string): string | undefined {
  return role === of && typeof name === 'string' && name.trim() !== '' ? name.trim() : undefined;
}

function tell(name: string, content: readonly RequestContent[]): readonly RequestContent[] {
  const at = content.findIndex(({ type }) => type === 'text');
  const part = content[at];
  if (part?.type === 'text') return content.with(at, { ...part, text: `${name}: ${part.text}` });
  // Nothing else that is said has a place for it.
  const isShown = content.some(({ type }) => type === 'image' || type === 'document' || type === 'audio');
  return isShown ? [{ type: 'text', text: `${name}:` }, ...content] : content;
}
