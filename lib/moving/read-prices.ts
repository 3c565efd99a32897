// What another gateway's store says of the prices of models: as ratios to a dollar price, or in dollars a call.
import { OperatorError } from '../base/operator-error.ts';
import { type Decimal, multiply, parseDecimal } from './amounts.ts';
import type { Program, Source, SourcePrice } from './source.ts';
import { getObject, getText, parseObject, type Row } from './tables.ts';

interface PriceSources {
  readonly program: Program;
  readonly options: ReadonlyMap<string, string>;
  /** A table that only one of the programs has. */
  readonly prices: readonly Row[];
}

export function createPriceFinder({ program, options, prices }: PriceSources): Source['findPrice'] {
  return program === 'one-hub' ? findInTable(prices) : findInOptions(options);
}

/** A price of ratio 1 a call. */
const DOLLARS_PER_CALL: Decimal = { units: 2n, scale: 3 };

function findInTable(rows: readonly Row[]): Source['findPrice'] {
  const prices = new Map(rows.map((row) => [getText(row, 'model'), readPrice(row)]));
  return (model) => prices.get(model);
}

function readPrice(row: Row): SourcePrice {
  const where = `the price of ${getText(row, 'model')}`;
  const input = need(getText(row, 'input'), where);
  if (getText(row, 'type') === 'times') return { per: 'call', dollars: multiply(input, DOLLARS_PER_CALL) };
  const extra = getObject(row, 'extra_ratios', where);
  const read = (...names: readonly string[]) => {
    const stated = names.map((name) => extra[name]).find((value) => value !== undefined && value !== null);
    return stated === undefined ? undefined : multiply(input, need(String(stated), where));
  };
  return {
    per: 'token',
    input,
    output: need(getText(row, 'output'), where),
    audio: read('input_audio_tokens'),
    cacheRead: read('cached_read_tokens', 'cached_tokens'),
    cacheWrite: read('cached_write_tokens'),
  };
}

function findInOptions(options: ReadonlyMap<string, string>): Source['findPrice'] {
  const read = (name: string) => {
    const text = options.get(name);
    const entries = text ? Object.entries(parseObject(text, `the option ${name}`)) : [];
    return new Map(entries.map(([model, value]) => [model, need(String(value), `the option ${name}: ${model}`)]));
  };
  const ratios = read('ModelRatio');
  const completions = read('CompletionRatio');
  const calls = read('ModelPrice');
  const audios = read('AudioRatio');
  const cacheReads = read('CacheRatio');
  const cacheWrites = read('CreateCacheRatio');
  return (model, type) => {
    // Some stores have prices of a model for one type of channel.
    const find = (from: ReadonlyMap<string, Decimal>) => from.get(`${model}(${type})`) ?? from.get(model);
    const dollars = find(calls);
    if (dollars) return { per: 'call', dollars };
    const input = find(ratios);
    if (!input) return undefined;
    const times = (factor: Decimal | undefined) => factor && multiply(input, factor);
    return {
      per: 'token',
      input,
      output: times(find(completions)),
      audio: times(find(audios)),
      cacheRead: times(find(cacheReads)),
      cacheWrite: times(find(cacheWrites)),
    };
  };
}

function need(text: string, where: string): Decimal {
  const value = parseDecimal(text);
  if (!value || value.units < 0n)
    throw new OperatorError(`${where}: not a number of zero or more: ${JSON.stringify(text)}`);
  return value;
}
