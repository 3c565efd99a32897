// The form and the reasoning of an answer, with what items of the conversation change about the request's: the last of
// each counts.
import { isRecord } from '../../../base/record.ts';
import type { TextRequest } from '../../../calls/text/request.ts';
import { readTextFormat, readVerbosity } from '../answer-format.ts';
import { invalidField } from '../fields.ts';
import { checkEffort, readReasoning } from '../reasoning-wish.ts';
import type { ResponsesFields } from './schema.ts';

export const CONFIGURATION_UPDATE = 'configuration_update';

/** Throws 400 faults that name the field. */
export function readConfiguration({
  input,
  text,
  reasoning,
}: ResponsesFields): Pick<TextRequest, 'format' | 'formatField' | 'verbosity' | 'reasoning' | 'showsReasoning'> {
  let thought = readReasoning(reasoning);
  let form = readTextFormat(text);
  let length = readVerbosity(text);
  for (const { item, field } of listUpdates(input)) {
    const { effort } = readSettings(item.reasoning, `${field}.reasoning`);
    if (effort != null) {
      checkEffort(`${field}.reasoning.effort`, effort);
      thought = readReasoning({ ...reasoning, max_tokens: null, effort });
    }
    const changed = readSettings(item.text, `${field}.text`);
    if (changed.verbosity != null) length = readVerbosity(changed, `${field}.text`);
    if (changed.format != null) form = readTextFormat(changed, `${field}.text`);
  }
  return { ...thought, ...form, ...length };
}

type Settings = Readonly<Record<string, unknown>>;

function listUpdates(input: ResponsesFields['input']): readonly { readonly item: Settings; readonly field: string }[] {
  if (typeof input === 'string') return [];
  return input.flatMap((item, at) =>
    isRecord(item) && item.type === CONFIGURATION_UPDATE ? { item, field: `input[${at}]` } : [],
  );
}

function readSettings(given: unknown, field: string): Settings {
  if (given == null) return {};
  if (!isRecord(given)) throw invalidField(field, 'must be an object');
  return given;
}
