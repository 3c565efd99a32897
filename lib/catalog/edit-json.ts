// Sets one value in the text of a JSON file; everything else, comments and spaces included, stays as it is.
import stripJsonComments from 'strip-json-comments';

interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
}

interface Members {
  readonly list: readonly Member[];
  /** The position after the closing brace. */
  readonly end: number;
}

const INDENT = 2;

/**
 * The text with a value at a path of keys. Objects that are missing on the way are added; `print` gets the column that
 * the value's own lines are indented to. The text must be valid JSON with an object at every key before the last.
 */
export function setJsonValue(text: string, path: readonly string[], print: (indent: number) => string): string {
  // Comments become spaces, so that positions stay.
  const plain = stripJsonComments(text);
  let start = skipSpace(plain, 0);
  for (const [depth, key] of path.entries()) {
    const { list, end } = readMembers(plain, start);
    const found = list.find((member) => member.key === key);
    if (!found) return insertMember(text, plain, { list, start, end, depth: depth + 1 }, path.slice(depth), print);
    if (depth === path.length - 1) {
      const indent = findIndent(plain, found.keyStart) ?? (depth + 1) * INDENT;
      return text.slice(0, found.start) + print(indent) + text.slice(found.end);
    }
    start = found.start;
  }
  return text;
}

interface Place extends Members {
  readonly start: number;
  readonly depth: number;
}

function insertMember(
  text: string,
  plain: string,
  { list, start, end, depth }: Place,
  [key = '', ...rest]: readonly string[],
  print: (indent: number) => string,
): string {
  const last = list.at(-1);
  const indent = (last && findIndent(plain, last.keyStart)) ?? depth * INDENT;
  const line = `\n${' '.repeat(indent)}${JSON.stringify(key)}: ${printNested(rest, indent, print)}`;
  if (last) return `${text.slice(0, last.end)},${line}${text.slice(last.end)}`;
  return `${text.slice(0, start + 1)}${line}\n${' '.repeat(Math.max(0, indent - INDENT))}${text.slice(end - 1)}`;
}

function printNested([key, ...rest]: readonly string[], indent: number, print: (indent: number) => string): string {
  if (key === undefined) return print(indent);
  const inner = ' '.repeat(indent + INDENT);
  return `{\n${inner}${JSON.stringify(key)}: ${printNested(rest, indent + INDENT, print)}\n${' '.repeat(indent)}}`;
}

/** The column of a key that begins its line; undefined if something stands before it. */
function findIndent(text: string, at: number): number | undefined {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  return text.slice(lineStart, at).trim() === '' ? at - lineStart : undefined;
}

function readMembers(text: string, start: number): Members {
  const list: Member[] = [];
  for (let at = skipSpace(text, start + 1); text[at] !== '}'; ) {
    const keyEnd = skipValue(text, at);
    const valueStart = skipSpace(text, text.indexOf(':', keyEnd) + 1);
    const end = skipValue(text, valueStart);
    list.push({ key: JSON.parse(text.slice(at, keyEnd)), keyStart: at, start: valueStart, end });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
    else return { list, end: at + 1 };
  }
  return { list, end: skipSpace(text, start + 1) + 1 };
}

/** The position after a value, of any kind. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; ; at += 1) {
    const char = text[at];
    if (char === '"') at = skipString(text, at);
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    if (depth > 0) continue;
    if (char === '"' || char === '}' || char === ']') return at + 1;
    if (at + 1 >= text.length || /[\s,\]}]/.test(text[at + 1] as string)) return at + 1;
  }
}

/** The position of the closing quote. */
function skipString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && /\s/.test(text[at] as string)) at += 1;
  return at;
}
