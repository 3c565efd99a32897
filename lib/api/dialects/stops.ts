// The stop strings of a request, as either dialect names them.
import type { TextRequest } from '../../text/request.ts';
import { list, text } from '../openapi/schema.ts';
import { type FieldRule, invalidField } from './fields.ts';

export const CHAT_STOPS_MAX = 4;
export const MESSAGE_STOPS_MAX = 16;

const WHAT = 'The answer ends before the first match, with any model; what was written until then is charged.';

const isList = (value: unknown, most: number) => Array.isArray(value) && value.length <= most;

const stopText = text('Not empty.', { minLength: 1 });

export const stopField: FieldRule = {
  required: false,
  accepts: (value) => (typeof value === 'string' && value !== '') || isList(value, CHAT_STOPS_MAX),
  hint: `must be a string or an array of up to ${CHAT_STOPS_MAX} strings, none of them empty`,
  schema: { description: WHAT, anyOf: [stopText, list(stopText, { maxItems: CHAT_STOPS_MAX })] },
};

export const stopSequencesField: FieldRule = {
  required: false,
  accepts: (value) => isList(value, MESSAGE_STOPS_MAX),
  hint: `must be an array of up to ${MESSAGE_STOPS_MAX} strings, none of them empty`,
  schema: list(stopText, { description: WHAT, maxItems: MESSAGE_STOPS_MAX }),
};

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
