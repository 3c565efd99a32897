// Reads the inputs of a verb from the body or the query of a request.
import { fault } from '../../base/faults.ts';
import { InvalidInputError } from '../../base/operator-error.ts';
import { isRecord } from '../../base/record.ts';
import type { InputField, InputFields } from '../../manage/input.ts';
import { invalidField } from '../dialects/fields.ts';

/** Reads the body of a request. Throws a 400 fault that names the first wrong field; null in an optional field is ignored. */
export function readBodyInput(fields: InputFields, sent: unknown): Record<string, unknown> {
  if (!isRecord(sent)) throw fault('invalid_json', { hint: 'an object is expected' });
  const unknown = Object.keys(sent).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) throw invalidField(unknown.slice(0, 60), `is not one of ${describeNames(fields)}`);
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, input]) => {
      const value = readValue(name, sent[name], input);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The same for a query, whose numbers and flags are texts. */
export function readQueryInput(fields: InputFields, query: URLSearchParams): Record<string, unknown> {
  const twice = [...query.keys()].find((name) => query.getAll(name).length > 1);
  if (twice !== undefined) throw invalidField(twice.slice(0, 60), 'is given twice');
  const values = [...query].map(([name, text]) => [
    name,
    Object.hasOwn(fields, name) ? readQueryText(text, fields[name]) : text,
  ]);
  return readBodyInput(fields, Object.fromEntries(values));
}

function readQueryText(text: string, input: InputField | undefined): unknown {
  const type = input?.schema.type;
  if (type === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

function readValue(name: string, sent: unknown, input: InputField): unknown {
  const { schema, hint, isRequired, byDefault, read } = input;
  if (sent === undefined && isRequired) throw invalidField(name, 'is required');
  if (sent === undefined) return byDefault;
  const { error } = schema.validate(sent, { convert: false });
  if (error && sent === null && !isRequired) return byDefault;
  if (error) throw invalidField(name, hint);
  try {
    return read(sent as never);
  } catch (thrown) {
    if (!(thrown instanceof InvalidInputError)) throw thrown;
    throw invalidField(name, `is wrong: ${thrown.message.replace(/\.$/, '')}`);
  }
}

function describeNames(fields: InputFields): string {
  return Object.keys(fields).join(', ') || 'the fields, of which there are none';
}
