// Folds the parts of an answer into one reply, for calls that do not stream.

import type { SmartRouting } from '../base/smart-tiers.ts';
import type { BillingPart, FinishReason, ReplyBlock, ReplyImagePart, StreamPart } from './part.ts';
import type { BlockState, Citation, UsageCounts } from './provider-part.ts';

/** A block with its text; for a call, the JSON of its arguments. */
export type CollectedText = ReplyBlock & {
  readonly text: string;
  readonly state?: BlockState;
  /** Of a text; at least one. */
  readonly citations?: readonly Citation[];
};

export interface CollectedImage extends Pick<ReplyImagePart, 'type' | 'mediaType' | 'base64'> {
  /** It has none. */
  readonly text: '';
}

export type CollectedBlock = CollectedText | CollectedImage;

export interface CollectedReply {
  /** Without the dialect's prefix. */
  readonly id: string;
  /** The model that answered. */
  readonly model: string;
  /** In order; at least one. */
  readonly blocks: readonly CollectedBlock[];
  readonly usage: UsageCounts;
  readonly reason: FinishReason;
  /** The stop string; absent if the answer ended otherwise. */
  readonly sequence?: string;
  readonly billing: BillingPart;
  /** Present if the smart model was asked for. */
  readonly smart?: SmartRouting;
}

/** The text of a reply without its calls. */
export function replyText({ blocks }: CollectedReply): string {
  return blocks.map(({ type, text }) => (type === 'text' ? text : '')).join('');
}

/** Takes the parts that a dialect would render. */
export interface Collector {
  write(parts: readonly StreamPart[]): void;
  /** The reply; only after `billing` has passed. */
  reply(): CollectedReply;
}

interface Collecting {
  readonly block: ReplyBlock | Omit<CollectedImage, 'text'>;
  text: string;
  state?: BlockState;
  citations?: Citation[];
}

export function createCollector(): Collector {
  const blocks: Collecting[] = [];
  let id = '';
  let model = '';
  let usage: UsageCounts = {};
  let reason: FinishReason = 'other';
  let sequence: string | undefined;
  let billing: BillingPart | undefined;
  let smart: SmartRouting | undefined;

  function take(part: StreamPart): void {
    switch (part.type) {
      case 'start':
        id = part.id ?? '';
        model = part.model ?? '';
        smart = part.smart;
        break;
      case 'block-start':
        blocks.push({ block: part.block, text: '' });
        break;
      case 'block-delta':
        // The last block is the open one.
        (blocks.at(-1) as Collecting).text += part.text;
        break;
      case 'block-state':
        (blocks.at(-1) as Collecting).state = part.state;
        break;
      case 'block-citation': {
        const open = blocks.at(-1) as Collecting;
        open.citations = [...(open.citations ?? []), part.citation];
        break;
      }
      case 'image': {
        const { index: _, ...image } = part;
        blocks.push({ block: image, text: '' });
        break;
      }
      case 'usage': {
        const { type: _, ...counts } = part;
        usage = counts;
        break;
      }
      case 'finish':
        reason = part.reason;
        sequence = part.sequence;
        break;
      case 'billing':
        billing = part;
        break;
      case 'block-end':
      case 'hidden':
        break;
      case 'error':
        throw part.fault;
    }
  }

  return {
    write(parts) {
      for (const part of parts) take(part);
    },
    reply() {
      if (!billing) throw new Error('the answer is not complete');
      const whole = blocks.map(({ block, ...content }) => ({ ...block, ...content }) as CollectedBlock);
      const stopped = sequence !== undefined && { sequence };
      return { id, model, blocks: whole, usage, reason, ...stopped, billing, ...(smart && { smart }) };
    },
  };
}
