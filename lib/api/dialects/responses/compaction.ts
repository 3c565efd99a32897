// Compaction: a summary that a model writes of the conversation, in whose place a client sends it back. A vendor encrypts
// it; here it is a text behind a mark, so that any model can go on with it.
import { fault } from '../../../base/faults.ts';
import { isRecord } from '../../../base/record.ts';
import type { RequestMessage } from '../../../calls/text/request.ts';
import type { CollectedReply } from '../../../stream/collect.ts';
import { invalidField } from '../fields.ts';
import type { ResponsesFields } from './schema.ts';

type Item = Readonly<Record<string, unknown>>;

/** An item at the end of a conversation, which asks for a compaction instead of an answer. */
export const COMPACTION_TRIGGER = 'compaction_trigger';

const MARK = 'summary:';

const PROMPT = `This conversation is too long to go on with as it is. What you write now takes its place, \
for a model that sees nothing else of it but messages of the user. Summarise it:
- what the user wants, with every constraint and preference that still counts;
- what was done and decided so far, and why; what failed and need not be tried again;
- the present state, with exact names, paths, commands, ids, numbers and error messages;
- what is left to do, beginning with the next step.
Do not go on with the task and call no tools. Write the summary alone.`;

export const COMPACTION_PROMPT: RequestMessage = {
  role: 'user',
  content: [{ type: 'text', text: PROMPT }],
  isFromGateway: true,
};

const SUMMARY_HEAD = 'A summary of the conversation so far, which was too long to go on with:\n\n';

export function asksForCompaction({ input }: Pick<ResponsesFields, 'input'>): boolean {
  return typeof input !== 'string' && input.some((item) => isRecord(item) && item.type === COMPACTION_TRIGGER);
}

export interface CompactionItem {
  readonly id: string;
  readonly type: 'compaction';
  readonly encrypted_content: string;
}

/**
 * The item, which is the only one: the texts of the answer, whatever stands between them. Throws a fault for an answer
 * that cannot take the place of a conversation.
 */
export function writeCompaction({ id, blocks }: Pick<CollectedReply, 'id' | 'blocks'>): CompactionItem {
  const said = blocks.filter((block) => block.type === 'text');
  if (said.some(({ refusal }) => refusal)) throw fault('upstream_content');
  const summary = said.map(({ text }) => text.trim()).filter((text) => text !== '');
  if (summary.length === 0) throw fault('no_summary');
  return { id: `cmp_${id}`, type: 'compaction', encrypted_content: sealSummary(summary.join('\n\n')) };
}

/** As the item begins in a stream. */
export function beginCompaction(item: CompactionItem): CompactionItem {
  return { ...item, encrypted_content: '' };
}

function sealSummary(text: string): string {
  return `${MARK}${Buffer.from(text).toString('base64url')}`;
}

/** As a message of the user; undefined for one of a vendor. Throws a 400 fault for one that is damaged. */
export function openSummary({ encrypted_content: encrypted }: Item, field: string): string | undefined {
  if (typeof encrypted !== 'string' || !encrypted.startsWith(MARK)) return undefined;
  const summary = Buffer.from(encrypted.slice(MARK.length), 'base64url').toString();
  if (summary === '' || sealSummary(summary) !== encrypted) {
    throw invalidField(`${field}.encrypted_content`, 'must be as it was given out');
  }
  return SUMMARY_HEAD + summary;
}

/** In characters of JSON: what is kept waits for the summary, and crosses a thread in one piece. */
const KEPT_MAX = 256 * 1024;

/** What stays of the conversation beside the summary: the latest messages of the user, as they were sent. */
export function listKept(input: ResponsesFields['input']): readonly Item[] {
  const said = typeof input === 'string' ? [{ role: 'user', content: input }] : input.filter(isOfUser);
  let left = KEPT_MAX;
  const isTooMuch = (item: object) => {
    left -= JSON.stringify(item).length;
    return left < 0;
  };
  return said.slice(said.findLastIndex(isTooMuch) + 1).map(toMessage);
}

function isOfUser(item: unknown): item is Item {
  return isRecord(item) && (item.type ?? 'message') === 'message' && item.role === 'user';
}

function toMessage({ content, ...item }: Item): Item {
  return { ...item, content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : content };
}

/** With the members that strict clients read; ids stay those that clients sent. */
export function completeItems(kept: readonly Item[], replyId: string): readonly object[] {
  return kept.map(({ id, status, ...item }, at) => {
    return {
      id: typeof id === 'string' ? id : `msg_${replyId}_${at}`,
      type: 'message',
      status: typeof status === 'string' ? status : 'completed',
      ...item,
    };
  });
}
