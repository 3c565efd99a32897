// What a request for a video asks for, free of its wire format.
import type { FaultCode, FaultDetail } from '../faults.ts';
import type { RequestPicture } from '../media/reference.ts';
import type { Size } from '../plugin/contract.ts';

/** What is undefined the service chooses. */
export interface VideoRequest {
  /** An id or alias. */
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number | undefined;
  /** 16 to 8192 each. */
  readonly size: Size | undefined;
  readonly aspect: string | undefined;
  /** A label, `720p`. */
  readonly resolution: string | undefined;
  /** The first picture of the video, or none. */
  readonly pictures: readonly RequestPicture[];
  /** Why it cannot be read: said only once the call could be paid for. */
  readonly refusal: { readonly code: FaultCode; readonly detail: FaultDetail } | undefined;
}

/** Of every model. */
export const SECONDS = { least: 4, most: 10, byDefault: 5 };
