// Reads JSON that nobody vouches for: what is not there reads as empty.
import type { JsonObject } from './request-contract.ts';

const NONE: JsonObject = {};

/** `Host.fields`. */
export function fieldsOf(value: unknown, ...path: readonly (string | number)[]): JsonObject {
  const [step, ...rest] = path;
  if (!isFields(value)) return NONE;
  return step === undefined ? value : fieldsOf(value[step], ...rest);
}

/** Lists too: what they have no field of is not there. */
export function isFields(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}
