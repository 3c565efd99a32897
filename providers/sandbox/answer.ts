// The sandbox's words: what it answers to a prompt, the same every time, and how it counts.
import type { Content, Size, TextCall, TextMessage } from '../../lib/upstream/contract/provider.ts';
import { findPromptIndex, findResults, removeWishes } from './calls.ts';
import type { Colour } from './colours.ts';
import { removeMarkers } from './markers.ts';
import phrases from './phrases.json' with { type: 'json' };

/** The words of the system prompt, of all messages, and of the tool definitions. */
export function countWords({ system = [], messages, tools }: TextCall): number {
  const definitions = tools?.list.map(
    ({ name, description, schema }) => `${name} ${description} ${JSON.stringify(schema)}`,
  );
  const texts = [...system, ...messages.flatMap(({ content }) => content)].flatMap(wordsIn);
  return [...texts, ...(definitions ?? [])].reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
}

function wordsIn(part: Content): readonly string[] {
  if (part.type === 'tool-result') return part.content.flatMap(wordsIn);
  if (part.type === 'tool-call') return [part.name, part.json];
  return part.type === 'text' ? [part.text] : [];
}

/** The answer as words, each with the white space after it; exactly `count` of them if given. */
export function composeAnswer(call: TextCall, count: number | undefined, sights: readonly Seen[]): readonly string[] {
  const prompt = findLastPrompt(call.messages);
  const words = splitWords(call.model === 'vision' ? describe(prompt, sights) : compose(prompt, call));
  if (count === undefined) return words;
  return Array.from({ length: count }, (_, at) => words[at % words.length] as string);
}

/** The first `max` words, without trailing white space. */
export function cutWords(words: readonly string[], max: number): readonly string[] {
  const kept = words.slice(0, max);
  const last = kept.pop();
  return last === undefined ? kept : [...kept, last.trimEnd()];
}

function splitWords(text: string): string[] {
  return (text.match(/\S+\s*/g) ?? []).map((word) => (/\s$/.test(word) ? word : `${word} `));
}

/** The text of the last message in which the user says something. */
export function findLastPrompt(messages: readonly TextMessage[]): string {
  const { content } = messages[findPromptIndex(messages)] ?? { content: [] };
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function compose(prompt: string, { model, messages }: TextCall): string {
  const plain = removeMarkers(removeWishes(prompt)).replace(/\s+/g, ' ').trim();
  const { greeting, echo, told, about, markers, goodbye } = phrases[detectLanguage(plain)];
  const sentences = [greeting, ...(plain === '' ? [] : [fill(echo, { prompt: shorten(plain) })])];
  for (const { name, text } of findResults(messages)) sentences.push(fill(told, { tool: name, text: shorten(text) }));
  if (model !== 'lite') sentences.push(about);
  const paragraphs = [sentences.join(' ')];
  if (model === 'heavy') paragraphs.push(markers.join('\n'));
  paragraphs.push(goodbye);
  return paragraphs.join(model === 'lite' ? ' ' : '\n\n');
}

/** An image as the vision model names it. */
export interface Seen extends Size {
  readonly format: string;
  readonly colour: Colour;
}

/** A line for each image, in order. */
function describe(prompt: string, sights: readonly Seen[]): string {
  const language = detectLanguage(removeMarkers(prompt));
  const { nothing, eyes, sight } = phrases[language];
  if (sights.length === 0) return nothing;
  const lines = sights.map((seen, at) => `${at + 1}. ${fill(sight, { ...seen, colour: seen.colour[language] })}`);
  return [eyes, ...lines].join('\n');
}

function fill(phrase: string, values: Readonly<Record<string, string | number>>): string {
  return phrase.replace(/\{(\w+)\}/g, (_, name) => `${values[name]}`);
}

const ECHO_CHARS_MAX = 120;

function shorten(text: string): string {
  const characters = [...text];
  if (characters.length <= ECHO_CHARS_MAX) return text;
  return `${characters.slice(0, ECHO_CHARS_MAX).join('').trimEnd()}…`;
}

function detectLanguage(text: string): keyof typeof phrases {
  const cyrillic = text.match(/\p{Script=Cyrillic}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return cyrillic > latin ? 'russian' : 'english';
}
