// The rules of the fields that requests of both dialects share, and the fault that names a wrong one.
import { type Fault, fault } from '../../faults.ts';
import { MAX_TOKENS_DEFAULT, MAX_TOKENS_MAXIMUM } from '../../text/request.ts';

/** What a field must be. A table of these costs a tenth of a schema validator's pass, on every call. */
export interface FieldRule {
  readonly required: boolean;
  readonly accepts: (value: unknown) => boolean;
  /** What it must be, as the end of a sentence. */
  readonly hint: string;
}

/** The fields of a request besides the insides of its messages, which each dialect reads itself. */
export interface CommonFields {
  readonly model: string;
  readonly messages: readonly unknown[];
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly stream?: boolean | null;
  readonly system?: string | readonly unknown[] | null;
}

/** Any whole number above zero, also beyond what a double counts exactly; one beyond a double, as 1e400, is none. */
function isTokenCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 0;
}

const maxTokens: FieldRule = { required: false, accepts: isTokenCount, hint: 'must be a whole number above zero' };

export const commonFields: Readonly<Record<string, FieldRule>> = {
  model: {
    required: true,
    accepts: (value) => typeof value === 'string' && value !== '',
    hint: 'must be a string and not empty',
  },
  messages: {
    required: true,
    accepts: (value) => Array.isArray(value) && value.length > 0,
    hint: 'must be an array of at least 1 message',
  },
  max_tokens: maxTokens,
  max_completion_tokens: maxTokens,
  stream: { required: false, accepts: (value) => typeof value === 'boolean', hint: 'must be a boolean, true or false' },
};

/** Checks the fields of a body; throws a 400 fault that names the first wrong one. `null` is the same as absent. */
export function checkFields<Fields = CommonFields>(rules: Readonly<Record<string, FieldRule>>, body: unknown): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw fault('invalid_json', { hint: 'an object is expected' });
  }
  const fields = body as Readonly<Record<string, unknown>>;
  for (const name in rules) {
    const { required, accepts, hint } = rules[name] as FieldRule;
    const value = fields[name];
    if (value === undefined && required) throw invalidField(name, 'is required');
    if (value === undefined || (value === null && !required)) continue;
    if (!accepts(value)) throw invalidField(name, hint);
  }
  return body as Fields;
}

export function invalidField(field: string, hint: string): Fault {
  return fault('invalid_field', { field, hint });
}

/** `max_completion_tokens` counts when `max_tokens` is absent; what is above the maximum is clamped. */
export function maxTokensOf(fields: CommonFields): number {
  return Math.min(fields.max_tokens ?? fields.max_completion_tokens ?? MAX_TOKENS_DEFAULT, MAX_TOKENS_MAXIMUM);
}
