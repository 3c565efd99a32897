// The stop strings of a request, as the dialects name them.
import Joi from 'joi';
import { list, text } from '../../base/json-schema.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import { documentAs, invalidField, optional } from './fields.ts';

const CHAT_STOPS_MAX = 4;
const MESSAGE_STOPS_MAX = 16;
/** Each takes five times its size as long as its answer, and time before it, and no token counts it. */
const STOP_CHARACTERS_MAX = 1024;

const WHAT = 'The answer ends before the first match, with any model; what was written until then is charged.';

const stopText = text('Not empty.', { minLength: 1, maxLength: STOP_CHARACTERS_MAX });

export const stopField = optional(
  documentAs(Joi.alternatives(Joi.string().min(1).max(STOP_CHARACTERS_MAX), Joi.array().max(CHAT_STOPS_MAX)), {
    description: WHAT,
    anyOf: [stopText, list(stopText, { maxItems: CHAT_STOPS_MAX })],
  }),
  `must be a string or an array of up to ${CHAT_STOPS_MAX} strings, none of them empty or longer than ${STOP_CHARACTERS_MAX}`,
);

export const stopSequencesField = optional(
  documentAs(Joi.array().max(MESSAGE_STOPS_MAX), list(stopText, { description: WHAT, maxItems: MESSAGE_STOPS_MAX })),
  `must be an array of up to ${MESSAGE_STOPS_MAX} strings, none of them empty`,
);

/** Absent if there are none. Throws 400 faults that name the field. */
export function readStops(
  field: string,
  given: string | readonly unknown[] | null | undefined,
): Pick<TextRequest, 'stops'> {
  if (typeof given === 'string') return { stops: [checkStop(field, given)] };
  const stops = (given ?? []).map((stop, at) => checkStop(`${field}[${at}]`, stop));
  return stops.length === 0 ? {} : { stops };
}

/** Half a surrogate pair would cut characters of the answer in two. */
function checkStop(field: string, stop: unknown): string {
  if (typeof stop === 'string' && stop !== '' && stop.length <= STOP_CHARACTERS_MAX && stop.isWellFormed()) return stop;
  throw invalidField(field, `must be a string of 1 to ${STOP_CHARACTERS_MAX} whole characters`);
}
