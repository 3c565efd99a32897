// The tool calls that a prompt asks the sandbox for: `[[tool:name]]`, how often, and with which arguments.
import { randomBytes } from 'node:crypto';
import type { Content, TextCall, TextMessage, ToolCallContent } from '../../lib/upstream/contract/provider.ts';

interface Wish {
  readonly name: string;
  /** How many consecutive answers make the call. */
  readonly times: number;
  readonly json: string;
}

const BEGINNING = /\[\[tool:([\w-]+)(?:\*(\d+))?\s*/g;
const TIMES_MAX = 1000;
/** A prompt may be crafted to be slow to scan. */
const WISHES_MAX = 20;
const TRIES_MAX = 8;
const JSON_CHARACTERS_MAX = 128 * 1024;

/** The prompt without them. */
export function removeWishes(prompt: string): string {
  let rest = '';
  let from = 0;
  for (const { start, end } of findWishes(prompt)) {
    rest += `${prompt.slice(from, start)} `;
    from = end;
  }
  return rest + prompt.slice(from);
}

function findWishes(prompt: string): readonly (Wish & { readonly start: number; readonly end: number })[] {
  const found = [];
  for (const match of prompt.matchAll(BEGINNING)) {
    const [beginning, name = '', times = '1'] = match;
    const from = match.index + beginning.length;
    const to = findWishEnd(prompt, from);
    if (to < 0 || found.length === WISHES_MAX) break;
    const json = prompt.slice(from, to);
    found.push({ name, times: Math.min(Number(times), TIMES_MAX), json, start: match.index, end: to + 2 });
  }
  return found;
}

/** Where the arguments end: at the first `]]` that makes them JSON, or else at the first; -1 if there is none. */
function findWishEnd(prompt: string, from: number): number {
  const first = prompt.indexOf(']]', from);
  if (prompt[from] !== '{') return first;
  for (let [at, tries] = [first, 0]; at >= 0 && tries < TRIES_MAX; tries += 1) {
    if (at - from > JSON_CHARACTERS_MAX) break;
    if (isJson(prompt.slice(from, at))) return at;
    at = prompt.indexOf(']]', at + 1);
  }
  return first;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

/** Where the last message is in which the user says something; -1 if there is none. */
export function findPromptIndex(messages: readonly TextMessage[]): number {
  return messages.findLastIndex(({ role, content }) => role === 'user' && content.some(({ type }) => type === 'text'));
}

/** The calls of the next answer, possibly none. */
export function planCalls({ tools, messages }: TextCall, prompt: string): readonly ToolCallContent[] {
  if (!tools || tools.choice === 'none') return [];
  const { list, choice, single } = tools;
  const known = (name: string) =>
    typeof choice === 'object' ? choice.name === name : list.some((tool) => tool.name === name);
  const wishes = findWishes(prompt).filter(({ name }) => known(name));
  const answered = messages.slice(findPromptIndex(messages) + 1).filter(({ content }) => content.some(isCall)).length;
  const planned = single ? takeInTurn(wishes, answered) : wishes.filter(({ times }) => times > answered);
  if (planned.length > 0) return planned.map(createToolCall);
  if (choice === 'any') return [createToolCall({ name: list[0]?.name ?? '', json: '' })];
  return typeof choice === 'object' ? [createToolCall({ name: choice.name, json: '' })] : [];
}

/** One call per answer. */
function takeInTurn(wishes: readonly Wish[], answered: number): readonly Wish[] {
  return wishes.flatMap((wish) => Array.from({ length: wish.times }, () => wish)).slice(answered, answered + 1);
}

function isCall({ type }: Content): boolean {
  return type === 'tool-call';
}

const ID_BYTES = 12;

function createToolCall({ name, json }: Pick<Wish, 'name' | 'json'>): ToolCallContent {
  return { type: 'tool-call', id: `call_${randomBytes(ID_BYTES).toString('hex')}`, name, json };
}

/** What the tools said last. */
export function findResults(
  messages: readonly TextMessage[],
): readonly { readonly name: string; readonly text: string }[] {
  const content = messages.slice(findPromptIndex(messages) + 1).at(-1)?.content ?? [];
  const results = content.filter((part) => part.type === 'tool-result');
  return results.map(({ name, content: said }) => ({
    name,
    text: said.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' '),
  }));
}
