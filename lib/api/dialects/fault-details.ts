// What both envelopes say of a fault besides its words.
import type { Fault } from '../../faults.ts';

export function detailsOf({ data }: Fault): object {
  return data?.errorCode === undefined ? {} : { details: { error_code: data.errorCode } };
}
