// Reads JSON without losing digits of its numbers: ids in the arguments of a tool call are often longer than a double.

/** What V8 tells a reviver about a primitive value; the library of types has an older shape. */
interface ReviverContext {
  readonly source?: string;
}

/** Of the proposal that came with `context.source`. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): object };

/** Long enough for a number whose digits do not all fit, or with an exponent beyond what fits. */
const MAY_LOSE_DIGITS = /[\d.]{16}|[eE][+-]?\d{3}/;

/**
 * Like `JSON.parse`, and numbers are numbers; but `JSON.stringify` writes those that lost digits as they were written,
 * as long as they stay where they are: in the object or list itself, not in a copy of it.
 */
export function parseExactJson(text: string): unknown {
  return MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

/** So many digits where a number begins; not those of a fraction, as vectors have them. */
const MAY_BE_LONG = /[[:,\s-]\d{16}/;

/** In longer texts, which have images, nothing is looked for. */
const LONG_IDS_CHARS_MAX = 1024 * 1024;

/** Like `JSON.parse`, but a whole number that a double cannot hold is its text: it is an id. */
export function parseJsonWithLongIds(text: string): unknown {
  const mayHave = text.length <= LONG_IDS_CHARS_MAX && MAY_BE_LONG.test(text);
  return mayHave ? JSON.parse(text, spellLongId) : JSON.parse(text);
}

function spellLongId(_key: string, value: unknown, context?: ReviverContext): unknown {
  const { source } = context ?? {};
  const isLong = source !== undefined && /^-?\d+$/.test(source) && typeof value === 'number';
  return isLong && !Number.isSafeInteger(value) ? source : value;
}

/** By object or list, the numbers that have other digits than their text. */
const keptDigits = new WeakMap<object, Map<string, string>>();

function keepDigits(this: object, key: string, value: unknown, context?: ReviverContext): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || source === String(value)) return value;
  const kept = keptDigits.get(this) ?? new Map();
  kept.set(key, source);
  attachDigits(this, kept);
  return value;
}

function attachDigits(value: object, kept: Map<string, string>): void {
  keptDigits.set(value, kept);
  // Not enumerable, so that nothing but `JSON.stringify` sees it; a field of this name is left alone.
  if (!('toJSON' in value)) Object.defineProperty(value, 'toJSON', { value: writeDigits });
}

/** The same fields by other names, with all digits. */
export function renameFields<Value>(
  fields: Readonly<Record<string, Value>>,
  rename: (name: string) => string,
): Record<string, Value> {
  const renamed = Object.fromEntries(Object.entries(fields).map(([name, value]) => [rename(name), value]));
  const kept = keptDigits.get(fields);
  if (kept) attachDigits(renamed, new Map([...kept].map(([name, digits]) => [rename(name), digits])));
  return renamed;
}

/** A number that was replaced since is written as it is now. */
function writeDigits(this: object): unknown {
  const kept = keptDigits.get(this);
  const entries = Object.entries(this).map(([key, value]): [string, unknown] => {
    const source = kept?.get(key);
    return [key, source !== undefined && Number(source) === value ? rawJSON(source) : value];
  });
  return Array.isArray(this) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}
