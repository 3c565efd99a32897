// The stop strings of a request, as the dialects name them.
import Joi from 'joi';
import type { TextRequest } from '../../calls/text/request.ts';
import { list, text } from '../openapi/schema.ts';
import { documented, invalidField, optional } from './fields.ts';

export const CHAT_STOPS_MAX = 4;
export const MESSAGE_STOPS_MAX = 16;

const WHAT = 'The answer ends before the first match, with any model; what was written until then is charged.';

const stopText = text('Not empty.', { minLength: 1 });

export const stopField = optional(
  documented(Joi.alternatives(Joi.string().min(1), Joi.array().max(CHAT_STOPS_MAX)), {
    description: WHAT,
    anyOf: [stopText, list(stopText, { maxItems: CHAT_STOPS_MAX })],
  }),
  `must be a string or an array of up to ${CHAT_STOPS_MAX} strings, none of them empty`,
);

export const stopSequencesField = optional(
  documented(Joi.array().max(MESSAGE_STOPS_MAX), list(stopText, { description: WHAT, maxItems: MESSAGE_STOPS_MAX })),
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
  if (typeof stop === 'string' && stop !== '' && stop.isWellFormed()) return stop;
  throw invalidField(field, 'must be a string of whole characters and not empty');
}
