// What the host does for pictures, the same for every upstream: types only.
import type { AccountSettings } from './account-contract.ts';
import type { ImageCall, ImageResult, MediaSource } from './call-contract.ts';
import type { Picture } from './content-contract.ts';
import type { JobLooking, JobWire } from './job-contract.ts';
import type { Base64, JsonObject } from './request-contract.ts';

export interface HostImage {
  /**
   * All of `image` for most upstreams that make pictures as jobs: it submits once, looks until the job ends, and takes
   * the pictures of the end.
   */
  jobs<Settings extends Pick<AccountSettings, 'baseUrl'>>(
    settings: Settings,
    wire: ImageWire<Settings>,
  ): (call: ImageCall, signal: AbortSignal) => Promise<ImageResult>;
  /**
   * The input of a model, made from a template: JSON in which `{prompt}`, `{width}`, `{height}`, `{size}`, `{aspect}`,
   * `{shape}` (a size, or else an aspect), `{image}` (the first picture) and `{images}`, each alone in a string, stand for
   * what the call has. A field whose value is one that the call has not is left out. Pictures are data URLs.
   */
  fill(call: ImageCall, template: JsonObject, how: FillOptions): JsonObject;
  /** Results where an upstream names them: a URL, a data URL, an object with one as `url`, or a list of any of these. */
  sourcesOf(value: unknown): readonly MediaSource[];
  /** The nearest to what the call asks for, of the aspects (`16:9`) that a model draws; undefined where it asks for none. */
  aspectOf(call: ImageCall, aspects: readonly string[]): string | undefined;
  /** `data:image/png;base64,…`, for a `JsonBody`. */
  dataUrl(picture: Picture, base64: Base64): string;
}

/** How one upstream is asked for pictures, and what it answers. */
export interface ImageWire<Settings = unknown> extends JobWire<ImageCall, Settings> {
  /** The first interval between two looks. */
  readonly everyMs: number;
  /** Where pictures come inline. Default 1 MiB. */
  readonly replyBytesMax?: number;
  /** Whether the reply to the submission, or to a look, is of a job that ended, well or not. */
  isEnded(job: JsonObject): boolean;
  /** The pictures of a job that ended. Throws why there are none. */
  sourcesOf(job: JsonObject, looking: JobLooking): readonly MediaSource[] | Promise<readonly MediaSource[]>;
}

export interface FillOptions {
  /** What the model calls a size (`1792x1024`) or an aspect (`16:9`). */
  readonly sizeMap: Readonly<Record<string, string>>;
  readonly base64: Base64;
}
