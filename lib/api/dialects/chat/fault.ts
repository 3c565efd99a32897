// The chat-style error envelope.
import type { Fault } from '../../../base/faults.ts';
import { describeFault, showsInEveryDialect } from '../fault-details.ts';

export function chatFault(fault: Fault): object {
  const { data, message } = fault;
  const type = showsInEveryDialect(fault) && { type: 'error' };
  return { ...type, error: { message, type: data?.type, code: data?.chatCode, ...describeFault(fault) } };
}
