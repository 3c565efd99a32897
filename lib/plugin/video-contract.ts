// Videos made as jobs: what a plugin does, and what the host does for all of them alike. Types only.
import type { AccountSettings } from './account-contract.ts';
import type { MediaSource, VideoCall, VideoRef, VideoState } from './call-contract.ts';
import type { Picture } from './content-contract.ts';
import type { FillOptions } from './image-contract.ts';
import type { JobLooking, JobRef, JobSubmission, JobWire } from './job-contract.ts';
import type { Base64, HostRequest, JsonObject } from './request-contract.ts';

export interface VideoProvider {
  /** Submits a job, once. A fault says that there is none, or that nobody knows: it is never sent again by itself. */
  start(call: VideoCall, signal: AbortSignal): Promise<VideoRef>;
  /**
   * Looks at a job. A fault it throws says nothing about the job, which is then looked at again later; only
   * `status: 'failed'` is the upstream's verdict. A word for the state that nobody knows is `processing`.
   */
  poll(ref: VideoRef, signal: AbortSignal): Promise<VideoState>;
}

export interface HostVideo {
  /** All of `video` for most upstreams: `submit` and `look` with what is the same for every job. */
  jobs<Settings extends Pick<AccountSettings, 'baseUrl'>>(settings: Settings, wire: VideoWire<Settings>): VideoProvider;
  /**
   * Submits a job, once. Throws the fault of a refusal, and of a reply that names no job; one that names a job is taken
   * whatever else it says.
   */
  submit(submission: JobSubmission): Promise<JobRef>;
  /**
   * Looks at a job that `submit` began, and makes its state of what `read` finds. Throws what says nothing about the job.
   * The words for a state are matched whatever their case; one that nobody knows is `processing`, and so are an empty
   * body and a job that is said to be completed but has no result yet. A refusal for the content rules is the job's end.
   */
  look(ref: VideoRef, init: VideoLook, read: (value: JsonObject) => VideoReport): Promise<VideoState>;
  /**
   * The fields by which a request says the resolution: what the route's `resolutions` have for the call's label, an
   * object as it is, a string in `field`; for a label they do not name, `otherwise`. Two numbers of pixels, in whatever
   * order and with any character between, are turned to the shape of the call.
   */
  resolution(call: VideoCall, field: string, otherwise?: string): JsonObject;
  /**
   * The input of a model, made from a template as `HostImage.fill` does it, of `{prompt}`, `{seconds}`, the same as text
   * (`{duration}`), `{width}`, `{height}`, `{aspect}`, `{resolution}` (as the route spells it) and `{image}`.
   */
  fill(call: VideoCall, template: JsonObject, how: VideoFillOptions): JsonObject;
  /** `data:image/png;base64,…`, for a `JsonBody`. */
  dataUrl(picture: Picture, base64: Base64): string;
}

export interface VideoFillOptions extends FillOptions {
  /** A first picture has an aspect already: `{aspect}` is left out beside it. */
  readonly isAspectOfPicture?: boolean;
}

/** How one upstream is asked for a video, and what it reports. */
export interface VideoWire<Settings = unknown> extends JobWire<VideoCall, Settings> {
  read(value: JsonObject, looking: JobLooking): VideoReport;
}

export type VideoLook = Pick<HostRequest, 'headers' | 'auth' | 'signal'>;

/** What a look found, as the upstream has it. */
export interface VideoReport {
  readonly status: unknown;
  /** Of 100, with or without `%`, or of 1. */
  readonly progress?: unknown;
  /** Where the finished video is. */
  readonly url?: unknown;
  /**
   * The finished video where `url` cannot say it: asked for only when the job is completed. A refusal it throws (kind
   * `request`) is the upstream's verdict: some call a job completed that went wrong.
   */
  media?(): Promise<MediaSource | undefined>;
  /** Why it failed. */
  readonly error?: unknown;
}
