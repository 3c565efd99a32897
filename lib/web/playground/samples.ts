// The playground's call as code in several languages, filled into the templates beside the pages.
import { readFileSync } from 'node:fs';
import { bodyOf, PLAY_KINDS, type PlayKind, type Wish } from './wish.ts';

export const SAMPLE_LANGUAGES = ['curl', 'python', 'js'] as const;
export type SampleLanguage = (typeof SAMPLE_LANGUAGES)[number];

const read = (kind: PlayKind, language: SampleLanguage) =>
  readFileSync(new URL(`../samples/${kind}-${language}.txt`, import.meta.url), 'utf8').trimEnd();

const TEMPLATES = new Map(
  PLAY_KINDS.flatMap((kind) => SAMPLE_LANGUAGES.map((language) => [`${kind} ${language}`, read(kind, language)])),
);

/** Stands for the key, which only its owner knows. */
export const SAMPLE_KEY = 'YOUR_KEY';

export function sampleOf(wish: Wish, language: SampleLanguage, base: string): string {
  const body = bodyOf(wish);
  const sent = wish.kind === 'text' ? { ...body, stream: true } : body;
  const fields = Object.entries(body).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const values: Readonly<Record<string, string>> = {
    base,
    key: SAMPLE_KEY,
    // Quoted for a shell, between single quotes.
    shell: JSON.stringify(sent).replaceAll("'", "'\\''"),
    json: JSON.stringify(sent),
    python: fields.map(([name, json]) => `    ${name}=${json},`).join('\n'),
    js: fields.map(([name, json]) => `  ${name}: ${json},`).join('\n'),
  };
  const template = TEMPLATES.get(`${wish.kind} ${language}`) ?? '';
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
}
