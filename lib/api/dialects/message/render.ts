// From parts to message-style events and replies.
import type { CollectedReply } from '../../../stream/collect.ts';
import type { FinishReason, ReplyStartPart, StreamPart } from '../../../stream/part.ts';
import { billingBlock } from '../billing.ts';
import { messageFault } from './fault.ts';

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  filter: 'refusal',
  tool: 'end_turn',
  other: 'end_turn',
};

const MESSAGE_ID_PREFIX = 'msg_';

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** One fragment: only its text needs escaping. */
function delta(index: number, text: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":${JSON.stringify(text)}}}\n\n`;
}

export function createMessageRenderer(): (parts: readonly StreamPart[]) => string {
  let input = 0;
  let output = 0;

  function render(part: StreamPart): string {
    switch (part.type) {
      case 'block-delta':
        return delta(part.index, part.text);
      case 'usage':
        input = part.input ?? input;
        output = part.output ?? output;
        return '';
      case 'start':
        return event('message_start', { type: 'message_start', message: startOf(part, input) });
      case 'block-start':
        return event('content_block_start', {
          type: 'content_block_start',
          index: part.index,
          content_block: { type: 'text', text: '' },
        });
      case 'block-end':
        return event('content_block_stop', { type: 'content_block_stop', index: part.index });
      case 'finish':
        return (
          event('message_delta', {
            type: 'message_delta',
            delta: { stop_reason: STOP_REASONS[part.reason], stop_sequence: null },
            usage: { output_tokens: output },
          }) + event('message_stop', { type: 'message_stop' })
        );
      case 'billing':
        return event('billing', billingBlock(part));
      case 'error':
        return event('error', messageFault(part.fault));
    }
  }

  return (parts) => {
    let text = '';
    for (const part of parts) text += render(part);
    return text;
  };
}

function startOf({ id, model, smart }: ReplyStartPart, input: number): object {
  return {
    id: `${MESSAGE_ID_PREFIX}${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    usage: { input_tokens: input, output_tokens: 0 },
    ...(smart && { smart_routing: smart }),
  };
}

/** The frozen shape: without a billing block, unless the call had pictures. */
export function messageReply(reply: CollectedReply, { vision }: { readonly vision: boolean }): object {
  return {
    id: `${MESSAGE_ID_PREFIX}${reply.id}`,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: reply.blocks.map((text) => ({ type: 'text', text })),
    stop_reason: STOP_REASONS[reply.reason],
    stop_sequence: null,
    usage: { input_tokens: reply.input, output_tokens: reply.output },
    ...(reply.smart && { smart_routing: reply.smart }),
    ...(vision && { billing: billingBlock(reply.billing) }),
  };
}
