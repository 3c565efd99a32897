// The input of a model, made from the template of its route: every model has its own names.
import type { AccountSettings, Base64, ImageCall, JsonObject, VideoCall } from '../../lib/plugin/contract.ts';

export interface Settings extends AccountSettings {
  /** What a model calls a size (`1792x1024`) or an aspect (`16:9`): `{size}`, `{aspect}` and `{shape}` in the template. */
  readonly sizeMap: Readonly<Record<string, string>>;
  /**
   * JSON in which `{prompt}`, `{width}`, `{height}`, `{size}`, `{aspect}`, `{shape}` (a size, or else an aspect),
   * `{image}` (the first) and `{images}` stand for what the call has; a field whose value is one that the call has not is
   * left out. Of a video there are `{seconds}` and `{resolution}` instead of pictures' own.
   */
  readonly input?: Readonly<Record<string, unknown>>;
}

const TEMPLATE = {
  prompt: '{prompt}',
  width: '{width}',
  height: '{height}',
  aspect_ratio: '{aspect}',
  input_images: '{images}',
};

export function fillTemplate(call: ImageCall, { input = TEMPLATE, sizeMap }: Settings, base64: Base64): object {
  return (fill(input, valuesOf(call, sizeMap, base64)) ?? {}) as object;
}

const VIDEO_TEMPLATE = {
  prompt: '{prompt}',
  duration: '{seconds}',
  aspect_ratio: '{aspect}',
  resolution: '{resolution}',
  image: '{image}',
};

/** `spelled`: the resolution in the words of the route, in a field of that name, or fields of their own. */
export function fillVideo(call: VideoCall, { input = VIDEO_TEMPLATE, sizeMap }: Settings, spelled: JsonObject) {
  const { prompt, seconds, size, aspect, image } = call;
  const { resolution, ...own } = spelled;
  return (base64: Base64): object => {
    const first = image && `data:${image.mediaType};base64,${base64(image.bytes)}`;
    const values = { prompt, seconds, ...size, aspect: sizeMap[aspect] ?? aspect, resolution, image: first };
    return { ...(fill(input, values) as object), ...own };
  };
}

type Values = Readonly<Record<string, unknown>>;

function valuesOf({ prompt, size, aspect, images }: ImageCall, sizeMap: Settings['sizeMap'], base64: Base64): Values {
  const named = (shape: string | undefined) => shape && (sizeMap[shape] ?? shape);
  const asked = size && `${size.width}x${size.height}`;
  const urls = images.map(({ mediaType, bytes }) => `data:${mediaType};base64,${base64(bytes)}`);
  return {
    prompt,
    width: size?.width,
    height: size?.height,
    size: named(asked),
    aspect: named(aspect),
    shape: named(asked ?? aspect),
    image: urls[0],
    images: urls.length > 0 ? urls : undefined,
  };
}

/** Undefined where nothing is left. */
function fill(template: unknown, values: Values): unknown {
  if (typeof template === 'string') {
    const name = /^\{(\w+)\}$/.exec(template)?.[1];
    return name !== undefined && name in values ? values[name] : template;
  }
  if (Array.isArray(template))
    return template.map((entry) => fill(entry, values)).filter((entry) => entry !== undefined);
  if (typeof template !== 'object' || template === null) return template;
  const filled = Object.entries(template).map(([name, value]) => [name, fill(value, values)] as const);
  const kept = filled.filter(([, value]) => value !== undefined);
  return kept.length > 0 || filled.length === 0 ? Object.fromEntries(kept) : undefined;
}
