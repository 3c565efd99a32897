// What a request for a video comes to with its model: how long, how large, what is sent upstream, and the price of that.
import { ASPECTS, nearestAspect, ratioOf } from '../catalog/aspect.ts';
import type { VideoModel } from '../catalog/model.ts';
import { nearestResolution, RESOLUTION_DEFAULT, shortSideOf } from '../catalog/resolution.ts';
import { fault } from '../faults.ts';
import type { Micro } from '../money/money.ts';
import type { Size, VideoCall } from '../plugin/contract.ts';
import { SECONDS, type VideoRequest } from './request.ts';

export interface VideoTerms {
  /** Of the size the client asked for, or of what is sent upstream. */
  readonly size: Size;
  /** As the client named it. */
  readonly resolution: string | null;
  /** What is asked of an upstream, and paid for. */
  readonly asked: Pick<VideoCall, 'seconds' | 'size' | 'aspect' | 'resolution'>;
  readonly price: VideoQuote;
  /** The price as JSON, as the charge keeps it. */
  readonly prices: string;
}

export interface VideoQuote {
  /** Of the whole video. */
  readonly amount: Micro;
  readonly unit: 'second' | 'request';
  readonly unitPrice: Micro;
  /** The resolution that the unit's price is for; null where all have the same. */
  readonly option: string | null;
}

type Asked = Pick<VideoRequest, 'seconds' | 'size' | 'aspect' | 'resolution'>;

/** Throws 400 faults that name what the model sells. */
export function termsOf(model: VideoModel, request: Asked): VideoTerms {
  const seconds = secondsOf(model, request.seconds);
  const label = labelOf(model, request);
  const aspect = aspectOf(model, request);
  const pixels = label === null ? (request.size ?? pixelsOf(RESOLUTION_DEFAULT, aspect)) : pixelsOf(label, aspect);
  const { prices, ...price } = quote(model, seconds, label);
  return {
    size: request.size ?? pixels,
    resolution: request.resolution ?? null,
    asked: { seconds, size: pixels, aspect, resolution: label },
    price,
    prices: JSON.stringify(prices),
  };
}

/** What a model lets its client choose from; where there is nothing to choose the list is empty. */
export interface VideoOffers {
  readonly seconds: readonly number[];
  readonly resolutions: readonly string[];
  readonly aspects: readonly string[];
}

export function offersOf(model: VideoModel): VideoOffers {
  return { seconds: secondsSold(model), resolutions: labelsOf(model), aspects: model.aspects ?? ASPECTS };
}

function secondsSold({ seconds }: VideoModel): readonly number[] {
  const { least, most } = SECONDS;
  return seconds ?? Array.from({ length: most - least + 1 }, (_, at) => least + at);
}

function secondsOf(model: VideoModel, wanted: number | undefined): number {
  const all = secondsSold(model);
  if (wanted === undefined) return nearest(all, SECONDS.byDefault);
  if (!all.includes(wanted)) throw notSold('seconds', all);
  return wanted;
}

/** The smaller of two that are equally near. */
function nearest(numbers: readonly number[], wanted: number): number {
  const distance = (number: number) => Math.abs(number - wanted);
  return [...numbers].sort((one, other) => distance(one) - distance(other) || one - other)[0] ?? wanted;
}

/** The label that is sent and billed: as asked for, or nearest to the size; null for a model that has none. */
function labelOf(model: VideoModel, { resolution, size }: Asked): string | null {
  const labels = labelsOf(model);
  if (resolution !== undefined) {
    if (!labels.includes(resolution)) throw notSold('resolution', labels);
    return resolution;
  }
  const shortSide = size ? Math.min(size.width, size.height) : shortSideOf(RESOLUTION_DEFAULT);
  return nearestResolution(labels, shortSide) ?? null;
}

/** Those that have prices; with one price for all, those that its routes have words for. */
function labelsOf({ price, routes }: VideoModel): readonly string[] {
  if ('byResolution' in price) return [...price.byResolution.keys()];
  return [...new Set(routes.flatMap(({ options }) => Object.keys(options.resolutions ?? {})))];
}

function aspectOf({ aspects = ASPECTS }: VideoModel, { aspect, size }: Asked): string {
  if (aspect !== undefined && !aspects.includes(aspect)) throw notSold('aspect', aspects);
  // A size wins.
  const shape = size ?? ratioSize(aspect ?? '16:9');
  return nearestAspect(aspects, shape) ?? '16:9';
}

function ratioSize(aspect: string): Size {
  return { width: ratioOf(aspect), height: 1 };
}

/** The shorter side is the label's; the other is even, as codecs want it. */
function pixelsOf(label: string, aspect: string): Size {
  const short = shortSideOf(label);
  const ratio = ratioOf(aspect);
  const long = 2 * Math.round((short * Math.max(ratio, 1 / ratio)) / 2);
  return ratio < 1 ? { width: short, height: long } : { width: long, height: short };
}

function quote({ price }: VideoModel, seconds: number, label: string | null): VideoQuote & { prices: object } {
  if ('request' in price) {
    const { request } = price;
    return { amount: request, unit: 'request', unitPrice: request, option: null, prices: { request: `${request}` } };
  }
  const unit = 'second';
  if ('second' in price) {
    const { second } = price;
    return {
      amount: second * BigInt(seconds),
      unit,
      unitPrice: second,
      option: null,
      prices: { second: `${second}` },
    };
  }
  const option = label ?? '';
  const unitPrice = price.byResolution.get(option) as Micro;
  return {
    amount: unitPrice * BigInt(seconds),
    unit,
    unitPrice,
    option,
    prices: { second: { [option]: `${unitPrice}` } },
  };
}

function notSold(field: string, sold: readonly (string | number)[]) {
  const names = sold.join(', ');
  const hint =
    sold.length === 0
      ? 'this model has none to choose from'
      : `this model offers ${sold.length > 1 ? 'only ' : ''}${names}`;
  return fault('invalid_field', { field, hint });
}
