// An image request, independent of its wire format.

import type { FaultCode, FaultDetail } from '../../base/faults.ts';
import type { RequestImage } from '../../media/reference.ts';
import type { Size } from '../../upstream/contract/provider.ts';
import type { RequestSpending } from '../spending.ts';

/** Images per edit. */
export const REFERENCES_MAX = 4;

/** The sizes of images by label. */
export const IMAGE_SIZES: ReadonlyMap<string, Size> = new Map([
  ['1024x1024', { width: 1024, height: 1024 }],
  ['1792x1024', { width: 1792, height: 1024 }],
  ['1024x1792', { width: 1024, height: 1792 }],
]);

export interface ImageRequest {
  /** As the client wrote it: an id or an alias; undefined for the default model. */
  readonly model: string | undefined;
  readonly prompt: string;
  readonly size: Size | undefined;
  /** Undefined when `size` was sent, or neither was. */
  readonly aspect: string | undefined;
  /** The reply has the image itself beside its link. */
  readonly withBytes?: true;
  /** The reply is a stream of one event. */
  readonly stream?: true;
  readonly spending?: RequestSpending;
  /** A generation that brings images to work from. */
  readonly isEdit?: true;
  /** The images to edit; empty for a generation. */
  readonly images: readonly RequestImage[];
  /** Set if one of the images cannot be read; reported only once the balance would cover the call. */
  readonly refusal: Refusal | undefined;
}

/** A fault in a form that can be passed between threads. */
export interface Refusal {
  readonly code: FaultCode;
  readonly detail: FaultDetail;
}
