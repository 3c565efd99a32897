// The check of one field of a body, without those of the others.
import { type BodySchema, checkFields } from '../../lib/api/dialects/fields.ts';
import { isFault } from '../../lib/base/faults.ts';

/** The refusal's message if the value is refused. */
export function refuseField(body: BodySchema, name: string, value: unknown): string | undefined {
  try {
    checkFields({ ...body, fields: body.fields.filter((field) => field.name === name) }, { [name]: value });
    return undefined;
  } catch (error) {
    if (isFault(error)) return error.message;
    throw error;
  }
}

export function acceptsField(body: BodySchema, name: string, value: unknown): boolean {
  return refuseField(body, name, value) === undefined;
}
