// What a command prints: one JSON object, or short aligned text.
import { InvalidArgumentError } from 'commander';
import type { Answer } from '../manage/answer.ts';

export function print(answer: Answer, options: { readonly json: boolean }): void {
  const { csv, file, store, failed } = answer;
  if (options.json && csv !== undefined) throw new InvalidArgumentError('--csv and --json cannot be used together.');
  const line = store === undefined ? '' : `Store: ${store}\n`;
  if (options.json && file === undefined) process.stdout.write(`${toJson({ ...answer.json, store })}\n`);
  else if (csv === undefined && file === undefined) process.stdout.write(withoutControls(`${answer.text}\n${line}`));
  else {
    process.stdout.write(file ?? csv ?? '');
    process.stderr.write(withoutControls(line));
  }
  if (failed) process.exitCode = 1;
}

/** For what a command that has made its change could not do besides. */
export function warn(text: string): void {
  process.stderr.write(`tollgate: warning: ${withoutControls(text)}\n`);
}

/** Texts of others, such as the name of a browser, must not control the terminal. */
export function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, '\ufffd');
}

/** Also escapes control characters above ASCII, which JSON.stringify does not. */
export function toJson(value: object): string {
  const spell = (control: string) => `\\u00${control.charCodeAt(0).toString(16)}`;
  return JSON.stringify(value).replace(/[\x7f-\x9f]/g, spell);
}

/** A closed pipe (`| head -1`) is no failure: the work of the command is done. */
export function survivePipes(): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`tollgate: the answer could not be written: ${error.message}\n`);
    process.exitCode = 1;
  });
}
