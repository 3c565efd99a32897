// Replaces parts of a model's price by others; the rest stays.
import type { Micro } from '../money/money.ts';
import { type PriceVector, type TextPrice, TOKEN_RATES, type TokenRates, type VideoPrice } from '../money/price.ts';
import type { WrittenPart } from './customer-lists.ts';
import type { ModelType } from './model.ts';
import { readPrice } from './price.ts';

/** Returns a text for the operator if the price of such a model has no such part. */
export function overridePrice(type: ModelType, price: PriceVector, part: WrittenPart): PriceVector | string {
  const known: readonly string[] = listParts(price);
  const foreign = Object.keys(part).find((name) => !known.includes(name));
  if (foreign !== undefined) {
    return `${foreign} is not part of the price of a model of type ${type}, which has ${known.join(', ')}`;
  }
  if ('unit' in price)
    return price.unit === 'second' ? overrideSecond(price, part) : { ...price, ...readRequest(part) };
  if ('request' in price) return { ...price, ...readRequest(part) };
  return 'output' in price ? overrideText(price, part) : { ...price, ...readRates(part) };
}

function listParts(price: PriceVector): readonly (keyof WrittenPart)[] {
  if ('unit' in price) return [price.unit];
  if ('request' in price) return ['request'];
  return 'output' in price ? [...TOKEN_RATES, 'bands'] : ['input'];
}

function readRequest({ request }: WrittenPart): { readonly request?: Micro } {
  return request === undefined ? {} : { request: readPrice(request) };
}

function overrideText(price: TextPrice, { bands: written = [], ...rates }: WrittenPart): TextPrice | string {
  const { bands, ...own } = price;
  const foreign = written.find(({ above }) => !bands?.some((band) => band.above === above));
  if (foreign) return `bands: the model has no prices for prompts above ${foreign.above} tokens`;
  const changed = bands?.map((band) => ({ ...band, ...readRates(written.find(({ above }) => above === band.above)) }));
  return { ...own, ...readRates(rates), ...(changed && { bands: changed }) };
}

function readRates(written: WrittenPart = {}): Partial<TokenRates> {
  const rates = TOKEN_RATES.flatMap((kind) => {
    const decimal = written[kind];
    return decimal === undefined ? [] : [[kind, readPrice(decimal)] as const];
  });
  return Object.fromEntries(rates);
}

function overrideSecond(
  price: Extract<VideoPrice, { unit: 'second' }>,
  { second: written }: WrittenPart,
): VideoPrice | string {
  if (written === undefined) return price;
  if ('second' in price) {
    if (typeof written === 'string') return { ...price, second: readPrice(written) };
    return 'second: the model has one price for all resolutions';
  }
  const labels = [...price.byResolution.keys()];
  const each = typeof written === 'string' ? Object.fromEntries(labels.map((label) => [label, written])) : written;
  const foreign = Object.keys(each).find((label) => !price.byResolution.has(label));
  if (foreign !== undefined) return `second: the model has no price for ${foreign}`;
  const read = Object.entries(each).map(([label, decimal]) => [label, readPrice(decimal)] as const);
  return { ...price, byResolution: new Map([...price.byResolution, ...read]) };
}
