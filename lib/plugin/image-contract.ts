// What the host does for pictures, the same for every upstream: types only.
import type { ImageCall, MediaSource } from './call-contract.ts';
import type { Base64, JsonObject } from './request-contract.ts';

export interface HostImage {
  /**
   * The input of a model, made from a template: JSON in which `{prompt}`, `{width}`, `{height}`, `{size}`, `{aspect}`,
   * `{shape}` (a size, or else an aspect), `{image}` (the first picture) and `{images}`, each alone in a string, stand for
   * what the call has. A field whose value is one that the call has not is left out. Pictures are data URLs.
   */
  fill(call: ImageCall, template: JsonObject, how: FillOptions): JsonObject;
  /** Results where an upstream names them: a URL, a data URL, an object with one as `url`, or a list of any of these. */
  sourcesOf(value: unknown): readonly MediaSource[];
}

export interface FillOptions {
  /** What the model calls a size (`1792x1024`) or an aspect (`16:9`). */
  readonly sizeMap: Readonly<Record<string, string>>;
  readonly base64: Base64;
}
