// The words of the sandbox: what it answers to a prompt, the same every time, and how it counts.
import type { Content, Size, TextCall, TextMessage } from '../../lib/plugin/contract.ts';
import { lastResults, promptAt, withoutWishes } from './calls.ts';
import type { Colour } from './colours.ts';

/** What `[[…]]` in a prompt asks for. */
export interface Markers {
  /** Refuse the prompt. */
  readonly refuse: boolean;
  /** Give a result without a picture. */
  readonly empty: boolean;
  /** Give bytes that are no picture. */
  readonly undecodable: boolean;
  /** Fail before the first word. */
  readonly fail: boolean;
  /** Fail after half of the words. */
  readonly failMid: boolean;
  /** Wait before every word. */
  readonly slow: boolean;
  /** Send nothing until the call is aborted. */
  readonly stall: boolean;
  /** The exact number of words. */
  readonly words: number | undefined;
}

const MARKER = /\[\[(?:fail|fail-mid|slow|stall|refuse|empty|undecodable|words:\d+)\]\]/g;

/** More words than any call may have tokens need not be made. */
const WORDS_MAX = 40_000;

export function readMarkers(prompt: string): Markers {
  const found: readonly string[] = prompt.match(MARKER) ?? [];
  const words = found.find((marker) => marker.startsWith('[[words:'));
  return {
    refuse: found.includes('[[refuse]]'),
    empty: found.includes('[[empty]]'),
    undecodable: found.includes('[[undecodable]]'),
    fail: found.includes('[[fail]]'),
    failMid: found.includes('[[fail-mid]]'),
    slow: found.includes('[[slow]]'),
    stall: found.includes('[[stall]]'),
    words: words === undefined ? undefined : Math.min(Number(words.slice('[[words:'.length, -2)), WORDS_MAX),
  };
}

/** The words of the system prompt, of all messages, and of the definitions of tools. */
export function countWords({ system = '', messages, tools }: TextCall): number {
  const texts = messages.flatMap(({ content }) => content.flatMap(wordsIn));
  const definitions = tools?.list.map(
    ({ name, description, schema }) => `${name} ${description} ${JSON.stringify(schema)}`,
  );
  return [system, ...texts, ...(definitions ?? [])].reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
}

function wordsIn(part: Content): readonly string[] {
  if (part.type === 'tool-result') return part.content.flatMap(wordsIn);
  if (part.type === 'tool-call') return [part.name, part.json];
  return part.type === 'text' ? [part.text] : [];
}

/** The answer as words, each with the white space after it; exactly `count` of them if it is given. */
export function composeAnswer(call: TextCall, count: number | undefined, sights: readonly Seen[]): readonly string[] {
  const prompt = lastPrompt(call.messages);
  const words = splitWords(call.model === 'vision' ? describe(prompt, sights) : compose(prompt, call));
  if (count === undefined) return words;
  return Array.from({ length: count }, (_, at) => words[at % words.length] as string);
}

/** The first `max` words; nothing but a word comes last. */
export function cutWords(words: readonly string[], max: number): readonly string[] {
  const kept = words.slice(0, max);
  const last = kept.pop();
  return last === undefined ? kept : [...kept, last.trimEnd()];
}

function splitWords(text: string): string[] {
  return (text.match(/\S+\s*/g) ?? []).map((word) => (/\s$/.test(word) ? word : `${word} `));
}

/** The text of the last message in which the user says something. */
export function lastPrompt(messages: readonly TextMessage[]): string {
  const { content } = messages[promptAt(messages)] ?? { content: [] };
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function compose(prompt: string, { model, messages }: TextCall): string {
  const plain = withoutWishes(prompt).replace(MARKER, ' ').replace(/\s+/g, ' ').trim();
  const phrases = isRussian(plain) ? RUSSIAN : ENGLISH;
  const sentences = [phrases.greeting, ...(plain === '' ? [] : [phrases.echo(shorten(plain))])];
  for (const { name, text } of lastResults(messages)) sentences.push(phrases.told(name, shorten(text)));
  if (model !== 'lite') sentences.push(phrases.about);
  const paragraphs = [sentences.join(' ')];
  if (model === 'heavy') paragraphs.push(phrases.markers.join('\n'));
  paragraphs.push(phrases.goodbye);
  return paragraphs.join(model === 'lite' ? ' ' : '\n\n');
}

/** A picture as the vision model names it. */
export interface Seen extends Size {
  readonly format: string;
  readonly colour: Colour;
}

/** A line for each picture, in order. */
function describe(prompt: string, sights: readonly Seen[]): string {
  const phrases = isRussian(prompt.replace(MARKER, ' ')) ? RUSSIAN : ENGLISH;
  if (sights.length === 0) return phrases.nothing;
  const lines = sights.map((sight, at) => `${at + 1}. ${phrases.sight(sight)}`);
  return [phrases.eyes, ...lines].join('\n');
}

const ECHO_CHARS_MAX = 120;

function shorten(text: string): string {
  const characters = [...text];
  if (characters.length <= ECHO_CHARS_MAX) return text;
  return `${characters.slice(0, ECHO_CHARS_MAX).join('').trimEnd()}…`;
}

function isRussian(text: string): boolean {
  const cyrillic = text.match(/\p{Script=Cyrillic}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return cyrillic > latin;
}

interface Phrases {
  readonly greeting: string;
  readonly echo: (prompt: string) => string;
  readonly told: (tool: string, text: string) => string;
  readonly about: string;
  readonly markers: readonly string[];
  readonly goodbye: string;
  readonly eyes: string;
  readonly sight: (sight: Seen) => string;
  readonly nothing: string;
}

const ENGLISH: Phrases = {
  greeting: 'Hello from the sandbox: this answer was made by the gateway itself, and no model was asked.',
  echo: (prompt) => `You wrote: “${prompt}”.`,
  told: (tool, text) => `The tool ${tool} said: “${text}”.`,
  about:
    'It arrives word by word like a real one, and every word counts as a token, ' +
    'so streaming, limits and billing can be tried without an account anywhere.',
  markers: [
    'A heavy model would think longer here; this one tells you its tricks instead. Put one of these into a message:',
    '- [[words:50]] for exactly fifty words,',
    '- [[slow]] for ten words a second,',
    '- [[stall]] for an answer that never begins,',
    '- [[tool:name]] for a call of your tool of that name,',
    '- [[fail]] or [[fail-mid]] for an upstream that fails at once or halfway.',
  ],
  goodbye: 'Set the key of an upstream, and the same request reaches a real model.',
  eyes: 'The sandbox has only simple eyes. This is what they see:',
  sight: ({ format, width, height, colour }) => `${format}, ${width}x${height} pixels, mainly ${colour.english}.`,
  nothing: 'There is no picture in the last message.',
};

const RUSSIAN: Phrases = {
  greeting: 'Привет из песочницы: этот ответ составил сам шлюз, ни одна модель его не видела.',
  echo: (prompt) => `Вы написали: «${prompt}».`,
  told: (tool, text) => `Инструмент ${tool} ответил: «${text}».`,
  about:
    'Он приходит по словам, как настоящий, и каждое слово считается токеном: ' +
    'потоки, лимиты и списания можно проверить без единого аккаунта на стороне.',
  markers: [
    'Большая модель здесь задумалась бы, а песочница расскажет о своих приёмах. Добавьте в сообщение:',
    '- [[words:50]], чтобы получить ровно пятьдесят слов,',
    '- [[slow]], чтобы слова шли по десять в секунду,',
    '- [[stall]], чтобы ответ так и не начался,',
    '- [[tool:имя]], чтобы был вызван ваш инструмент с таким именем,',
    '- [[fail]] или [[fail-mid]], чтобы модель отказала сразу или на полпути.',
  ],
  goodbye: 'Задайте ключ поставщика, и тот же запрос уйдёт к настоящей модели.',
  eyes: 'Зрение у песочницы простое. Вот что она видит:',
  sight: ({ format, width, height, colour }) =>
    `${format}, ${width}x${height} пикселей, основной цвет — ${colour.russian}.`,
  nothing: 'В последнем сообщении нет картинок.',
};
