// The message-style error envelope.
import type { Fault } from '../../../base/faults.ts';
import { describeFault, showsInEveryDialect } from '../fault-details.ts';

export function messageFault(fault: Fault): object {
  const { data, message } = fault;
  const code = showsInEveryDialect(fault) && { code: data?.chatCode };
  return { type: 'error', error: { type: data?.type, message, ...code, ...describeFault(fault) } };
}
