// Videos made as jobs: what a plugin does, and what the host does for all of them. Types only.
import type { AccountSettings } from './account.ts';
import type { MediaSource, VideoCall, VideoRef, VideoState } from './call.ts';
import type { ImageInput } from './content.ts';
import type { UpstreamFault } from './fault.ts';
import type { FillOptions } from './image.ts';
import type { JobLooking, JobRef, JobSubmission, JobWire } from './job.ts';
import type { Base64, HostRequest, JsonObject } from './request.ts';

export interface VideoProvider {
  /**
   * Submits a job, once. A fault means that there is none, or that it is unknown: it is never resubmitted
   * automatically.
   */
  start(call: VideoCall, signal: AbortSignal): Promise<VideoRef>;
  /**
   * Polls a job. A fault it throws says nothing about the job, which is then polled again later; only `status:
   * 'failed'` is the upstream's verdict. An unknown word for the state is `processing`.
   */
  poll(ref: VideoRef, signal: AbortSignal): Promise<VideoState>;
  /**
   * Tells the upstream that nobody waits for the job any more: called once when it is given up at its deadline, after
   * its refund, which does not depend on the result. Absent if jobs cannot be canceled.
   */
  cancel?(ref: VideoRef, signal: AbortSignal): Promise<void>;
}

export interface HostVideo {
  /** All of `video` for most upstreams: `submit` and `look`, with what all jobs have in common. */
  jobs<Settings extends Pick<AccountSettings, 'baseUrl'>>(settings: Settings, wire: VideoWire<Settings>): VideoProvider;
  /**
   * Submits a job, once. Throws the fault of a refusal, and of a reply without a job; a reply that names a job is
   * accepted whatever else it says.
   */
  submit(submission: JobSubmission): Promise<JobRef>;
  /**
   * Polls a job that `submit` started, and derives its state from what `read` finds. Throws what says nothing about the
   * job. Words for a state match in any case; an unknown one is `processing`, and so are an empty body and, with
   * `lacksResult`, a completed job without a result. A refusal by content rules ends the job.
   */
  look(ref: VideoRef, init: VideoLook, read: (value: JsonObject) => VideoReport): Promise<VideoState>;
  /**
   * The request fields for the resolution: the route's `resolutions` entry for the call's label, an object as it is, a
   * string in `field`; for a label without an entry, `otherwise`. Two numbers of pixels, in any order and with any
   * separator, are turned to the orientation of the call.
   */
  resolution(call: VideoCall, field: string, otherwise?: string): JsonObject;
  /**
   * A model's input, made from a template like `HostImage.fill`, with `{prompt}`, `{seconds}`, the same as text
   * (`{duration}`), `{width}`, `{height}`, `{aspect}`, `{resolution}` (as the route spells it) and `{image}`.
   */
  fill(call: VideoCall, template: JsonObject, how: VideoFillOptions): JsonObject;
  /** `data:image/png;base64,…`, for a `JsonBody`. */
  dataUrl(image: ImageInput, base64: Base64): string;
}

export interface VideoFillOptions extends FillOptions {
  /** The first frame already has an aspect: `{aspect}` is then left out. */
  readonly isAspectOfImage?: boolean;
}

/** How one upstream is asked for a video, and what it reports. */
export interface VideoWire<Settings = unknown> extends JobWire<VideoCall, Settings> {
  read(value: JsonObject, looking: JobLooking): VideoReport;
  /** The request that cancels a job, sent with the key that started it; absent if jobs cannot be canceled. */
  cancellation?(ref: JobRef): VideoCancellation;
}

export interface VideoCancellation extends Pick<HostRequest, 'method' | 'headers' | 'body'> {
  readonly url: string;
}

export interface VideoLook extends Pick<HostRequest, 'headers' | 'auth' | 'signal'> {
  /** Default 1 MiB. */
  readonly replyBytesMax?: number | undefined;
}

/** The result of a poll, in the upstream's terms. */
export interface VideoReport {
  readonly status: unknown;
  /** In percent, with or without `%`, or as a fraction of 1. */
  readonly progress?: unknown;
  /** Where the finished video is. */
  readonly url?: unknown;
  /**
   * The finished video if `url` cannot express it: called only when the job is completed. A `fault` it returns is the
   * upstream's verdict: some report a failed job as completed. What it throws says nothing about the job, like what
   * `poll` throws.
   */
  media?(): Promise<MediaSource | { readonly fault: UpstreamFault } | undefined>;
  /** Why it failed. */
  readonly error?: unknown;
}
