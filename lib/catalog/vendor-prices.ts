// Reads public price lists of language models: what their vendors charge, by the host of an upstream and its own model
// names.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../base/operator-error.ts';
import { isRecord } from '../base/record.ts';
import { AMOUNT_MAX } from '../money/money.ts';
import type { PriceBandEntry } from './price.ts';

/** What a list states of a model: decimal strings in dollars per 1M tokens, with at most 6 decimals, rounded up. */
export interface ListedPrices {
  readonly input: string;
  readonly output: string;
  readonly audio?: string;
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
  /** Absent: the list states none. */
  readonly bands?: readonly PriceBandEntry[];
}

export interface VendorPrices {
  /** Undefined if the list does not have the vendor or the model. */
  find(host: string, model: string): ListedPrices | undefined;
}

/** A shipped description of a format. */
type Format =
  /** An object of vendors; `vendors` maps the host of an API to the vendor's key. Numbers per 1M tokens. */
  | { readonly shape: 'vendors'; readonly source: string; readonly vendors: Readonly<Record<string, string>> }
  /** A list `data` of models that one vendor resells. Decimal strings per token. */
  | { readonly shape: 'per-token'; readonly source: string; readonly hosts: readonly string[] };

const FORMATS = fileURLToPath(new URL('../../catalog/price-lists/', import.meta.url));
const SUFFIX = '.json';

/** The names of the formats that can be read. */
export function listVendorPriceFormats(): readonly string[] {
  const files = readdirSync(FORMATS).filter((name) => name.endsWith(SUFFIX));
  return files.map((name) => name.slice(0, -SUFFIX.length)).sort();
}

/** Throws an `OperatorError` for an unknown format and for a file that is not such a list. */
export function readVendorPrices(format: string, file: string): VendorPrices {
  if (!listVendorPriceFormats().includes(format)) {
    throw new OperatorError(`${format}: unknown format; known are ${listVendorPriceFormats().join(', ')}`);
  }
  const known = JSON.parse(readFileSync(`${FORMATS}${format}${SUFFIX}`, 'utf8')) as Format;
  const list = parseList(file);
  const refuse = (what: string) => new OperatorError(`${file}: ${what}; it is not the list of ${known.source}`);
  return known.shape === 'vendors' ? readVendors(list, known.vendors, refuse) : readModels(list, known.hosts, refuse);
}

type Refuse = (what: string) => OperatorError;
type Fields = Readonly<Record<string, unknown>>;

function parseList(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(`${file}: ${code === undefined ? 'is not JSON' : `cannot be read (${code})`}`);
  }
}

function readVendors(list: unknown, keys: Readonly<Record<string, string>>, refuse: Refuse): VendorPrices {
  if (!isRecord(list)) throw refuse('has no vendors');
  const vendors = Object.entries(list).filter((entry): entry is [string, Fields] => isRecord(entry[1]));
  if (!vendors.some(([, { models }]) => isRecord(models))) throw refuse('no vendor in it has models');
  return {
    find(host, model) {
      const key = Object.hasOwn(keys, host) ? keys[host] : undefined;
      const vendor = vendors.find(([name, { api }]) => name === key || (key === undefined && readHost(api) === host));
      const models = vendor?.[1].models;
      const entry = isRecord(models) && Object.hasOwn(models, model) ? models[model] : undefined;
      if (!isRecord(entry) || !isRecord(entry.cost)) return undefined;
      return readCostPerMillion(entry.cost, `${vendor?.[0]} ${model}`, refuse);
    },
  };
}

function readCostPerMillion(cost: Fields, name: string, refuse: Refuse): ListedPrices {
  const bad = (field: string) => refuse(`${name}: cost.${field} is not a price`);
  const read = (from: Fields, field: string) => readAmount(from[field], 0, () => bad(field));
  const need = (from: Fields, field: string) => {
    const amount = read(from, field);
    if (amount === undefined) throw bad(field);
    return amount;
  };
  const readRates = (from: Fields) => ({
    input: need(from, 'input'),
    output: need(from, 'output'),
    ...omitUndefined({
      audio: omitZero(read(from, 'input_audio')),
      cacheRead: read(from, 'cache_read'),
      cacheWrite: read(from, 'cache_write'),
    }),
  });
  const tiers = Array.isArray(cost.tiers) ? cost.tiers.filter(isRecord) : [];
  const bands = tiers.flatMap((tier) => {
    const { type = 'context', size } = isRecord(tier.tier) ? tier.tier : {};
    if (type !== 'context' || !Number.isSafeInteger(size) || (size as number) < 1) return [];
    return [{ above: size as number, ...readRates(tier) }];
  });
  bands.sort((one, other) => one.above - other.above);
  return { ...readRates(cost), ...(bands.length > 0 && { bands }) };
}

function readModels(list: unknown, hosts: readonly string[], refuse: Refuse): VendorPrices {
  const { data } = isRecord(list) ? list : {};
  if (!Array.isArray(data) || !data.some((entry) => isRecord(entry) && isRecord(entry.pricing)))
    throw refuse('has no list of models with their pricing');
  const models = new Map(data.filter(isRecord).map((entry) => [entry.id, entry.pricing]));
  return {
    find(host, model) {
      const pricing = hosts.includes(host) ? models.get(model) : undefined;
      if (!isRecord(pricing)) return undefined;
      const read = (field: string) => {
        // A router of the vendor's own has a price of -1: it is that of the model it chooses.
        if (pricing[field] === '-1') return undefined;
        return readAmount(pricing[field], 6, () => refuse(`${model}: pricing.${field} is not a price`));
      };
      const input = read('prompt');
      const output = read('completion');
      if (input === undefined || output === undefined) return undefined;
      const audio = omitZero(read('audio'));
      const cacheRead = read('input_cache_read');
      const cacheWrite = read('input_cache_write');
      return { input, output, ...omitUndefined({ audio, cacheRead, cacheWrite }) };
    },
  };
}

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;
const MICRO_DIGITS = 6;
/** No list has a price of more digits. */
const DIGITS_MAX = 40;

/** Reads a number, or a decimal string, times ten to the power of `shift`; undefined if it is absent. */
function readAmount(value: unknown, shift: number, refuse: () => OperatorError): string | undefined {
  if (value === undefined || value === null) return undefined;
  const match = DECIMAL.exec(String(value));
  if (!match || (typeof value !== 'number' && typeof value !== 'string')) throw refuse();
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const places = fraction.length - shift - Number(exponent) - MICRO_DIGITS;
  if (whole.length + fraction.length + Math.abs(places) > DIGITS_MAX) throw refuse();
  const digits = BigInt(whole + fraction);
  const under = 10n ** BigInt(Math.max(0, places));
  const micro = places < 0 ? digits * 10n ** BigInt(-places) : (digits + under - 1n) / under;
  if (micro > AMOUNT_MAX) throw refuse();
  return formatMicro(micro);
}

function formatMicro(micro: bigint): string {
  const fraction = `${micro % 1_000_000n}`.padStart(MICRO_DIGITS, '0').replace(/0+$/, '');
  return `${micro / 1_000_000n}${fraction && `.${fraction}`}`;
}

function readHost(api: unknown): string | undefined {
  return typeof api === 'string' && URL.canParse(api) ? new URL(api).hostname : undefined;
}

/** Lists write zero for models that take no audio. */
function omitZero(amount: string | undefined): string | undefined {
  return amount === '0' ? undefined : amount;
}

function omitUndefined<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
