// What a response says that failed; plain errors of the responses dialect have the chat-style envelope.
import type { Fault, FaultCode } from '../../../base/faults.ts';
import { STREAM_CODE } from '../chat/fault.ts';

/**
 * Codes of the format that agents act on: by the first they shorten a conversation, by the other they know that trying
 * again won't help, which a header says of plain replies. After any other code they try again.
 */
const KNOWN_CODES: Readonly<Partial<Record<FaultCode, string>>> = {
  upstream_too_long: 'context_length_exceeded',
  upstream_refused: 'invalid_prompt',
  upstream_content: 'invalid_prompt',
  upstream_picture: 'invalid_prompt',
};

export interface ResponsesFailure {
  readonly code: string;
  readonly type: string | undefined;
  readonly message: string;
}

/** The `error` of a failed response, which only streams have. */
export function responsesFailure({ data, message }: Fault): ResponsesFailure {
  return { code: (data && KNOWN_CODES[data.code]) ?? STREAM_CODE, type: data?.type, message };
}
