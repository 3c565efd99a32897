// The reader of chat completions behind the host's decoder, for tests, and lines for it.
import { Buffer } from 'node:buffer';
import type { Block } from '../../../../lib/stream/provider-part.ts';
import type { ChatQuirks, ProviderPart } from '../../../../lib/upstream/contract/provider.ts';
import { ChatReply } from '../../../../lib/upstream/formats/chat/reply.ts';
import { createFinishReason } from '../../../../lib/upstream/host/finish-words.ts';
import { createHostFault } from '../../../../lib/upstream/host/host-fault.ts';
import { LenientAnswer } from '../../../../lib/upstream/host/lenient-answer.ts';

const fault = createHostFault({ secrets: [] });

/** The reader behind the host's decoder, a list of lines at a time. */
export function open(quirks: ChatQuirks = {}) {
  const answer = new LenientAnswer({
    reader: new ChatReply({ fault, finishReason: createFinishReason(fault) }, quirks),
    fault,
  });
  const collect = (read: (parts: ProviderPart[]) => void): readonly ProviderPart[] => {
    const parts: ProviderPart[] = [];
    read(parts);
    return parts;
  };
  return {
    push: (lines: readonly string[]) => collect((parts) => answer.push(Buffer.from(`${lines.join('\n')}\n`), parts)),
    end: () => collect((parts) => answer.end(parts)),
    break: (error: unknown) => answer.break(error),
    get done() {
      return answer.done;
    },
    get failure() {
      return answer.error ?? answer.failure;
    },
  };
}

export const line = (delta: object, finish?: string, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...(finish !== undefined && { finish_reason: finish }) }], ...more })}`;
export const text = (content: unknown, finish?: string) => line({ content }, finish);
export const types = (parts: readonly ProviderPart[]) => parts.map(({ type }) => type);
/** The text of the blocks of a type. */
export const saidIn = (type: Block['type'], parts: readonly ProviderPart[]) => {
  const opened = parts.flatMap((part) => (part.type === 'block-start' && part.block.type === type ? [part.index] : []));
  return parts.map((part) => (part.type === 'block-delta' && opened.includes(part.index) ? part.text : '')).join('');
};
export const thoughts = (parts: readonly ProviderPart[]) => saidIn('reasoning', parts);
export const answers = (parts: readonly ProviderPart[]) => saidIn('text', parts);
export const joined = (parts: readonly ProviderPart[]) =>
  parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join('');
/** A whole message in place of deltas. */
export const whole = (message: object, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ message, finish_reason: 'stop' }], ...more })}`;
export const calls = (parts: readonly ProviderPart[]) =>
  parts.flatMap((part) => (part.type === 'block-start' && part.block.type === 'tool' ? [part.block] : []));
