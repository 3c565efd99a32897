// Jobs at an upstream: how they are submitted, and how they are found again. Types only.
import type { VideoRef } from './call.ts';
import type { HeaderFields, HostRequest, JsonObject, KeyHeaders, TokenAuth } from './request.ts';

/** The request for one call. */
export interface JobSubmission extends Omit<HostRequest, 'method'> {
  readonly url: string;
  /** The job's name in the reply: a string or a number. */
  idOf(value: JsonObject): unknown;
  /** Where a job is polled; the id is already encoded for a URL. The reply is passed for upstreams that state it. */
  lookAt(id: string, value: JsonObject): string;
}

/** Contains the URL of its job, so that polling needs neither the route nor its options. */
export type JobRef = VideoRef & { readonly url: string };

/** How one upstream takes jobs. */
export interface JobWire<Call, Settings> {
  /** Default: `authorization: Bearer …`. */
  readonly auth?: KeyHeaders | TokenAuth;
  /** For every request. */
  readonly headers?: HeaderFields;
  /** For replies with inline files, results or those of the request. Default 1 MiB. */
  readonly replyBytesMax?: number;
  /** `base` is the route's `baseUrl` without a trailing slash, `settings` include the route's overrides. */
  submission(call: Call, base: string, settings: Settings): Omit<JobSubmission, 'auth' | 'signal'>;
}

/** For results that take another request. */
export interface JobLooking {
  readonly ref: VideoRef;
  readonly auth: KeyHeaders | TokenAuth;
  readonly signal: AbortSignal;
}
