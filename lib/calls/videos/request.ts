// A request for a video, independent of its wire format.

import type { FaultCode, FaultDetail } from '../../base/faults.ts';
import type { RequestImage } from '../../media/reference.ts';
import type { Size } from '../../upstream/contract/provider.ts';
import type { RequestSpending } from '../spending.ts';

/** Whatever is undefined is chosen by the service. */
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
  readonly spending?: RequestSpending;
  /** The first frame, if any. */
  readonly images: readonly RequestImage[];
  /** Why it cannot be read; reported only once the balance would cover the call. */
  readonly refusal: { readonly code: FaultCode; readonly detail: FaultDetail } | undefined;
}
