// Fields that only the messages format has, which go unchanged to upstreams of the same format.
import Joi from 'joi';
import { list, object, text } from '../../../base/json-schema.ts';
import { isRecord } from '../../../base/record.ts';
import type { TextRequest } from '../../../calls/text/request.ts';
import { documentAs, invalidField, optional } from '../fields.ts';

/** As written. */
export interface MessageFormatFields {
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly context_management?: Readonly<Record<string, unknown>> | null;
}

const USER_CHARACTERS_MAX = 1024;
const EDITS_MAX = 20;
/** Edits that only clear. A summary would be one more answer of the vendor's, which its counts do not include. */
const CLEARING = /^clear_/;

const ELSEWHERE = 'Only for models at vendors of the messages format; others ignore it.';

export const messageFormatFields = {
  metadata: optional(
    documentAs(Joi.object().unknown(), {
      ...object({ user_id: { type: ['string', 'null'], maxLength: USER_CHARACTERS_MAX } }, { optional: ['user_id'] }),
      description: ELSEWHERE,
    }),
    'must be an object',
  ),
  context_management: optional(
    documentAs(Joi.object().unknown(), {
      ...object(
        {
          edits: {
            ...list(object({ type: text('Such as `clear_tool_uses_20250919`.', { pattern: CLEARING.source }) }), {
              maxItems: EDITS_MAX,
            }),
            type: ['array', 'null'],
          },
        },
        { optional: ['edits'] },
      ),
      description: `What the vendor leaves out of a long history; it makes no summaries. ${ELSEWHERE}`,
    }),
    'must be an object',
  ),
};

/** Throws 400 faults that name the field. */
export function readMessageFormatFields(fields: MessageFormatFields): Pick<TextRequest, 'messageFields'> {
  const messageFields = { ...readMetadata(fields.metadata), ...readContextManagement(fields.context_management) };
  return Object.keys(messageFields).length > 0 ? { messageFields } : {};
}

function readMetadata(given: MessageFormatFields['metadata']): object {
  const user = given?.user_id;
  if (user === undefined || user === null) return {};
  if (typeof user !== 'string' || user.length > USER_CHARACTERS_MAX) {
    throw invalidField('metadata.user_id', `must be a string of at most ${USER_CHARACTERS_MAX} characters`);
  }
  return { metadata: { user_id: user } };
}

function readContextManagement(given: MessageFormatFields['context_management']): object {
  const edits = given?.edits;
  if (edits === undefined || edits === null) return {};
  const field = 'context_management.edits';
  if (!Array.isArray(edits) || edits.length > EDITS_MAX) {
    throw invalidField(field, `must be an array of at most ${EDITS_MAX} edits`);
  }
  for (const [at, edit] of edits.entries()) {
    if (!isRecord(edit)) throw invalidField(`${field}[${at}]`, 'must be an object');
    if (typeof edit.type !== 'string') throw invalidField(`${field}[${at}].type`, 'must be a string');
    if (!CLEARING.test(edit.type)) {
      throw invalidField(`${field}[${at}].type`, 'must be one that clears something: let the client make summaries');
    }
  }
  return { context_management: { edits } };
}
