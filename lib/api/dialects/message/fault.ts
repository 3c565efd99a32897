// The message-style error envelope.
import type { Fault } from '../../../base/faults.ts';
import { describeFault, isOfEveryDialect } from '../fault-details.ts';

export function messageFault(fault: Fault): object {
  const { data, message } = fault;
  const code = isOfEveryDialect(fault) && { code: data?.chatCode };
  return { type: 'error', error: { type: data?.type, message, ...code, ...describeFault(fault) } };
}
