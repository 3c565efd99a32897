// The values of rows in SQL dumps, as text or null.
import { OperatorError } from '../base/operator-error.ts';
import type { TokenKind } from './sql-tokens.ts';

export interface SqlToken {
  readonly kind: TokenKind;
  readonly text: string;
}

/** A value between two commas. Throws an `OperatorError` for an expression that dumps do not contain. */
export function evaluateValue(tokens: readonly SqlToken[], table: string): string | null {
  const [first, second, ...rest] = tokens;
  if (!first) return null;
  if (rest.length === 0) {
    const simple = second === undefined ? readSimple(first) : readPrefixed(first, second);
    if (simple !== undefined) return simple;
  }
  const { value, next } = readCall(tokens, 0);
  if (value === undefined || next !== tokens.length) {
    const text = tokens.map((token) => token.text).join(' ');
    throw new OperatorError(`a row of ${table} has a value that cannot be read: ${JSON.stringify(text.slice(0, 60))}`);
  }
  return value;
}

function readSimple({ kind, text }: SqlToken): string | null | undefined {
  if (kind === 'string' || kind === 'quoted') return text;
  if (kind !== 'word') return undefined;
  const word = text.toUpperCase();
  if (word === 'NULL') return null;
  if (word === 'TRUE') return '1';
  if (word === 'FALSE') return '0';
  return /^[-+]?[\d.]/.test(text) ? text : undefined;
}

/** Such as `_binary 'text'`, `X'6869'` and `b'1'`. */
function readPrefixed(first: SqlToken, { kind, text }: SqlToken): string | undefined {
  if (first.kind !== 'word' || kind !== 'string') return undefined;
  const prefix = first.text.toLowerCase();
  if (prefix === 'x') return Buffer.from(text, 'hex').toString('utf8');
  if (prefix === 'b') return String(Number.parseInt(text, 2));
  return prefix.startsWith('_') || prefix === 'n' ? text : undefined;
}

interface Evaluated {
  readonly value: string | undefined;
  readonly next: number;
}

/** The command line of SQLite writes line breaks as `replace('…\n…','\n',char(10))` or `unistr('…\u000a…')`. */
function readCall(tokens: readonly SqlToken[], at: number): Evaluated {
  const token = tokens[at];
  const isCall = token?.kind === 'word' && tokens[at + 1]?.text === '(' && tokens[at + 1]?.kind === 'sign';
  if (!token || !isCall) {
    const value = token && readSimple(token);
    return { value: value ?? undefined, next: at + 1 };
  }
  const args: string[] = [];
  let next = at + 2;
  for (;;) {
    const argument = readCall(tokens, next);
    if (argument.value === undefined) return { value: undefined, next };
    args.push(argument.value);
    next = argument.next;
    const sign = tokens[next];
    next += 1;
    if (sign?.kind !== 'sign' || (sign.text !== ',' && sign.text !== ')')) return { value: undefined, next };
    if (sign.text === ')') return { value: call(token.text.toLowerCase(), args), next };
  }
}

function call(name: string, [first = '', second = '', third = '']: readonly string[]): string | undefined {
  if (name === 'replace') return second === '' ? first : first.replaceAll(second, () => third);
  if (name === 'char') return String.fromCodePoint(Number(first));
  if (name === 'unistr') {
    return first.replace(/\\(?:u([0-9a-f]{4})|\+([0-9a-f]{6})|(\\))/gi, (_match, short, long) =>
      short || long ? String.fromCodePoint(Number.parseInt(short ?? long, 16)) : '\\',
    );
  }
  return undefined;
}

const COPY_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** A line of the data of a `COPY`. */
export function readCopyLine(line: string): readonly (string | null)[] {
  return line.split('\t').map((cell) => {
    if (cell === '\\N') return null;
    if (!cell.includes('\\')) return cell;
    return cell.replace(/\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)/gs, (_match, escaped: string) => {
      if (/^x./.test(escaped)) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
      if (/^[0-7]/.test(escaped)) return String.fromCharCode(Number.parseInt(escaped, 8));
      return COPY_ESCAPES[escaped] ?? escaped;
    });
  });
}
