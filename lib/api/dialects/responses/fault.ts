// Errors of the responses dialect: the chat-style envelope, and what a response says that failed.
import type { Fault, FaultCode } from '../../../base/faults.ts';
import { chatFault } from '../chat/fault.ts';

export const responsesFault = chatFault;

/** Codes that agents act on: by this one they shorten a conversation or give up, after any other they try again. */
const KNOWN_CODES: Readonly<Partial<Record<FaultCode, string>>> = { upstream_too_long: 'context_length_exceeded' };

/** The `error` of a failed response. */
export function responsesFailure({ data, message }: Fault): object {
  return { code: (data && KNOWN_CODES[data.code]) ?? data?.chatCode, type: data?.type, message };
}
