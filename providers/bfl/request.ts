// Settings of Black Forest Labs, and the request one call becomes: models differ in how they take a size.
import type { AccountSettings, Base64, ImageCall, ImageInput, Size } from '../../lib/upstream/contract/provider.ts';

export interface Settings extends AccountSettings {
  /** Additional origins for polling: a submission names the one that knows the task. */
  readonly pollingUrl: string | readonly string[];
  /** What to ask for instead of a size (`1792x1024`) or an aspect (`16:9`): either of the two. */
  readonly sizeMap: Readonly<Record<string, string>>;
  /** Further fields of the request, such as `safety_tolerance`. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** The vendor's regions. A region missing here could not be polled, and its images would be paid for and lost. */
const REGIONS = ['eu', 'us', 'eu1', 'us1', 'eu2', 'us2', 'eu3', 'us3', 'eu4', 'us4'];

export const POLLING_ORIGINS: readonly string[] = REGIONS.map((region) => `https://api.${region}.bfl.ai`);

export function buildBflBody(call: ImageCall, { sizeMap, input }: Settings, base64: Base64): object {
  const asked = call.size ? `${call.size.width}x${call.size.height}` : call.aspect;
  const shape = asked === undefined ? {} : describeShape(call.model, sizeMap[asked] ?? asked);
  return { prompt: call.prompt, ...shape, ...nameInputImages(call.images, base64), ...input };
}

/** These take an aspect, all others width and height. */
const TAKES_ASPECT = /kontext|ultra/;

function describeShape(model: string, asked: string): object {
  const [width = 1, height = 1] = asked.split(/[x:]/).map(Number);
  if (TAKES_ASPECT.test(model)) {
    const divisor = greatestCommonDivisor(width, height);
    return { aspect_ratio: `${width / divisor}:${height / divisor}` };
  }
  const limits = /^flux-2/.test(model) ? { step: 16, side: 4096 } : { step: 32, side: 1440 };
  const scale = asked.includes(':') ? Math.sqrt(MEGAPIXEL / (width * height)) : 1;
  return bound({ width: width * scale, height: height * scale }, limits);
}

const MEGAPIXEL = 1024 * 1024;

function bound({ width, height }: Size, { step, side }: { readonly step: number; readonly side: number }): Size {
  const scale = Math.min(1, side / Math.max(width, height));
  const round = (pixels: number) => Math.max(step, Math.round((pixels * scale) / step) * step);
  return { width: round(width), height: round(height) };
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}

/** `input_image`, `input_image_2` and so on. */
function nameInputImages(images: readonly ImageInput[], base64: Base64): Record<string, string> {
  const fields = images.map(({ bytes }, at) => [at === 0 ? 'input_image' : `input_image_${at + 1}`, base64(bytes)]);
  return Object.fromEntries(fields);
}
