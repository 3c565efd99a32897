// The strings that an answer ends before, as either dialect names them.
import type { TextRequest } from '../../text/request.ts';
import { list, text } from '../openapi/schema.ts';
import type { FieldRule } from './fields.ts';

export const CHAT_STOPS_MAX = 4;
export const MESSAGE_STOPS_MAX = 16;

const WHAT =
  'The answer ends before the first of them, whichever model writes it; what was written until then is charged.';

/** A lone half of a surrogate pair would cut characters of the answer in two. */
const isStop = (value: unknown) => typeof value === 'string' && value !== '' && value.isWellFormed();

const areStops = (value: unknown, most: number) => Array.isArray(value) && value.length <= most && value.every(isStop);

const stopText = text('Not empty.', { minLength: 1 });

export const stopField: FieldRule = {
  required: false,
  accepts: (value) => isStop(value) || areStops(value, CHAT_STOPS_MAX),
  hint: `must be a string or an array of up to ${CHAT_STOPS_MAX} strings, none of them empty`,
  schema: { description: WHAT, anyOf: [stopText, list(stopText, { maxItems: CHAT_STOPS_MAX })] },
};

export const stopSequencesField: FieldRule = {
  required: false,
  accepts: (value) => areStops(value, MESSAGE_STOPS_MAX),
  hint: `must be an array of up to ${MESSAGE_STOPS_MAX} strings, none of them empty`,
  schema: list(stopText, { description: WHAT, maxItems: MESSAGE_STOPS_MAX }),
};

/** Absent where there are none. */
export function readStops(given: string | readonly string[] | null | undefined): Pick<TextRequest, 'stops'> {
  const stops = typeof given === 'string' ? [given] : (given ?? []);
  return stops.length === 0 ? {} : { stops };
}
