// A request for a picture, free of its wire format: what is to be drawn, and the pictures that it is drawn from.
import type { FaultCode, FaultDetail } from '../faults.ts';
import type { RequestPicture } from '../media/reference.ts';
import type { Size } from '../plugin/contract.ts';

export interface ImageRequest {
  /** As the client wrote it: an id or an alias; absent for the default. */
  readonly model: string | undefined;
  readonly prompt: string;
  readonly size: Size | undefined;
  /** Undefined where the size says it, or neither was sent. */
  readonly aspect: string | undefined;
  /** What an edit begins with; none for a picture that is made anew. */
  readonly pictures: readonly RequestPicture[];
  /** Why one of them cannot be read: said only once the call could be paid for. */
  readonly refusal: Refusal | undefined;
}

/** A fault that can be handed from one thread to another. */
export interface Refusal {
  readonly code: FaultCode;
  readonly detail: FaultDetail;
}
