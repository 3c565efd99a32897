// What a text call holds: its estimated tokens at the dearest prices that may apply to them.
import type { TextModel } from '../../catalog/model.ts';
import { capOutput } from '../../catalog/text-facts.ts';
import type { Micro } from '../../money/money.ts';
import { type CacheWrite, listRates, textHold } from '../../money/price.ts';
import { countMost } from './estimate.ts';
import type { InputEstimate, RequestContent, TextRequest } from './request.ts';

interface HoldBasis extends Pick<InputEstimate, 'tokensHeld' | 'audioTokens'> {
  readonly maxTokens: number;
  /** Absent: the call writes nothing to a cache. */
  readonly writes?: readonly CacheWrite[];
}

export function computeHold(
  model: Pick<TextModel, 'price' | 'maxOutput'>,
  { tokensHeld: input, audioTokens: audio, maxTokens, ...call }: HoldBasis,
): Micro {
  const output = capOutput(model, maxTokens);
  return textHold(model.price, { ...call, maxTokens: output, input, audio, inputMost: countMost(input) });
}

/**
 * What a call may write to a cache. A vendor that takes markers writes only where the request has some. Where no route of
 * a model takes any, and the catalog has a price of writing all the same, the vendor writes by itself.
 */
export function listCacheWrites({ price, routes, cache }: TextModel, request: TextRequest): readonly CacheWrite[] {
  const rates = listRates(price);
  const priced = WRITES.filter((name) => rates.some((rate) => rate[name] !== undefined));
  if (priced.length === 0 || !routes.some(({ provider }) => provider.cacheMarkers)) return priced;
  const ttls = new Set(listMarkers(request));
  // Where the client sets no markers, the gateway may: for five minutes.
  if (ttls.size === 0 && cache !== 'auto') return [];
  return priced.filter((name) => name === 'cacheWrite' || ttls.has('1h'));
}

const WRITES: readonly CacheWrite[] = ['cacheWrite', 'cacheWrite1h'];

function* listMarkers({ system = [], tools, messages }: TextRequest): Iterable<string> {
  const content = messages.flatMap((message) => message.content);
  const inner = content.flatMap((part): readonly RequestContent[] => (part.type === 'tool-result' ? part.content : []));
  for (const part of [...system, ...(tools?.list ?? []), ...content, ...inner]) {
    if ('cache' in part && part.cache) yield part.cache.ttl;
  }
}
