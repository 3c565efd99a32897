// What the host does for images, the same for every upstream: types only.
import type { AccountSettings } from './account.ts';
import type { ImageCall, ImageResult, MediaSource } from './call.ts';
import type { ImageInput } from './content.ts';
import type { JobLooking, JobWire } from './job.ts';
import type { Base64, JsonObject } from './request.ts';

export interface HostImage {
  /**
   * All of `image` for most upstreams that make images as jobs: submits once, polls until the job ends, and returns
   * its images.
   */
  jobs<Settings extends Pick<AccountSettings, 'baseUrl'>>(
    settings: Settings,
    wire: ImageWire<Settings>,
  ): (call: ImageCall, signal: AbortSignal) => Promise<ImageResult>;
  /**
   * A model's input, made from a template: JSON in which `{prompt}`, `{width}`, `{height}`, `{size}`, `{aspect}`,
   * `{shape}` (a size, or else an aspect), `{image}` (the first image) and `{images}`, each alone in a string, stand
   * for what the call has. A field whose value the call does not have is left out. Images are data URLs.
   */
  fill(call: ImageCall, template: JsonObject, how: FillOptions): JsonObject;
  /**
   * Results as an upstream names them: a URL, a data URL, an object with one as `url`, or a list of any of these or an
   * object that has them under other names.
   */
  sourcesOf(value: unknown): readonly MediaSource[];
  /** The nearest of a model's aspects (`16:9`) to what the call asks for; undefined if it asks for none. */
  aspectOf(call: ImageCall, aspects: readonly string[]): string | undefined;
  /** `data:image/png;base64,…`, for a `JsonBody`. */
  dataUrl(image: ImageInput, base64: Base64): string;
}

/** How one upstream is asked for images, and what it answers. */
export interface ImageWire<Settings = unknown> extends JobWire<ImageCall, Settings> {
  /** The first polling interval. */
  readonly everyMs: number;
  /** Whether the reply to the submission, or to a poll, is of a job that has ended, well or not. */
  isEnded(job: JsonObject): boolean;
  /** The images of an ended job. Throws why there are none. */
  sourcesOf(job: JsonObject, looking: JobLooking): readonly MediaSource[] | Promise<readonly MediaSource[]>;
}

export interface FillOptions {
  /** What the model calls a size (`1792x1024`) or an aspect (`16:9`). */
  readonly sizeMap: Readonly<Record<string, string>>;
  readonly base64: Base64;
}
