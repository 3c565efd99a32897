// The playground call as sample programs, filled into the template texts beside the pages.
import { readFileSync } from 'node:fs';
import { buildRequestBody, type PlaygroundForm } from './fields.ts';

export const SAMPLE_LANGUAGES = ['curl', 'python', 'js'] as const;
type SampleLanguage = (typeof SAMPLE_LANGUAGES)[number];

/** With images, a text call reads them, an image call edits them, and a video starts from one. */
const TASKS = ['text', 'embedding', 'image', 'video', 'vision', 'edit', 'motion'] as const;
type Task = (typeof TASKS)[number];
const TASK_WITH_IMAGES = { text: 'vision', embedding: 'embedding', image: 'edit', video: 'motion' } as const;

const read = (task: Task, language: SampleLanguage) =>
  readFileSync(new URL(`../samples/${task}-${language}.txt`, import.meta.url), 'utf8').trimEnd();

const TEMPLATES = new Map(
  TASKS.flatMap((task) => SAMPLE_LANGUAGES.map((language) => [`${task} ${language}`, read(task, language)])),
);

/** Placeholder for the key, whose text only its owner knows. */
const SAMPLE_KEY = 'YOUR_KEY';

export function fillSample(input: PlaygroundForm, language: SampleLanguage, base: string): string {
  const task = input.imageCount > 0 ? TASK_WITH_IMAGES[input.kind] : input.kind;
  const files = Array.from({ length: input.imageCount }, (_, at) => `image-${at + 1}.png`);
  const values = { base, key: SAMPLE_KEY, ...sampleValues(input, files) };
  const template = TEMPLATES.get(`${task} ${language}`) ?? '';
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name as keyof typeof values] ?? '');
}

function sampleValues(input: PlaygroundForm, files: readonly string[]) {
  const body = withImageFiles(input, files);
  const sent = input.kind === 'text' ? { ...body, stream: true } : body;
  const inProgram: JsonWriter = { text: JSON.stringify, image: (file) => `image("${file}")` };
  const fields = Object.entries(body).map(([name, value]) => [name, writeJson(value, inProgram)] as const);
  const texts = Object.entries(buildRequestBody(input)).map(
    ([name, value]) => `--form-string ${quoteForShell(`${name}=${value}`)}`,
  );
  const images = files.map((file) => `-F 'image[]=@${file}'`);
  return {
    shell: quoteForShell(JSON.stringify(sent)),
    document: writeJson(sent, IN_DOCUMENT),
    form: [...texts, ...images].join(' \\\n  '),
    json: writeJson(sent, inProgram),
    python: fields.map(([name, value]) => `    ${name}=${value},`).join('\n'),
    js: fields.map(([name, value]) => `  ${name}: ${value},`).join('\n'),
    opened: files.map((file) => `open("${file}", "rb")`).join(', '),
    streamed: files.map((file) => `createReadStream("${file}")`).join(', '),
  };
}

/** An image file that the program reads. */
class ImageFile {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }
}

/** The body with images where the API takes them; an edit sends them as files beside it. */
function withImageFiles(input: PlaygroundForm, files: readonly string[]): Readonly<Record<string, unknown>> {
  const body = buildRequestBody(input);
  const [first, ...rest] = files.map((file) => new ImageFile(file));
  if (!first || input.kind === 'image') return body;
  if (input.kind === 'video') return { ...body, image: first };
  const images = [first, ...rest].map((url) => ({ type: 'image_url', image_url: { url } }));
  return { ...body, messages: [{ role: 'user', content: [{ type: 'text', text: input.prompt }, ...images] }] };
}

interface JsonWriter {
  text(value: unknown): string;
  image(file: string): string;
}

/** JSON with placeholders for images, in the syntax of the program. */
function writeJson(value: unknown, writer: JsonWriter): string {
  if (value instanceof ImageFile) return writer.image(value.file);
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item, writer)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return writer.text(value);
  const fields = Object.entries(value).map(([name, item]) => `${writer.text(name)}:${writeJson(item, writer)}`);
  return `{${fields.join(',')}}`;
}

/** For a shell's here-document, because the body is too long for an argument. */
const IN_DOCUMENT: JsonWriter = {
  text: (value) => JSON.stringify(value).replace(/[\\$`]/g, '\\$&'),
  image: (file) => `"data:image/png;base64,$(base64 < ${file} | tr -d '\\n')"`,
};

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
