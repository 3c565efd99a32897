// The resolution of a video as its upstream spells it: the route's `resolutions`, turned to the call's orientation.
import { isRecord } from '../../base/record.ts';
import type { Size, VideoCall } from '../contract/provider.ts';
import type { JsonObject } from '../contract/request.ts';

/** `HostVideo.resolution`. */
export function resolveResolution(
  call: Pick<VideoCall, 'resolution' | 'size' | 'options'>,
  field: string,
  otherwise?: string,
): JsonObject {
  const { resolution, size, options } = call;
  const named = resolution === null ? undefined : findResolutionEntry(options.resolutions, resolution);
  const fields = isRecord(named) ? named : { [field]: typeof named === 'string' ? named : otherwise };
  const told = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(told.map(([name, value]) => [name, orientPixels(value, size)]));
}

/** The pixels that the upstream is asked for: its own where the route's `resolutions` name some. */
export function findAskedSize(call: Pick<VideoCall, 'resolution' | 'size' | 'options'>): Size {
  for (const value of Object.values(resolveResolution(call, 'size'))) {
    const [, width, , height] = (typeof value === 'string' && PIXELS.exec(value)) || [];
    if (width !== undefined) return { width: Number(width), height: Number(height) };
  }
  return call.size;
}

function findResolutionEntry(resolutions: unknown, label: string): unknown {
  return isRecord(resolutions) && Object.hasOwn(resolutions, label) ? resolutions[label] : undefined;
}

const PIXELS = /^(\d{3,})(\D)(\d{3,})$/;

/** A table of resolutions has one line for both orientations. */
function orientPixels(value: unknown, { width, height }: Size): unknown {
  const [, one = '', between = '', other = ''] = (typeof value === 'string' && PIXELS.exec(value)) || [];
  const isOther = (Number(one) - Number(other)) * (width - height) < 0;
  return isOther ? `${other}${between}${one}` : value;
}
