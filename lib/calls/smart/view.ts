// The parts of a request that the router reads: bounded pieces of the last prompt, of earlier ones and of the system prompt.

/** The part of a text request that routing needs; content other than text is ignored. */
export interface SmartRequest {
  readonly system?: string | undefined;
  readonly messages: readonly SmartMessage[];
}

interface SmartMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: readonly SmartContent[];
}

interface SmartContent {
  readonly type: string;
  readonly text?: string;
}

interface RequestExcerpt {
  /** The last user message, without its middle if it is long. */
  readonly prompt: string;
  /** Characters of the whole last user message. */
  readonly length: number;
  /** The starts of earlier user messages, nearest first. */
  readonly earlier: readonly string[];
  readonly system: string;
  /** User messages, including the last. */
  readonly turns: number;
}

const PROMPT_HEAD = 1500;
const PROMPT_TAIL = 800;
const EARLIER_READ = 600;
const EARLIER_TURNS = 3;
const SYSTEM_READ = 1200;
const MESSAGES_READ = 400;
const BLOCKS_READ = 100;
/** Longer texts are ignored: no model reads them, and reading one that came in pieces would copy all of it. */
const CHARACTERS_READ = 8 * 1024 * 1024;

export function viewRequest({ system = '', messages }: SmartRequest): RequestExcerpt {
  const users = messages.slice(-MESSAGES_READ).filter(({ role }) => role === 'user');
  const last = users.at(-1);
  const texts = last === undefined ? [] : listTexts(last);
  return {
    prompt: cutMiddle(texts.filter(isReadable), PROMPT_HEAD, PROMPT_TAIL),
    length: texts.reduce((sum, text) => sum + text.length, 0),
    earlier: users
      .slice(-1 - EARLIER_TURNS, -1)
      .reverse()
      .map((message) => cutMiddle(listTexts(message).filter(isReadable), EARLIER_READ, 0)),
    system: isReadable(system) ? system.slice(0, SYSTEM_READ) : '',
    turns: users.length,
  };
}

const isReadable = ({ length }: string) => length <= CHARACTERS_READ;

/** The first and the last texts of a message. */
function listTexts({ content }: SmartMessage): string[] {
  const blocks =
    content.length <= 2 * BLOCKS_READ ? content : [...content.slice(0, BLOCKS_READ), ...content.slice(-BLOCKS_READ)];
  return blocks.map(({ text = '' }) => text).filter((text) => text !== '');
}

function cutMiddle(texts: readonly string[], head: number, tail: number): string {
  const total = texts.reduce((sum, text) => sum + text.length + 1, -1);
  if (total <= head + tail) return texts.join('\n');
  let beginning = '';
  for (const text of texts) {
    if (beginning.length >= head) break;
    beginning += `${text.slice(0, head - beginning.length)}\n`;
  }
  let ending = '';
  for (let index = texts.length - 1; index >= 0 && ending.length < tail; index--) {
    ending = `\n${texts[index]!.slice(-(tail - ending.length))}${ending}`;
  }
  return tail === 0 ? beginning : `${beginning}\n${ending}`;
}
