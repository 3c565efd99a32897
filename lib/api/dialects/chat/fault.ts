// The chat-style error envelope.
import type { Fault } from '../../../faults.ts';

export function chatFault({ data, message }: Fault): object {
  return { error: { message, type: data?.type, code: data?.chatCode } };
}
