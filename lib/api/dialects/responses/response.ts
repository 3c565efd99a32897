// The response object and its items.
import type { SmartRouting } from '../../../base/smart-tiers.ts';
import { readArguments } from '../../../stream/arguments.ts';
import type { BillingPart, FinishReason, ReplyBlock, ReplyToolBlock } from '../../../stream/part.ts';
import type { BlockState, UsageCounts } from '../../../stream/provider-part.ts';
import { billingBlock } from '../billing.ts';
import { writeEncryptedContent } from '../reasoning-content.ts';
import { toWireId } from '../tool-id.ts';
import { responsesUsage } from '../usage.ts';
import type { ToolName, ToolNames } from './tools.ts';

const RESPONSE_ID_PREFIX = 'resp_';

export const unixSeconds = () => Math.floor(Date.now() / 1000);

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface OutputItem {
  /** Of the reply, without a prefix. */
  readonly replyId: string;
  /** Its place in the output. */
  readonly index: number;
  readonly block: ReplyBlock;
  readonly names: ToolNames;
}

/** The name of a call's tool in the request. */
export function findToolName({ name }: ReplyToolBlock, names: ToolNames): ToolName {
  return names.get(name) ?? { name };
}

export function writeItemId(item: OutputItem): string {
  return `${itemPrefix(item)}${item.replyId}_${item.index}`;
}

function itemPrefix({ block, names }: OutputItem): string {
  if (block.type === 'text') return 'msg_';
  if (block.type === 'reasoning') return 'rs_';
  const { isCustom, isSearch } = findToolName(block, names);
  return isSearch ? 'tsc_' : isCustom ? 'ctc_' : 'fc_';
}

interface ItemContent {
  readonly status: ItemStatus;
  /** Of a call, its arguments, or the input of a custom tool. */
  readonly text: string;
  readonly state?: BlockState | undefined;
  readonly annotations?: readonly object[] | undefined;
}

export function writeItem(item: OutputItem, { status, text, state, annotations }: ItemContent): object {
  const { block, names } = item;
  const id = writeItemId(item);
  const isBegun = status === 'in_progress';
  if (block.type === 'text') {
    const content = isBegun ? [] : [writePart(block, text, annotations)];
    const { phase } = block;
    return { id, type: 'message', status, role: 'assistant', content, ...(phase !== undefined && { phase }) };
  }
  if (block.type === 'reasoning') {
    const summary = text === '' ? [] : [writeSummary(text)];
    const { redacted } = block;
    return {
      id,
      type: 'reasoning',
      summary,
      ...(!isBegun && { encrypted_content: writeEncryptedContent({ redacted, state }) }),
    };
  }
  const { name, namespace, isCustom, isSearch } = findToolName(block, names);
  if (isSearch) {
    const call_id = toWireId(block);
    return { id, type: 'tool_search_call', status, execution: 'client', call_id, arguments: readArguments(text) };
  }
  const called = { call_id: toWireId(block), name, ...(namespace !== undefined && { namespace }) };
  if (isCustom) return { id, type: 'custom_tool_call', status, ...called, input: text };
  return { id, type: 'function_call', status, ...called, arguments: text };
}

/** The only part of a message. */
export function writePart(block: ReplyBlock, text: string, annotations: readonly object[] = []): object {
  return isRefusedText(block)
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', annotations, logprobs: [], text };
}

export function writeSummary(text: string): object {
  return { type: 'summary_text', text };
}

export function isRefusedText(block: ReplyBlock): boolean {
  return block.type === 'text' && block.refusal === true;
}

interface Ended {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: { readonly reason: string } | null;
}

const COMPLETED: Ended = { status: 'completed', incomplete_details: null };

/** A model that refuses has answered. */
export function describeEnd(reason: FinishReason, { hasRefused }: { readonly hasRefused: boolean }): Ended {
  if (reason === 'length') return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (reason !== 'filter' || hasRefused) return COMPLETED;
  return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
}

export interface ResponseFacts {
  readonly id: string;
  readonly createdAt: number;
  readonly model: string;
  readonly status: 'in_progress' | 'failed' | Ended['status'];
  readonly incomplete_details?: Ended['incomplete_details'];
  readonly output: readonly object[];
  readonly error?: object;
  readonly usage?: UsageCounts;
  readonly billing?: BillingPart | undefined;
  readonly smart?: SmartRouting | undefined;
}

/** What this field has at the format's vendor: strict clients read no response whose `billing` lacks it. */
const VENDORS_BILLING = { payer: 'developer' };

/** Without what it repeats of the request. */
export function describeResponse(facts: ResponseFacts): object {
  const { status } = facts;
  const { id, created_at, ...rest } = describeCommon(facts);
  return {
    id,
    object: 'response',
    created_at,
    completed_at: status === 'completed' ? unixSeconds() : null,
    status,
    error: facts.error ?? null,
    incomplete_details: facts.incomplete_details ?? null,
    ...rest,
  };
}

/** What takes the place of a conversation. */
export function describeCompacted(facts: ResponseFacts): object {
  return { ...describeCommon(facts), object: 'response.compaction' };
}

function describeCommon({ id, createdAt, model, output, usage, billing, smart }: ResponseFacts) {
  return {
    id: `${RESPONSE_ID_PREFIX}${id}`,
    created_at: createdAt,
    model,
    output,
    usage: usage ? responsesUsage(usage) : null,
    ...(billing && { billing: { ...VENDORS_BILLING, ...billingBlock(billing) } }),
    ...(smart && { smart_routing: smart }),
  };
}
