// What the host does for videos made as jobs, the same for every upstream: types only.
import type { MediaSource, Picture, VideoCall, VideoRef, VideoState } from './call-contract.ts';
import type { HostRequest, JsonObject } from './request-contract.ts';

export interface HostVideo {
  /**
   * Submits a job, once. Throws the fault of a refusal, and of a reply that names no job; one that names a job is taken
   * whatever else it says.
   */
  submit(submission: VideoSubmission): Promise<VideoJobRef>;
  /**
   * Looks at a job that `submit` began, and makes its state of what `read` finds. Throws what says nothing about the job.
   * The words for a state are matched whatever their case; one that nobody knows is `processing`, and so are an empty
   * body and a job that is said to be completed but has no result yet.
   */
  look(ref: VideoRef, init: VideoLook, read: (value: JsonObject) => VideoReport): Promise<VideoState>;
  /**
   * The fields by which a request says the resolution: what the route's `resolutions` have for the call's label, an
   * object as it is, a string in `field`; for a label they do not name, `otherwise`. Two numbers of pixels, in whatever
   * order and with any character between, are turned to the shape of the call.
   */
  resolution(call: VideoCall, field: string, otherwise?: string): JsonObject;
  /** `data:image/png;base64,…` */
  dataUrl(picture: Picture): string;
}

export interface VideoSubmission extends Omit<HostRequest, 'method'> {
  readonly url: string;
  /** The name of the job in the reply: a string or a number. */
  idOf(value: JsonObject): unknown;
  /** Where a job is looked at; the id is encoded for a URL already. */
  lookAt(id: string): string;
}

/** It carries the URL of its job, so that a look needs neither the route nor its options. */
export type VideoJobRef = VideoRef & { readonly url: string };

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
