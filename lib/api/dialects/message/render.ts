// Renders parts as message-style events and replies.

import { flattenString } from '../../../base/flat-string.ts';
import { readArguments } from '../../../stream/arguments.ts';
import type { CollectedBlock, CollectedImage, CollectedReply, CollectedText } from '../../../stream/collect.ts';
import type {
  FinishPart,
  FinishReason,
  ReplyBlock,
  ReplyBlockStartPart,
  ReplyImagePart,
  ReplyStartPart,
  ReplyToolBlock,
  StreamPart,
} from '../../../stream/part.ts';
import type { Transform } from '../../../stream/pipeline.ts';
import type { BlockStatePart, UsageCounts } from '../../../stream/provider-part.ts';
import { writeMessageCitation } from '../../../upstream/formats/citations.ts';
import { messageCall } from '../../../upstream/formats/tools.ts';
import { billingBlock } from '../billing.ts';
import { escapeText } from '../escape.ts';
import { writeSignature } from '../reasoning-content.ts';
import { toWireId } from '../tool-id.ts';
import { messageUsage } from '../usage.ts';
import { messageFault } from './fault.ts';

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  filter: 'refusal',
  tool: 'tool_use',
  other: 'end_turn',
};

const MESSAGE_ID_PREFIX = 'msg_';

const NOTHING: readonly string[] = [];
const NO_COUNTS: UsageCounts = {};

/** The type of a fragment, and the name of its text. */
const DELTAS: Readonly<Record<ReplyBlock['type'], string>> = {
  text: '"text_delta","text"',
  reasoning: '"thinking_delta","thinking"',
  tool: '"input_json_delta","partial_json"',
};

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A fragment up to its text, which is all that needs escaping. */
function renderDeltaHead({ index, block }: ReplyBlockStartPart): string {
  const delta = DELTAS[block.type];
  return flattenString(
    `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":${delta}:"`,
  );
}

export function createMessageRenderer(): Transform<StreamPart, string> {
  return new MessageRenderer();
}

/** A class, because every open stream has one: closures would take three times the memory. */
class MessageRenderer implements Transform<StreamPart, string> {
  #usage = NO_COUNTS;
  /** Clients keep these until there are others. */
  #usageInHead = NO_COUNTS;
  /** What precedes the text of a fragment of the open block. */
  #deltaHead = '';
  /** The open block is redacted, and its state has not come yet. */
  #isRedacted = false;

  push(batch: readonly StreamPart[]): readonly string[] {
    let text = '';
    for (const part of batch) text += this.#write(part);
    return text === '' ? NOTHING : [text];
  }

  #write(part: StreamPart): string {
    switch (part.type) {
      case 'block-delta':
        return `${this.#deltaHead}${escapeText(part.text)}"}}\n\n`;
      case 'usage':
        this.#usage = part;
        return '';
      case 'start':
        this.#usageInHead = this.#usage;
        return event('message_start', { type: 'message_start', message: renderMessageStart(part, this.#usage) });
      case 'block-start':
        return this.#begin(part);
      case 'block-state':
        return this.#writeState(part);
      case 'block-citation': {
        const citation = writeMessageCitation(part.citation);
        return citation ? continueBlock(part.index, { type: 'citations_delta', citation }) : '';
      }
      case 'block-end':
        // Without a state there was nothing to start.
        return this.#isRedacted ? '' : stopBlock(part.index);
      case 'image':
        return startImage(part) + stopBlock(part.index);
      case 'finish':
        return this.#finish(part);
      case 'billing':
        // Clients skip a ping: some know no other type, and would fail the whole answer.
        return event('billing', { type: 'ping', ...billingBlock(part) });
      case 'hidden':
        return '';
      case 'error':
        return event('error', messageFault(part.fault));
    }
  }

  #begin(part: ReplyBlockStartPart): string {
    const { index, block } = part;
    this.#deltaHead = renderDeltaHead(part);
    this.#isRedacted = block.type === 'reasoning' && block.redacted === true;
    return this.#isRedacted ? '' : startBlock(index, emptyContent(block));
  }

  #writeState({ index, state }: BlockStatePart): string {
    const signature = writeSignature(state);
    if (!this.#isRedacted) return continueBlock(index, { type: 'signature_delta', signature });
    // All that a redacted block has is in its start.
    this.#isRedacted = false;
    return startBlock(index, { type: 'redacted_thinking', data: signature });
  }

  #finish(part: FinishPart): string {
    const usage = messageUsage(this.#usage, this.#usageInHead);
    const delta = renderStopReason(part);
    return (
      event('message_delta', { type: 'message_delta', delta, usage }) + event('message_stop', { type: 'message_stop' })
    );
  }
}

function startBlock(index: number, content: object): string {
  return event('content_block_start', { type: 'content_block_start', index, content_block: content });
}

/** Without a look at each character of the base64, which would take most of the time of a large image. */
function startImage({ index, mediaType, base64 }: ReplyImagePart): string {
  const [before, after] = startBlock(index, renderImage({ mediaType, base64: '|' })).split('|');
  return `${before}${base64}${after}`;
}

function continueBlock(index: number, delta: object): string {
  return event('content_block_delta', { type: 'content_block_delta', index, delta });
}

function stopBlock(index: number): string {
  return event('content_block_stop', { type: 'content_block_stop', index });
}

function emptyContent(block: ReplyBlock): object {
  if (block.type === 'tool') return toolUse(block, {});
  if (block.type === 'text') return { type: 'text', text: '', ...(block.cited && { citations: [] }) };
  return { type: 'thinking', thinking: '', signature: '' };
}

function toolUse(call: ReplyToolBlock, input: object): object {
  return messageCall({ id: toWireId(call), name: call.name }, input);
}

function renderContent(block: CollectedBlock): object {
  if (block.type === 'image') return renderImage(block);
  const { text } = block;
  if (block.type === 'tool') return toolUse(block, readArguments(text));
  if (block.type === 'text') return { type: 'text', text, ...renderCitations(block) };
  const signature = block.state ? writeSignature(block.state) : '';
  return block.redacted
    ? { type: 'redacted_thinking', data: signature }
    : { type: 'thinking', thinking: text, signature };
}

/** No delta exists for it: in a stream its start has all of it. */
function renderImage({ mediaType, base64 }: Pick<CollectedImage, 'mediaType' | 'base64'>): object {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } };
}

function renderCitations({ citations = [] }: CollectedText): object {
  const written = citations.map(writeMessageCitation).filter((citation) => citation !== undefined);
  return written.length > 0 ? { citations: written } : {};
}

function renderMessageStart({ id, model, smart }: ReplyStartPart, usage: UsageCounts): object {
  return {
    id: `${MESSAGE_ID_PREFIX}${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    usage: messageUsage({ ...usage, output: 0 }),
    ...(smart && { smart_routing: smart }),
  };
}

function renderStopReason({ reason, sequence }: Pick<FinishPart, 'reason' | 'sequence'>): object {
  if (sequence === undefined) return { stop_reason: STOP_REASONS[reason], stop_sequence: null };
  return { stop_reason: 'stop_sequence', stop_sequence: sequence };
}

/** Spec-fixed shape: no billing block unless the call had images. */
export function messageReply(reply: CollectedReply, { vision }: { readonly vision: boolean }): object {
  return {
    id: `${MESSAGE_ID_PREFIX}${reply.id}`,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: reply.blocks.map(renderContent),
    ...renderStopReason(reply),
    usage: messageUsage(reply.usage),
    ...(reply.smart && { smart_routing: reply.smart }),
    ...(vision && { billing: billingBlock(reply.billing) }),
  };
}
