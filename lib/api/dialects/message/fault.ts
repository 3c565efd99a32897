// The message-style error envelope.
import type { Fault } from '../../../faults.ts';

export function messageFault({ data, message }: Fault): object {
  return { type: 'error', error: { type: data?.type, message } };
}
