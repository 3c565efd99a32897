// Renders parts as chat-style chunks and replies.

import { flattenString } from '../../../base/flat-string.ts';
import { type CollectedReply, replyText } from '../../../stream/collect.ts';
import type {
  BillingPart,
  FinishReason,
  ReplyBlock,
  ReplyImagePart,
  ReplyStartPart,
  ReplyToolBlock,
  StreamPart,
} from '../../../stream/part.ts';
import type { Transform } from '../../../stream/pipeline.ts';
import type { BlockState, Citation, ReasoningBlock, UsageCounts } from '../../../stream/provider-part.ts';
import { writeChatAnnotations } from '../../../upstream/formats/citations.ts';
import { billingBlock } from '../billing.ts';
import { CustomInput } from '../custom-input.ts';
import type { AnsweredCall } from '../dialect.ts';
import { escapeText } from '../escape.ts';
import { writeReasoningDetails } from '../reasoning-content.ts';
import { chatUsage } from '../usage.ts';
import { type CallShape, findCallShape } from './call-shape.ts';
import { chatFailure } from './fault.ts';
import { writeChatImageJson, writeChatImages } from './images.ts';

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

const TEXT_END = `"}${OPEN_END}`;
const AROUND_TEXT = ['{"content":"', TEXT_END] as const;
const AROUND_REASONING = ['{"reasoning_content":"', TEXT_END] as const;

const NOTHING: readonly string[] = [];
const NO_COUNTS: UsageCounts = {};

const unixSeconds = () => Math.floor(Date.now() / 1000);

/** The block that is being written. */
interface OpenBlock {
  readonly block: ReplyBlock;
  /** The text before and after a fragment. */
  readonly prefix: string;
  readonly suffix: string;
  /** The input of a call whose tool is custom. */
  readonly custom: CustomInput | undefined;
  characters: number;
  /** That of reasoning: it goes out once more if its upstream wants it back. */
  reasoning: string;
  state: BlockState | undefined;
  /** What a text is based on: told at its end, when it is known how long it is. */
  citations: Citation[] | undefined;
}

export function createChatRenderer({ echo }: Pick<AnsweredCall, 'echo'> = {}): Transform<StreamPart, string> {
  return new ChatRenderer(findCallShape(echo));
}

/** A class, because every open stream has one: closures would take three times the memory. */
class ChatRenderer implements Transform<StreamPart, string> {
  readonly #shape: CallShape;
  readonly #created = unixSeconds();
  #head = '';
  #open: OpenBlock | undefined;
  #calls = 0;
  #images = 0;
  #detailedBlocks = 0;
  /** Of the texts before the open block. */
  #characters = 0;
  #counts: UsageCounts = NO_COUNTS;
  #reason: FinishReason = 'other';
  #routing = '';

  constructor(shape: CallShape) {
    this.#shape = shape;
  }

  push(batch: readonly StreamPart[]): readonly string[] {
    let text = '';
    for (const part of batch) text += part.type === 'block-delta' ? this.#writeDelta(part.text) : this.#write(part);
    return text === '' ? NOTHING : [text];
  }

  #writeDelta(text: string): string {
    const open = this.#open as OpenBlock;
    open.characters += text.length;
    if (open.block.type === 'reasoning') open.reasoning += text;
    return open.custom ? writeInput(open, open.custom.push(text)) : open.prefix + escapeText(text) + open.suffix;
  }

  #write(part: Exclude<StreamPart, { readonly type: 'block-delta' }>): string {
    switch (part.type) {
      case 'usage':
        this.#counts = part;
        return '';
      case 'start':
        return this.#start(part);
      case 'finish':
        this.#reason = part.reason;
        return '';
      case 'billing':
        return this.#end(part);
      case 'error':
        return `data: ${JSON.stringify(chatFailure(part.fault))}\n\n${DONE}`;
      case 'block-start':
        return this.#begin(part.block);
      case 'block-state':
        if (this.#open) this.#open.state = part.state;
        return '';
      case 'block-citation':
        if (this.#open) this.#open.citations = [...(this.#open.citations ?? []), part.citation];
        return '';
      case 'block-end':
        return this.#endBlock();
      case 'image':
        return this.#writeImage(part);
      case 'hidden':
        return '';
    }
  }

  #start({ id: replyId, model, smart }: ReplyStartPart): string {
    const id = JSON.stringify(`${CHAT_ID_PREFIX}${replyId}`);
    this.#head = flattenString(
      `data: {"id":${id},"object":"chat.completion.chunk","created":${this.#created},"model":${JSON.stringify(model)},"choices":[{"index":0,"delta":`,
    );
    if (smart) this.#routing = `,"smart_routing":${JSON.stringify(smart)}`;
    return `${this.#head}{"role":"assistant","content":""}${OPEN_END}`;
  }

  #end(part: BillingPart): string {
    const reason = nameReason(this.#reason, this.#shape);
    const usage = JSON.stringify(chatUsage(this.#counts));
    const billing = JSON.stringify(billingBlock(part));
    return `${this.#head}{},"finish_reason":"${reason}"}],"usage":${usage},"billing":${billing}${this.#routing}}\n\n${DONE}`;
  }

  #writeImage(image: ReplyImagePart): string {
    const index = this.#images;
    this.#images += 1;
    return `${this.#head}{"images":[${writeChatImageJson(image, index)}]}${OPEN_END}`;
  }

  #begin(block: ReplyBlock): string {
    if (block.type === 'tool') return this.#beginCall(block);
    this.#openBlock(block, block.type === 'text' ? AROUND_TEXT : AROUND_REASONING);
    return '';
  }

  #beginCall(call: ReplyToolBlock): string {
    const index = this.#calls;
    this.#calls += 1;
    const custom = this.#shape.isCustom(call.name) ? new CustomInput() : undefined;
    const [before, after] = this.#shape.around(index, custom !== undefined);
    this.#openBlock(call, [before, after + OPEN_END], custom);
    return this.#writeChunk(this.#shape.begin(call, index));
  }

  #openBlock(block: ReplyBlock, [before, suffix]: readonly [string, string], custom?: CustomInput): void {
    const prefix = flattenString(this.#head + before);
    this.#open = {
      block,
      prefix,
      suffix,
      custom,
      characters: 0,
      reasoning: '',
      state: undefined,
      citations: undefined,
    };
  }

  #endBlock(): string {
    const open = this.#open;
    this.#open = undefined;
    switch (open?.block.type) {
      case 'text':
        return this.#endText(open);
      case 'reasoning':
        return this.#endReasoning(open.block, open);
      case 'tool':
        return open.custom ? writeInput(open, open.custom.end()) : '';
      default:
        return '';
    }
  }

  #endText({ characters, citations = [] }: OpenBlock): string {
    const start = this.#characters;
    this.#characters += characters;
    const annotations = writeChatAnnotations(citations, { start, end: this.#characters });
    return annotations.length > 0 ? this.#writeChunk({ annotations }) : '';
  }

  /** What the upstream wants back follows the text. */
  #endReasoning({ redacted }: ReasoningBlock, { reasoning: text, state }: OpenBlock): string {
    if (!state) return '';
    const details = writeReasoningDetails({ text, redacted, state }, this.#detailedBlocks);
    this.#detailedBlocks += 1;
    return this.#writeChunk({ reasoning_details: details });
  }

  #writeChunk(delta: object): string {
    return `${this.#head}${JSON.stringify(delta)}${OPEN_END}`;
  }
}

function writeInput({ prefix, suffix }: OpenBlock, text: string): string {
  return text === '' ? '' : prefix + escapeText(text) + suffix;
}

function nameReason(reason: FinishReason, { finishReason }: CallShape): string {
  return reason === 'tool' ? finishReason : FINISH_REASONS[reason];
}

function renderMessage(reply: CollectedReply, shape: CallShape): object {
  const calls = reply.blocks.filter((block) => block.type === 'tool');
  const text = replyText(reply);
  const more = { ...renderAnnotations(reply), ...writeChatImages(reply), ...renderReasoning(reply) };
  if (calls.length === 0) return { role: 'assistant', content: text, ...more };
  return { role: 'assistant', content: text === '' ? null : text, ...more, ...shape.writeAll(calls) };
}

function renderAnnotations({ blocks }: CollectedReply): object {
  let start = 0;
  const annotations = blocks.flatMap((block) => {
    if (block.type !== 'text') return [];
    const { text, citations = [] } = block;
    const place = { start, end: start + text.length };
    start = place.end;
    return writeChatAnnotations(citations, place);
  });
  return annotations.length > 0 ? { annotations } : {};
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
