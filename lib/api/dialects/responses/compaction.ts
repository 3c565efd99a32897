// Compaction: a summary that a model writes of the conversation, in whose place a client sends it back. A vendor encrypts
// it; here it is a text behind a mark, so that any model can go on with it.
import { isRecord } from '../../../base/record.ts';
import type { RequestMessage } from '../../../calls/text/request.ts';
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

export const COMPACTION_PROMPT: RequestMessage = { role: 'user', content: [{ type: 'text', text: PROMPT }] };

const SUMMARY_HEAD = 'A summary of the conversation so far, which was too long to go on with:\n\n';

export function asksForCompaction({ input }: Pick<ResponsesFields, 'input'>): boolean {
  return typeof input !== 'string' && input.some((item) => isRecord(item) && item.type === COMPACTION_TRIGGER);
}

export function sealSummary(text: string): string {
  return `${MARK}${Buffer.from(text).toString('base64url')}`;
}

/** As a message of the user; undefined for one of a vendor. */
export function openSummary(encrypted: unknown): string | undefined {
  if (typeof encrypted !== 'string' || !encrypted.startsWith(MARK)) return undefined;
  return SUMMARY_HEAD + Buffer.from(encrypted.slice(MARK.length), 'base64url').toString();
}

/** In characters of JSON: what is kept waits for the summary, and crosses a thread in one piece. */
const KEPT_MAX = 256 * 1024;

/** What stays of the conversation beside the summary: the latest messages of the user, as they were sent. */
export function listKept(input: ResponsesFields['input']): readonly object[] {
  const said = typeof input === 'string' ? [{ role: 'user', content: input }] : input.filter(isOfUser);
  let left = KEPT_MAX;
  const isKept = (item: object) => {
    left -= JSON.stringify(item).length;
    return left >= 0;
  };
  return said.toReversed().filter(isKept).reverse().map(toMessage);
}

function isOfUser(item: unknown): item is Item {
  return isRecord(item) && (item.type ?? 'message') === 'message' && item.role === 'user';
}

/** With the members that strict clients read. */
function toMessage({ content, ...item }: Item): object {
  return {
    type: 'message',
    ...item,
    content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : content,
  };
}
