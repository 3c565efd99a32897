// Makes a model's input from a template: every model has its own names for the same things.
import type { ImageCall, VideoCall } from '../contract/call.ts';
import type { FillOptions, HostImage } from '../contract/image.ts';
import type { JsonObject } from '../contract/request.ts';
import type { HostVideo, VideoFillOptions } from '../contract/video.ts';
import { createDataUrl } from './data-url.ts';
import { resolveResolution } from './resolutions.ts';

/** `HostImage.fill`. */
export const fillForImage: HostImage['fill'] = (call, template, how) =>
  fillWith(template, createImageValues(call, how));

/** `HostVideo.fill`. */
export const fillForVideo: HostVideo['fill'] = (call, template, how) => {
  const { resolution, ...own } = resolveResolution(call, 'resolution', call.resolution ?? undefined);
  return { ...fillWith(template, { ...createVideoValues(call, how), resolution }), ...own };
};

function createVideoValues(call: VideoCall, { sizeMap, base64, isAspectOfImage }: VideoFillOptions): JsonObject {
  const { prompt, seconds, size, aspect, image } = call;
  return {
    prompt,
    seconds,
    duration: String(seconds),
    ...size,
    aspect: image && isAspectOfImage ? undefined : (sizeMap[aspect] ?? aspect),
    image: image && createDataUrl(image, base64),
  };
}

function createImageValues({ prompt, size, aspect, images }: ImageCall, { sizeMap, base64 }: FillOptions): JsonObject {
  const named = (shape: string | undefined) => shape && (sizeMap[shape] ?? shape);
  const asked = size && `${size.width}x${size.height}`;
  const urls = images.map((image) => createDataUrl(image, base64));
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

function fillWith(template: JsonObject, values: JsonObject): JsonObject {
  return (fill(template, values) ?? {}) as JsonObject;
}

/** Undefined if nothing is left. */
function fill(template: unknown, values: JsonObject): unknown {
  if (typeof template === 'string') {
    const name = /^\{(\w+)\}$/.exec(template)?.[1];
    return name !== undefined && Object.hasOwn(values, name) ? values[name] : template;
  }
  if (Array.isArray(template))
    return template.map((entry) => fill(entry, values)).filter((entry) => entry !== undefined);
  if (typeof template !== 'object' || template === null) return template;
  const filled = Object.entries(template).map(([name, value]) => [name, fill(value, values)] as const);
  const kept = filled.filter(([, value]) => value !== undefined);
  return kept.length > 0 || filled.length === 0 ? Object.fromEntries(kept) : undefined;
}
