// What all envelopes say about a fault besides its message.
import type { Fault } from '../../base/faults.ts';

/** Whether the envelope has what clients of any dialect read. */
export function showsInEveryDialect({ data }: Fault): boolean {
  return data?.detail.everyDialect === true;
}

export function describeFault({ data }: Fault): object {
  return data?.errorCode === undefined ? {} : { details: { error_code: data.errorCode } };
}
