// What a video request means for its model: length, size, what is sent upstream, and the price.

import { fault } from '../../base/faults.ts';
import { ASPECTS } from '../../catalog/aspect.ts';
import type { VideoModel } from '../../catalog/model.ts';
import { findNearestResolution, parseShortSide, RESOLUTION_DEFAULT } from '../../catalog/resolution.ts';
import { SECONDS } from '../../catalog/video-lengths.ts';
import type { Micro } from '../../money/money.ts';
import type { Size, VideoCall } from '../../upstream/contract/provider.ts';
import { nearestAspect, parseRatio } from '../../upstream/host/aspects.ts';
import type { VideoRequest } from './request.ts';

export interface VideoTerms {
  /** As the client named it. */
  readonly resolution: string | null;
  /** What the upstream is asked for, unless its route names other pixels, and what is charged. */
  readonly asked: Pick<VideoCall, 'seconds' | 'size' | 'aspect' | 'resolution'>;
  readonly price: VideoQuote;
  /** The price as JSON, as stored with the charge. */
  readonly prices: string;
}

interface VideoQuote {
  /** Of the whole video. */
  readonly amount: Micro;
  readonly unit: 'second' | 'request';
  readonly unitPrice: Micro;
  /** The resolution that the unit price is for; null when all have the same price. */
  readonly option: string | null;
}

/** What the client wants of it. */
type Wish = Pick<VideoRequest, 'seconds' | 'size' | 'aspect' | 'resolution'>;

/** Throws 400 faults that name what the model offers. */
export function computeVideoTerms(model: VideoModel, request: Wish): VideoTerms {
  const seconds = chooseSeconds(model, request.seconds);
  const label = chooseLabel(model, request);
  const aspect = computeAspect(model, request);
  const pixels =
    label === null ? (request.size ?? parsePixels(RESOLUTION_DEFAULT, aspect)) : parsePixels(label, aspect);
  const { prices, ...price } = quote(model, seconds, label);
  return {
    resolution: request.resolution ?? null,
    asked: { seconds, size: pixels, aspect, resolution: label },
    price,
    prices: JSON.stringify({ ...prices, ...(model.list && { list: model.list }) }),
  };
}

/** What a model lets its client choose from; an empty list where there is no choice. */
export interface VideoOffers {
  readonly seconds: readonly number[];
  readonly resolutions: readonly string[];
  readonly aspects: readonly string[];
}

export function listOffers(model: VideoModel): VideoOffers {
  return { seconds: secondsSold(model), resolutions: listLabels(model), aspects: model.aspects ?? ASPECTS };
}

function secondsSold({ seconds }: VideoModel): readonly number[] {
  const { least, most } = SECONDS;
  return seconds ?? Array.from({ length: most - least + 1 }, (_, at) => least + at);
}

function chooseSeconds(model: VideoModel, wanted: number | undefined): number {
  const all = secondsSold(model);
  if (wanted === undefined) return findNearestNumber(all, SECONDS.byDefault);
  if (!all.includes(wanted)) throw notSold('seconds', all);
  return wanted;
}

/** The smaller of two equally near ones. */
function findNearestNumber(numbers: readonly number[], wanted: number): number {
  const distance = (number: number) => Math.abs(number - wanted);
  return [...numbers].sort((one, other) => distance(one) - distance(other) || one - other)[0] ?? wanted;
}

/** The label sent and billed: as requested, or nearest to the size; null for a model without resolutions. */
function chooseLabel(model: VideoModel, { resolution, size }: Wish): string | null {
  const labels = listLabels(model);
  if (resolution !== undefined) {
    if (!labels.includes(resolution)) throw notSold('resolution', labels);
    return resolution;
  }
  const shortSide = size ? Math.min(size.width, size.height) : parseShortSide(RESOLUTION_DEFAULT);
  return findNearestResolution(labels, shortSide) ?? null;
}

/** Those with prices; if all have one price, those that its routes know. */
function listLabels({ price, routes }: VideoModel): readonly string[] {
  if ('byResolution' in price) return [...price.byResolution.keys()];
  return [...new Set(routes.flatMap(({ options }) => Object.keys(options.resolutions ?? {})))];
}

function computeAspect({ aspects = ASPECTS }: VideoModel, { aspect, size }: Wish): string {
  if (aspect !== undefined && !aspects.includes(aspect)) throw notSold('aspect', aspects);
  // `size` wins.
  const ratio = size ? size.width / size.height : parseRatio(aspect ?? '16:9');
  return nearestAspect(aspects, ratio) ?? '16:9';
}

/** The shorter side is the label's; the other is rounded to an even number, as codecs need. */
function parsePixels(label: string, aspect: string): Size {
  const short = parseShortSide(label);
  const ratio = parseRatio(aspect);
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
