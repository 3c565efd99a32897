// Renders parts as chat-style chunks and replies.

import { flattenString } from '../../../base/flat-string.ts';
import { type CollectedReply, replyText } from '../../../stream/collect.ts';
import type { FinishReason, ReplyBlock, StreamPart } from '../../../stream/part.ts';
import type { Transform } from '../../../stream/pipeline.ts';
import type { BlockState, UsageCounts } from '../../../stream/provider-part.ts';
import { billingBlock } from '../billing.ts';
import type { AnsweredCall } from '../dialect.ts';
import { escaped } from '../escape.ts';
import { CustomInput } from '../responses/custom-input.ts';
import { writeReasoningDetails } from '../thoughts.ts';
import { chatUsage } from '../usage.ts';
import { type CallShape, findCallShape } from './call-shape.ts';
import { chatFault } from './fault.ts';

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  filter: 'content_filter',
  tool: 'tool_calls',
  other: 'stop',
};

const CHAT_ID_PREFIX = 'chatcmpl_';
const DONE = 'data: [DONE]\n\n';
/** What follows the delta of every chunk but the last. */
const OPEN_END = ',"finish_reason":null}]}\n\n';

const unixSeconds = () => Math.floor(Date.now() / 1000);

interface OpenReasoning {
  text: string;
  readonly redacted: boolean | undefined;
  state: BlockState | undefined;
}

export function createChatRenderer({ echo }: Pick<AnsweredCall, 'echo'> = {}): Transform<StreamPart, string> {
  const shape = findCallShape(echo);
  const created = unixSeconds();
  let head = '';
  /** The text before and after a fragment of the open block. */
  let prefix = '';
  let suffix = '';
  let calls = 0;
  /** The open block of reasoning: its text goes out once more if its upstream wants it back. */
  let reasoning: OpenReasoning | undefined;
  let detailed = 0;
  /** The input of the open call, if its tool is custom. */
  let custom: CustomInput | undefined;
  let counts: UsageCounts = {};
  let reason: FinishReason = 'other';
  let routing = '';

  function render(part: StreamPart): string {
    switch (part.type) {
      case 'block-delta':
        if (reasoning) reasoning.text += part.text;
        return custom ? writeInput(custom.push(part.text)) : prefix + escaped(part.text) + suffix;
      case 'usage':
        counts = part;
        return '';
      case 'start': {
        const id = JSON.stringify(`${CHAT_ID_PREFIX}${part.id}`);
        head = flattenString(
          `data: {"id":${id},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(part.model)},"choices":[{"index":0,"delta":`,
        );
        if (part.smart) routing = `,"smart_routing":${JSON.stringify(part.smart)}`;
        return `${head}{"role":"assistant","content":""}${OPEN_END}`;
      }
      case 'finish':
        reason = part.reason;
        return '';
      case 'billing': {
        const usage = JSON.stringify(chatUsage(counts));
        const billing = JSON.stringify(billingBlock(part));
        return `${head}{},"finish_reason":"${nameReason(reason, shape)}"}],"usage":${usage},"billing":${billing}${routing}}\n\n${DONE}`;
      }
      case 'error':
        return `data: ${JSON.stringify(chatFault(part.fault))}\n\n${DONE}`;
      case 'block-start':
        return begin(part.block);
      case 'block-state':
        if (reasoning) reasoning.state = part.state;
        return '';
      case 'block-end':
        return custom ? endCustom(custom) : endReasoning();
      case 'hidden':
        return '';
    }
  }

  function writeInput(text: string): string {
    return text === '' ? '' : prefix + escaped(text) + suffix;
  }

  function endCustom(input: CustomInput): string {
    custom = undefined;
    return writeInput(input.end());
  }

  /** What the upstream wants back follows the text of a block of reasoning. */
  function endReasoning(): string {
    const { text = '', redacted, state } = reasoning ?? {};
    reasoning = undefined;
    if (!state) return '';
    const details = writeReasoningDetails({ text, redacted, state }, detailed);
    detailed += 1;
    return `${head}${JSON.stringify({ reasoning_details: details })}${OPEN_END}`;
  }

  function begin(block: ReplyBlock): string {
    if (block.type === 'reasoning') {
      reasoning = { text: '', redacted: block.redacted, state: undefined };
      prefix = flattenString(`${head}{"reasoning_content":"`);
      suffix = `"}${OPEN_END}`;
      return '';
    }
    if (block.type === 'text') {
      prefix = flattenString(`${head}{"content":"`);
      suffix = `"}${OPEN_END}`;
      return '';
    }
    const index = calls;
    calls += 1;
    custom = shape.isCustom(block.name) ? new CustomInput() : undefined;
    const [before, after] = shape.around(index, custom !== undefined);
    prefix = flattenString(head + before);
    suffix = after + OPEN_END;
    return `${head}${JSON.stringify(shape.begin(block, index))}${OPEN_END}`;
  }

  return {
    push(batch) {
      let text = '';
      for (const part of batch) text += render(part);
      return text === '' ? [] : [text];
    },
  };
}

function nameReason(reason: FinishReason, { finishReason }: CallShape): string {
  return reason === 'tool' ? finishReason : FINISH_REASONS[reason];
}

function renderMessage(reply: CollectedReply, shape: CallShape): object {
  const calls = reply.blocks.filter((block) => block.type === 'tool');
  const text = replyText(reply);
  const thoughts = renderReasoning(reply);
  if (calls.length === 0) return { role: 'assistant', content: text, ...thoughts };
  return { role: 'assistant', content: text === '' ? null : text, ...thoughts, ...shape.writeAll(calls) };
}

function renderReasoning({ blocks }: CollectedReply): object {
  const thoughts = blocks.filter((block) => block.type === 'reasoning');
  const text = thoughts.map((block) => block.text).join('');
  const details = thoughts
    .filter(({ state }) => state !== undefined)
    .flatMap((block, index) => writeReasoningDetails(block as typeof block & { state: BlockState }, index));
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

export function chatReply(reply: CollectedReply, { echo }: Pick<AnsweredCall, 'echo'> = {}): object {
  const shape = findCallShape(echo);
  const message = renderMessage(reply, shape);
  return {
    id: `${CHAT_ID_PREFIX}${reply.id}`,
    object: 'chat.completion',
    created: unixSeconds(),
    model: reply.model,
    choices: [{ index: 0, message, finish_reason: nameReason(reply.reason, shape) }],
    usage: chatUsage(reply.usage),
    billing: billingBlock(reply.billing),
    ...(reply.smart && { smart_routing: reply.smart }),
  };
}
