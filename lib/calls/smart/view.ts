// The parts of a request that the router reads: bounded pieces of the last prompt, of earlier ones and of the system prompt.

/** The part of a text request that routing needs; content other than text is ignored. */
export interface SmartRequest {
  readonly system?: string | undefined;
  readonly messages: readonly SmartMessage[];
  /** Whether a field of the request demands JSON. */
  readonly json?: boolean;
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
  /** Characters of the system prompt and all messages. */
  readonly volume: number;
}

const PROMPT_HEAD = 1000;
const PROMPT_TAIL = 500;
const EARLIER_READ = 600;
const EARLIER_TURNS = 3;
/** Shorter messages, such as `ok` or `дальше`, say nothing about the task. */
const EARLIER_MIN = 8;
const SYSTEM_READ = 1200;
const MESSAGES_READ = 400;
const BLOCKS_READ = 100;
/** Longer texts are ignored: no model reads them, and reading one that came in pieces would copy all of it. */
const CHARACTERS_READ = 8 * 1024 * 1024;

export function viewRequest({ system = '', messages }: SmartRequest): RequestExcerpt {
  const read = messages.slice(-MESSAGES_READ).map(({ role, content }) => ({ role, texts: listTexts(content) }));
  const [last = [], ...before] = read
    .filter(({ role }) => role === 'user')
    .map(({ texts }) => texts)
    .reverse();
  return {
    prompt: cutMiddle(last, PROMPT_HEAD, PROMPT_TAIL),
    length: countCharacters(last),
    earlier: before
      .filter((texts) => countCharacters(texts) >= EARLIER_MIN)
      .slice(0, EARLIER_TURNS)
      .map((texts) => cutMiddle(texts, EARLIER_READ)),
    system: isReadable(system) ? system.slice(0, SYSTEM_READ) : '',
    turns: before.length + 1,
    volume: read.reduce((sum, { texts }) => sum + countCharacters(texts), system.length),
  };
}

const isReadable = ({ length }: string) => length <= CHARACTERS_READ;

function countCharacters(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** The first and the last texts of a message. */
function listTexts(content: SmartMessage['content']): string[] {
  const blocks =
    content.length <= 2 * BLOCKS_READ ? content : [...content.slice(0, BLOCKS_READ), ...content.slice(-BLOCKS_READ)];
  return blocks.map(({ text = '' }) => text).filter((text) => text !== '');
}

/** The start and the end of joined texts. */
function cutMiddle(texts: readonly string[], head: number, tail = 0): string {
  const cut = (text: string) => {
    if (text.length <= head + tail) return text;
    return tail === 0 ? text.slice(0, head) : `${text.slice(0, head)}\n\n\n${text.slice(-tail)}`;
  };
  return cut(texts.filter(isReadable).map(cut).join('\n'));
}
