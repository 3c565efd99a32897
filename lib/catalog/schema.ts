// The shape of a catalog file, and its reading: JSON files of one folder, merged, with `${NAME}` from the environment.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Joi from 'joi';
import { OperatorError } from '../config.ts';
import { AMOUNT_MAX, type Micro, parseRub } from '../ledger/money.ts';
import { SMART_TIERS, type SmartThresholds, type SmartTier } from '../stream/smart.ts';

export interface CatalogFile {
  readonly upstreams: Readonly<Record<string, UpstreamEntry>>;
  readonly models: readonly ModelEntry[];
  readonly smart: SmartEntry;
  readonly vision: readonly string[];
  readonly defaults: { readonly image: readonly string[]; readonly edit: readonly string[] };
  /** Retired id → the id to use instead. */
  readonly retired: Readonly<Record<string, string>>;
}

/** Model ids or aliases of each tier, in order of preference. */
export interface SmartEntry extends Readonly<Record<SmartTier, readonly string[]>> {
  /** Absent: the router's own. */
  readonly thresholds?: SmartThresholds;
}

export interface UpstreamEntry {
  readonly plugin: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** True for an upstream that is switched on in sandbox mode only. */
  readonly sandbox: boolean;
}

export interface RouteEntry {
  readonly upstream: string;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
}

interface ModelBase {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly provider: string;
  readonly routes: readonly RouteEntry[];
}

export interface TextEntry extends ModelBase {
  readonly type: 'text';
  /** `stream`: token by token; `buffered`: a subscription proxy that answers in full and reports no usage. */
  readonly delivery: 'stream' | 'buffered';
  readonly price: { readonly input: string; readonly output: string };
  readonly vision: boolean;
}

export interface ImageEntry extends ModelBase {
  readonly type: 'image';
  readonly price: { readonly request: string };
  readonly edits: boolean;
}

export interface VideoEntry extends ModelBase {
  readonly type: 'video';
  readonly price: { readonly second: string | Readonly<Record<string, string>> } | { readonly request: string };
  readonly seconds?: readonly number[];
  readonly aspects?: readonly string[];
}

export type ModelEntry = TextEntry | ImageEntry | VideoEntry;

const price = Joi.string().custom((value: string, helpers) => {
  const micro = parseRub(value);
  return micro !== undefined && micro > 0n && micro <= AMOUNT_MAX ? value : helpers.error('price.bad');
}, 'price');

const name = Joi.string().min(1).max(200);
const names = Joi.array().items(name);

const base = {
  id: name.required(),
  aliases: names.default([]),
  provider: Joi.string().required(),
  routes: Joi.array()
    .items(
      Joi.object({
        upstream: name.required(),
        model: name.required(),
        options: Joi.object().unknown(true).default({}),
      }),
    )
    .required(),
};

const text = Joi.object({
  ...base,
  type: Joi.valid('text').required(),
  delivery: Joi.valid('stream', 'buffered').default('stream'),
  price: Joi.object({ input: price.required(), output: price.required() }).required(),
  vision: Joi.boolean().default(false),
});

const image = Joi.object({
  ...base,
  type: Joi.valid('image').required(),
  price: Joi.object({ request: price.required() }).required(),
  edits: Joi.boolean().default(false),
});

const video = Joi.object({
  ...base,
  type: Joi.valid('video').required(),
  price: Joi.object({
    second: Joi.alternatives(price, Joi.object().pattern(name, price).min(1)),
    request: price,
  })
    .xor('second', 'request')
    .required(),
  seconds: Joi.array().items(Joi.number().integer().min(1)).min(1),
  aspects: names.min(1),
});

const tier = Joi.alternatives(name, names.min(1)).required();
const score = Joi.number().min(0).max(100).required();
const thresholds = Joi.object({
  standard: score,
  heavy: score
    .greater(Joi.ref('standard'))
    .messages({ 'number.greater': '{{#label}} must be above smart.thresholds.standard' }),
});

const file = Joi.object({
  upstreams: Joi.object().pattern(
    name,
    Joi.object({
      plugin: name.required(),
      settings: Joi.object().unknown(true).default({}),
      sandbox: Joi.boolean().default(false),
    }),
  ),
  models: Joi.array().items(
    Joi.alternatives().conditional('.type', {
      switch: [
        // biome-ignore-start lint/suspicious/noThenProperty: joi's own word
        { is: 'text', then: text },
        { is: 'image', then: image },
        { is: 'video', then: video },
        // biome-ignore-end lint/suspicious/noThenProperty: joi's own word
      ],
      otherwise: Joi.object({ type: Joi.valid('text', 'image', 'video').required() }).unknown(),
    }),
  ),
  smart: Joi.object({ lite: tier, standard: tier, heavy: tier, thresholds }),
  vision: names,
  defaults: Joi.object({ image: names, edit: names }),
  retired: Joi.object().pattern(name, name),
}).prefs({
  abortEarly: false,
  convert: false,
  errors: { wrap: { label: false } },
  messages: {
    'price.bad': '{{#label}} must be a decimal string in RUB above zero with at most 6 decimals, such as "12.5"',
  },
});

/** Every `*.json` of a folder, in order of name. */
export function catalogFilesOf(folder: string): readonly string[] {
  try {
    const found = readdirSync(folder).filter((entry) => entry.endsWith('.json'));
    if (found.length === 0) throw new OperatorError(`CATALOG_DIR ${folder}: there is no *.json file in it`);
    return found.sort().map((entry) => join(folder, entry));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`CATALOG_DIR ${folder}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Reads files and merges them; lists add up in the order of the files. Throws an `OperatorError` naming the file. */
export function readCatalogFiles(paths: readonly string[]): CatalogFile {
  const upstreams: Record<string, UpstreamEntry> = {};
  const models: ModelEntry[] = [];
  const smart: Record<SmartTier, string[]> & { thresholds?: SmartThresholds } = { lite: [], standard: [], heavy: [] };
  const vision: string[] = [];
  const defaults = { image: [] as string[], edit: [] as string[] };
  const retired: Record<string, string> = {};
  for (const path of paths) {
    const part = readFile(path);
    for (const [key, value] of Object.entries(part.upstreams ?? {})) {
      if (Object.hasOwn(upstreams, key)) throw new OperatorError(`${path}: upstream ${key} is defined twice`);
      upstreams[key] = value;
    }
    for (const key of SMART_TIERS) smart[key].push(...[part.smart?.[key] ?? []].flat());
    if (part.smart?.thresholds) {
      if (smart.thresholds) throw new OperatorError(`${path}: smart.thresholds is defined twice`);
      smart.thresholds = part.smart.thresholds;
    }
    models.push(...(part.models ?? []));
    vision.push(...(part.vision ?? []));
    defaults.image.push(...(part.defaults?.image ?? []));
    defaults.edit.push(...(part.defaults?.edit ?? []));
    for (const [key, value] of Object.entries(part.retired ?? {})) {
      if (Object.hasOwn(retired, key)) throw new OperatorError(`${path}: retired.${key} is defined twice`);
      retired[key] = value;
    }
  }
  return { upstreams, models, smart, vision, defaults, retired };
}

function readFile(path: string): Partial<CatalogFile> {
  const parsed = parseFile(path, readText(path));
  const { value, error } = file.validate(parsed);
  if (error) throw new OperatorError(`${path}: ${error.details.map((detail) => detail.message).join('; ')}`);
  return value;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** V8 names the place of a mistake or quotes the text around it, where a key may stand: a quote becomes a line. */
function parseFile(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [, what, quote] =
      /^(.*), (?:\.{3})?"(.*)"(?:\.{3})? is not valid JSON$/s.exec((error as Error).message) ?? [];
    if (quote === undefined) throw new OperatorError(`${path}: ${(error as Error).message}`);
    const line = text.slice(0, text.indexOf(quote) + quote.length / 2).split('\n').length;
    throw new OperatorError(`${path}: ${what} in JSON near line ${line}`);
  }
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Replaces `${NAME}` in every string of a value; `missing` collects the names that are unset or empty. */
export function substitute(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
  missing: Set<string>,
): unknown {
  if (typeof value === 'string') {
    return value.replace(VARIABLE, (_match, variable: string) => {
      if (!env[variable]) missing.add(variable);
      return env[variable] ?? '';
    });
  }
  if (Array.isArray(value)) return value.map((item) => substitute(item, env, missing));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substitute(item, env, missing)]));
}

/** The names of all variables that a value mentions. */
export function variablesOf(value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  substitute(value, {}, names);
  return names;
}

/** A price that the schema has accepted. */
export function priceOf(decimal: string): Micro {
  return parseRub(decimal) as Micro;
}
