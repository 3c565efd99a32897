// What both envelopes say about a fault besides its message.
import type { Fault } from '../../base/faults.ts';

export function describeFault({ data }: Fault): object {
  return data?.errorCode === undefined ? {} : { details: { error_code: data.errorCode } };
}
