// The message-style error envelope.
import type { Fault } from '../../../base/faults.ts';
import { describeFault } from '../fault-details.ts';

export function messageFault(fault: Fault): object {
  const { data, message } = fault;
  return { type: 'error', error: { type: data?.type, message, ...describeFault(fault) } };
}
