// The playground call as sample programs, filled into the template texts beside the pages.
import { readFileSync } from 'node:fs';
import { bodyOf, type PlaygroundForm } from './wish.ts';

export const SAMPLE_LANGUAGES = ['curl', 'python', 'js'] as const;
export type SampleLanguage = (typeof SAMPLE_LANGUAGES)[number];

/** By what is sent: with pictures a text is looked at, a picture edited, and a video begun from one. */
const TASKS = ['text', 'image', 'video', 'vision', 'edit', 'motion'] as const;
type Task = (typeof TASKS)[number];
const WITH_PICTURES = { text: 'vision', image: 'edit', video: 'motion' } as const;

const read = (task: Task, language: SampleLanguage) =>
  readFileSync(new URL(`../samples/${task}-${language}.txt`, import.meta.url), 'utf8').trimEnd();

const TEMPLATES = new Map(
  TASKS.flatMap((task) => SAMPLE_LANGUAGES.map((language) => [`${task} ${language}`, read(task, language)])),
);

/** Placeholder for the key, whose text only its owner knows. */
export const SAMPLE_KEY = 'YOUR_KEY';

export function sampleOf(wish: PlaygroundForm, language: SampleLanguage, base: string): string {
  const task = wish.pictures > 0 ? WITH_PICTURES[wish.kind] : wish.kind;
  const files = Array.from({ length: wish.pictures }, (_, at) => `image-${at + 1}.png`);
  const values = { base, key: SAMPLE_KEY, ...partsOf(wish, files) };
  const template = TEMPLATES.get(`${task} ${language}`) ?? '';
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name as keyof typeof values] ?? '');
}

function partsOf(wish: PlaygroundForm, files: readonly string[]) {
  const body = withPictures(wish, files);
  const sent = wish.kind === 'text' ? { ...body, stream: true } : body;
  const inProgram: Writing = { text: JSON.stringify, picture: (file) => `picture("${file}")` };
  const fields = Object.entries(body).map(([name, value]) => [name, write(value, inProgram)] as const);
  const texts = Object.entries(bodyOf(wish)).map(([name, value]) => `--form-string ${quoted(`${name}=${value}`)}`);
  const pictures = files.map((file) => `-F 'image[]=@${file}'`);
  return {
    shell: quoted(JSON.stringify(sent)),
    document: write(sent, IN_DOCUMENT),
    form: [...texts, ...pictures].join(' \\\n  '),
    json: write(sent, inProgram),
    python: fields.map(([name, value]) => `    ${name}=${value},`).join('\n'),
    js: fields.map(([name, value]) => `  ${name}: ${value},`).join('\n'),
    opened: files.map((file) => `open("${file}", "rb")`).join(', '),
    streamed: files.map((file) => `createReadStream("${file}")`).join(', '),
  };
}

/** A file of the reader's. */
class Picture {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }
}

/** The body with pictures where the API takes them; an edit has them as files beside it. */
function withPictures(wish: PlaygroundForm, files: readonly string[]): Readonly<Record<string, unknown>> {
  const body = bodyOf(wish);
  const [first, ...rest] = files.map((file) => new Picture(file));
  if (!first || wish.kind === 'image') return body;
  if (wish.kind === 'video') return { ...body, image: first };
  const pictures = [first, ...rest].map((url) => ({ type: 'image_url', image_url: { url } }));
  return { ...body, messages: [{ role: 'user', content: [{ type: 'text', text: wish.prompt }, ...pictures] }] };
}

interface Writing {
  text(value: unknown): string;
  picture(file: string): string;
}

/** JSON in which the program puts the pictures. */
function write(value: unknown, writing: Writing): string {
  if (value instanceof Picture) return writing.picture(value.file);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, writing)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return writing.text(value);
  const fields = Object.entries(value).map(([name, item]) => `${writing.text(name)}:${write(item, writing)}`);
  return `{${fields.join(',')}}`;
}

/** In a shell's document of several lines, which is too long for an argument. */
const IN_DOCUMENT: Writing = {
  text: (value) => JSON.stringify(value).replace(/[\\$`]/g, '\\$&'),
  picture: (file) => `"data:image/png;base64,$(base64 < ${file} | tr -d '\\n')"`,
};

/** As a shell reads it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
