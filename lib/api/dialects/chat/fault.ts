// The chat-style error envelope.
import type { Fault } from '../../../base/faults.ts';
import { describeFault } from '../fault-details.ts';

export function chatFault(fault: Fault): object {
  const { data, message } = fault;
  return { error: { message, type: data?.type, code: data?.chatCode, ...describeFault(fault) } };
}
