// From parts to chat-style chunks and replies.
import type { CollectedReply } from '../../../stream/collect.ts';
import type { FinishReason, StreamPart } from '../../../stream/part.ts';
import { billingBlock } from '../billing.ts';
import { chatFault } from './fault.ts';

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  filter: 'content_filter',
  tool: 'stop',
  other: 'stop',
};

const CHAT_ID_PREFIX = 'chatcmpl_';
const DONE = 'data: [DONE]\n\n';

const unixSeconds = () => Math.floor(Date.now() / 1000);

export function createChatRenderer(): (parts: readonly StreamPart[]) => string {
  const created = unixSeconds();
  let head = '';
  let prefix = '';
  let input = 0;
  let output = 0;
  let reason: FinishReason = 'other';
  let routing = '';

  function render(part: StreamPart): string {
    switch (part.type) {
      case 'block-delta':
        return `${prefix}${JSON.stringify(part.text)}},"finish_reason":null}]}\n\n`;
      case 'usage':
        input = part.input ?? input;
        output = part.output ?? output;
        return '';
      case 'start': {
        const id = JSON.stringify(`${CHAT_ID_PREFIX}${part.id}`);
        head = `data: {"id":${id},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(part.model)},"choices":[{"index":0,"delta":`;
        prefix = `${head}{"content":`;
        if (part.smart) routing = `,"smart_routing":${JSON.stringify(part.smart)}`;
        return `${head}{"role":"assistant","content":""},"finish_reason":null}]}\n\n`;
      }
      case 'finish':
        reason = part.reason;
        return '';
      case 'billing': {
        const usage = JSON.stringify(usageOf({ input, output }));
        const billing = JSON.stringify(billingBlock(part));
        return `${head}{},"finish_reason":"${FINISH_REASONS[reason]}"}],"usage":${usage},"billing":${billing}${routing}}\n\n${DONE}`;
      }
      case 'error':
        return `data: ${JSON.stringify(chatFault(part.fault))}\n\n${DONE}`;
      case 'block-start':
      case 'block-end':
        return '';
    }
  }

  return (parts) => {
    let text = '';
    for (const part of parts) text += render(part);
    return text;
  };
}

function usageOf({ input, output }: { input: number; output: number }): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

export function chatReply(reply: CollectedReply): object {
  const message = { role: 'assistant', content: reply.blocks.join('') };
  return {
    id: `${CHAT_ID_PREFIX}${reply.id}`,
    object: 'chat.completion',
    created: unixSeconds(),
    model: reply.model,
    choices: [{ index: 0, message, finish_reason: FINISH_REASONS[reply.reason] }],
    usage: usageOf(reply),
    billing: billingBlock(reply.billing),
    ...(reply.smart && { smart_routing: reply.smart }),
  };
}
