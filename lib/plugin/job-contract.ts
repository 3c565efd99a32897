// Work that an upstream does as a job: how it is submitted, and by what it is found again. Types only.
import type { VideoRef } from './call-contract.ts';
import type { HeaderFields, HostRequest, JsonObject, KeyHeaders, TokenAuth } from './request-contract.ts';

/** What one call becomes. */
export interface JobSubmission extends Omit<HostRequest, 'method'> {
  readonly url: string;
  /** The name of the job in the reply: a string or a number. */
  idOf(value: JsonObject): unknown;
  /** Where a job is looked at; the id is encoded for a URL already. The reply is there for upstreams that say it. */
  lookAt(id: string, value: JsonObject): string;
}

/** It carries the URL of its job, so that a look needs neither the route nor its options. */
export type JobRef = VideoRef & { readonly url: string };

/** How one upstream takes jobs. */
export interface JobWire<Call, Settings> {
  /** Default: `authorization: Bearer …`. */
  readonly auth?: KeyHeaders | TokenAuth;
  /** Of every request. */
  readonly headers?: HeaderFields;
  /** `base` is the route's `baseUrl` without a slash at its end, `settings` all as the route overrides them. */
  submission(call: Call, base: string, settings: Settings): Omit<JobSubmission, 'auth' | 'signal'>;
}

/** For what takes a further request. */
export interface JobLooking {
  readonly ref: VideoRef;
  readonly auth: KeyHeaders | TokenAuth;
  readonly signal: AbortSignal;
}
