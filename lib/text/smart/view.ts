// What the router reads of a request: bounded pieces of the last prompt, of earlier turns and of the system prompt.

/** The part of a text request that routing needs; the gateway's own request has this shape. */
export interface SmartRequest {
  readonly system?: string | undefined;
  readonly messages: readonly SmartMessage[];
}

export interface SmartMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
}

export interface View {
  /** The last user message, without its middle if it is long. */
  readonly prompt: string;
  /** Characters of the whole last user message. */
  readonly promptLength: number;
  /** Earlier user messages, nearest first. */
  readonly earlier: readonly string[];
  readonly system: string;
  /** User messages, the last one included. */
  readonly turns: number;
  /** Characters of everything, as far as it was counted. */
  readonly length: number;
}

/** Read of the last user message: its beginning and its end. */
export const PROMPT_HEAD = 6000;
export const PROMPT_TAIL = 2000;
const EARLIER_READ = 1200;
const EARLIER_TURNS = 3;
const SYSTEM_READ = 2000;
const MESSAGES_COUNTED = 1000;
const BLOCKS_READ = 200;

export function viewRequest(request: SmartRequest): View {
  const { messages } = request;
  let last = messages.length - 1;
  const stop = Math.max(0, messages.length - MESSAGES_COUNTED);
  while (last >= stop && messages[last]!.role !== 'user') last--;
  const earlier: string[] = [];
  let turns = last >= stop ? 1 : 0;
  let length = request.system?.length ?? 0;
  for (let index = messages.length - 1; index >= stop; index--) {
    const message = messages[index]!;
    length += lengthOf(message);
    if (message.role !== 'user' || index >= last) continue;
    turns++;
    if (earlier.length < EARLIER_TURNS) earlier.push(readMessage(message, EARLIER_READ, 0));
  }
  const prompt = last >= stop ? messages[last]! : undefined;
  return {
    prompt: prompt === undefined ? '' : readMessage(prompt, PROMPT_HEAD, PROMPT_TAIL),
    promptLength: prompt === undefined ? 0 : lengthOf(prompt),
    earlier,
    system: (request.system ?? '').slice(0, SYSTEM_READ),
    turns,
    length,
  };
}

function lengthOf(message: SmartMessage): number {
  const blocks = Math.min(message.content.length, BLOCKS_READ);
  let length = 0;
  for (let index = 0; index < blocks; index++) length += message.content[index]!.text.length;
  return length;
}

/** The first `head` and the last `tail` characters of a message, whatever lies between. */
function readMessage(message: SmartMessage, head: number, tail: number): string {
  const { content } = message;
  if (content.length === 1 && content[0]!.text.length <= head + tail) return content[0]!.text;
  let beginning = '';
  let block = 0;
  let offset = 0;
  while (block < Math.min(content.length, BLOCKS_READ) && beginning.length < head) {
    const { text } = content[block]!;
    offset = Math.min(text.length, head - beginning.length);
    beginning += `${text.slice(0, offset)}\n`;
    if (offset < text.length) break;
    block++;
  }
  let ending = '';
  for (let index = content.length - 1; index >= Math.max(block, content.length - BLOCKS_READ); index--) {
    const { text } = content[index]!;
    const from = Math.max(index === block ? offset : 0, text.length - (tail - ending.length));
    if (tail - ending.length <= 0) break;
    ending = `${text.slice(from)}\n${ending}`;
  }
  return `${beginning}${ending}`;
}
