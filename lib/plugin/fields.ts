// Reads JSON that nobody vouches for: what is not there reads as empty.
import type { JsonObject } from './request-contract.ts';

const NONE: JsonObject = {};

/** `Host.fields`. */
export function fieldsOf(value: unknown, ...path: readonly (string | number)[]): JsonObject {
  const [step, ...rest] = path;
  if (typeof value !== 'object' || value === null) return NONE;
  const fields = value as JsonObject;
  return step === undefined ? fields : fieldsOf(fields[step], ...rest);
}
