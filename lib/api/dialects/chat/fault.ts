// The chat-style error envelope.
import type { Fault } from '../../../base/faults.ts';
import { describeFault, showsInEveryDialect } from '../fault-details.ts';

/** The code of every failure in a stream, whatever a plain reply would have: the contract knows no other. */
export const STREAM_CODE = 'upstream_error';

export function chatFault(fault: Fault): object {
  const { data, message } = fault;
  const type = showsInEveryDialect(fault) && { type: 'error' };
  return { ...type, error: { message, type: data?.type, code: data?.chatCode, ...describeFault(fault) } };
}

/** What a stream says that fails. */
export function chatFailure({ data, message }: Fault): object {
  return { error: { message, type: data?.type, code: STREAM_CODE } };
}
