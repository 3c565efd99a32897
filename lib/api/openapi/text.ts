// What both text endpoints share in the API document: prices, routing, statuses.
import { SMART_TIERS } from '../../base/smart-tiers.ts';
import { choice, count, type Json, list, object, ref, rub } from './schema.ts';

/** Errors of a generating endpoint. */
export const GENERATING_STATUSES = [400, 401, 402, 403, 408, 409, 413, 415, 422, 429, 500, 502, 503] as const;

/** For generating endpoints. */
export const IDEMPOTENCY_KEY: Json = {
  name: 'idempotency-key',
  in: 'header',
  description:
    'Identifies the call, so that it is charged once even if it is retried: the same request with the same key gets the ' +
    'first reply again, for 24 hours. A call that failed and was refunded frees its key.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
};

/** What the answer of a call with `smart` has in addition. */
export function withRouting(answer: Json): Json {
  const routing = { ...ref('SmartRouting'), description: 'Present when `smart` was asked for.' };
  return { ...answer, properties: { ...(answer.properties as Json), smart_routing: routing } };
}

export const textSchemas: Readonly<Record<string, Json>> = {
  SmartRouting: {
    ...object({
      tier: choice(SMART_TIERS, 'How hard the task is; each tier has its model.'),
      score: { type: 'number', minimum: 0, maximum: 100, description: 'The harder the task, the higher.' },
      signals: list({ type: 'string' }, { description: 'What was found in the request; more may come.' }),
    }),
    examples: [{ tier: 'lite', score: 13.7, signals: ['short', 'translate'] }],
  },
  TextBlock: object({ type: { type: 'string', const: 'text' }, text: { type: 'string' } }),
  TextBilling: object({
    charged_rub: rub('The price of the actual usage'),
    reserved_rub: rub('What was held at the start'),
    balance_rub: rub('What the wallet can spend after settlement'),
    unit: { type: 'string', const: '1M_tokens' },
    rub_per_mtok_in: rub('Price of a million input tokens'),
    rub_per_mtok_out: rub('Price of a million output tokens'),
    rub_per_mtok: rub('The input price again, for older clients'),
  }),
};

export const BILLING_EXAMPLE = {
  charged_rub: 0.5,
  reserved_rub: 12.3012,
  balance_rub: 999.5,
  unit: '1M_tokens',
  rub_per_mtok_in: 300,
  rub_per_mtok_out: 1500,
  rub_per_mtok: 300,
};

export const outputTokens = count('Output tokens, reasoning included.');
export const inputTokens = count('Input tokens, cached ones included.');
