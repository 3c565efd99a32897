// The lines of a prompt by what they hold: prose, code, logs or data. Code and data are material, never the request.
import { codePoints } from './code-signs.ts';

export type LineKind = 'prose' | 'code' | 'log' | 'data' | 'blank';

export interface Line {
  readonly from: number;
  readonly to: number;
  readonly kind: LineKind;
}

const LINES_MAX = 300;
/** Of a line so much is looked at. */
const LINE_READ = 160;

/** Splits into lines and names what each holds; reads a bounded number of them. */
export function readLines(text: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  let fence = false;
  let docstring = false;
  while (from < text.length && lines.length < LINES_MAX) {
    const end = text.indexOf('\n', from);
    const to = end === -1 ? text.length : end;
    const marks = isFence(text, from, to);
    if (marks) fence = !fence;
    if (!marks) {
      const toggles = (docstring || lines[lines.length - 1]?.kind === 'code') && togglesDocstring(text, from, to);
      const comment = lines[lines.length - 1]?.kind === 'code' && startsComment(text, from);
      const kind = docstring || toggles || comment ? 'code' : kindOf(text, from, to, fence);
      lines.push({ from, to, kind });
      if (toggles) docstring = !docstring;
    }
    from = to + 1;
  }
  return joinNeighbours(lines, text);
}

function isFence(text: string, from: number, to: number): boolean {
  let at = from;
  while (at < to && text.charCodeAt(at) <= 32) at++;
  return text.startsWith('```', at) && text.indexOf('```', at + 3) !== at + 3 && !closesOnLine(text, at + 3, to);
}

/** A fence that opens and closes on one line is an inline quotation. */
function closesOnLine(text: string, from: number, to: number): boolean {
  return to - from < LINE_READ && text.slice(from, to).includes('```');
}

const COMMENTS = ['"""', "'''", '#', '//', '/*', '*', '--'];

function startsComment(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && at - from < LINE_READ && (text[at] === ' ' || text[at] === '\t')) at++;
  return COMMENTS.some((sign) => text.startsWith(sign, at));
}

/** A docstring that opens below code and does not close on its line runs on as code. */
function togglesDocstring(text: string, from: number, to: number): boolean {
  const line = text.slice(from, Math.min(to, from + LINE_READ));
  const quotes = line.includes("'''") ? "'''" : '"""';
  return line.split(quotes).length % 2 === 0;
}

function kindOf(text: string, from: number, to: number, fenced: boolean): LineKind {
  const line = text.slice(from, Math.min(to, from + LINE_READ)).trim();
  if (line === '') return 'blank';
  if (looksLikeData(line)) return 'data';
  if (looksLikeLog(line)) return 'log';
  if (fenced) return 'code';
  return codePoints(line) >= 2 ? 'code' : 'prose';
}

/** A line of weak signs between lines of code is code too. */
function joinNeighbours(lines: readonly Line[], text: string): Line[] {
  return lines.map((line, index) => {
    if (line.kind !== 'prose') return line;
    const above = lines[index - 1]?.kind === 'code';
    const below = lines[index + 1]?.kind === 'code';
    if (!above && !below) return line;
    const words = text.slice(line.from, Math.min(line.to, line.from + LINE_READ)).trim();
    const weak = codePoints(words) >= 1 || (above && below && words.length < 30);
    return weak ? { ...line, kind: 'code' as const } : line;
  });
}

function looksLikeData(line: string): boolean {
  const first = line[0]!;
  if ((first === '{' || first === '[' || first === '"') && line.includes('":')) return true;
  if (first === '|' && line.endsWith('|') && line.length > 4) return true;
  return line.includes(' | ') && line.length < TABLE_LINE_MAX;
}

const TABLE_LINE_MAX = 120;
const LEVELS = ['INFO', 'WARN', 'ERROR', 'DEBUG', 'FATAL', 'TRACE'];

function looksLikeLog(line: string): boolean {
  if (!startsWithTime(line)) return false;
  return (
    line.length > 24 && (LEVELS.some((level) => line.includes(level)) || line.includes('=') || line.includes(': '))
  );
}

/** `2024-05-01…`, `[2024…`, `12:30:01…`. */
function startsWithTime(line: string): boolean {
  const at = line[0] === '[' ? 1 : 0;
  const digits = (from: number, count: number) => {
    for (let index = from; index < from + count; index++) {
      const code = line.charCodeAt(index);
      if (!(code >= 48 && code <= 57)) return false;
    }
    return true;
  };
  const date = digits(at, 4) && (line[at + 4] === '-' || line[at + 4] === '/') && digits(at + 5, 2);
  return date || (digits(at, 2) && line[at + 2] === ':' && digits(at + 3, 2) && line[at + 5] === ':');
}
