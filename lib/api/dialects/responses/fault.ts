// Errors of the responses dialect: the chat-style envelope, and what a response says that failed.
import type { Fault } from '../../../base/faults.ts';
import { chatFault } from '../chat/fault.ts';

export const responsesFault = chatFault;

/** The `error` of a failed response. */
export function responsesFailure({ data, message }: Fault): object {
  return { code: data?.chatCode, type: data?.type, message };
}
