// The playground call as sample programs, filled into the template texts beside the pages.
import { readFileSync } from 'node:fs';
import { buildRequestBody, type PlaygroundForm } from './fields.ts';

const SAMPLE_LANGUAGES = ['curl', 'python', 'js'] as const;
type SampleLanguage = (typeof SAMPLE_LANGUAGES)[number];

const RESPONSES_TASKS = ['responses', 'responses-vision'] as const;
const TASKS = ['text', 'embedding', 'image', 'video', 'vision', 'edit', 'motion', ...RESPONSES_TASKS] as const;
type Task = (typeof TASKS)[number];

/** With images, a text call reads them, an image call edits them, and a video starts from one. */
const KIND_TASKS: Readonly<Record<PlaygroundForm['kind'], Readonly<Record<'plain' | 'withImages', readonly Task[]>>>> =
  {
    text: { plain: ['text', 'responses'], withImages: ['vision', 'responses-vision'] },
    embedding: { plain: ['embedding'], withImages: ['embedding'] },
    image: { plain: ['image'], withImages: ['edit'] },
    video: { plain: ['video'], withImages: ['motion'] },
  };

const read = (task: Task, language: SampleLanguage) =>
  readFileSync(new URL(`../samples/${task}-${language}.txt`, import.meta.url), 'utf8').trimEnd();

const TEMPLATES = new Map(
  TASKS.flatMap((task) => SAMPLE_LANGUAGES.map((language) => [`${task} ${language}`, read(task, language)])),
);

interface Sample {
  readonly language: SampleLanguage;
  readonly isResponses: boolean;
  readonly program: string;
}

/**
 * The call in every language; a text call in the chat format, then in the responses format. `key` is a placeholder:
 * only its owner knows the key.
 */
export function listSamples(
  input: PlaygroundForm,
  { base, key }: { readonly base: string; readonly key: string },
): readonly Sample[] {
  const files = Array.from({ length: input.imageCount }, (_, at) => `image-${at + 1}.png`);
  return KIND_TASKS[input.kind][files.length > 0 ? 'withImages' : 'plain'].flatMap((task) => {
    const isResponses = RESPONSES_TASKS.some((name) => name === task);
    const body = isResponses ? buildResponsesBody(input, files) : withImageFiles(input, files);
    const values = { base, key, ...sampleValues(input, body, files) };
    const fill = (template: string) =>
      template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name as keyof typeof values] ?? '');
    return SAMPLE_LANGUAGES.map((language) => {
      return { language, isResponses, program: fill(TEMPLATES.get(`${task} ${language}`) ?? '') };
    });
  });
}

type Body = Readonly<Record<string, unknown>>;

function sampleValues(input: PlaygroundForm, body: Body, files: readonly string[]) {
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
function withImageFiles(input: PlaygroundForm, files: readonly string[]): Body {
  const body = buildRequestBody(input);
  const [first, ...rest] = files.map((file) => new ImageFile(file));
  if (first && input.kind === 'video') return { ...body, image: first };
  // A count of images may be left from a form of another kind.
  if (!first || input.kind !== 'text') return body;
  const images = [first, ...rest].map((url) => ({ type: 'image_url', image_url: { url } }));
  const before = (body.messages as readonly unknown[]).slice(0, -1);
  const prompt = { role: 'user', content: [{ type: 'text', text: input.prompt }, ...images] };
  return { ...body, messages: [...before, prompt] };
}

function buildResponsesBody({ model, prompt, system, max_tokens }: PlaygroundForm, files: readonly string[]): Body {
  const images = files.map((file) => ({ type: 'input_image', image_url: new ImageFile(file) }));
  const content = [{ type: 'input_text', text: prompt }, ...images];
  return {
    model,
    ...(system.trim() !== '' && { instructions: system }),
    ...(max_tokens !== '' && { max_output_tokens: Number(max_tokens) }),
    input: images.length > 0 ? [{ role: 'user', content }] : prompt,
  };
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
