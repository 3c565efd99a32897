// What a payment plugin is checked with: its vendor's answers as the plugin's author wrote them down, with gaps that the
// suite fills, so that it can say another sum, another shop or an unknown state.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Joi from 'joi';
import type { Decline } from '../contract/payment.ts';

/** The calls of a provider that ask its vendor. */
export const CALLS = ['start', 'charge', 'fetch', 'find', 'refund'] as const;
export type CallName = (typeof CALLS)[number];

export interface Route {
  /** The calls it answers; absent: all. */
  readonly on?: readonly CallName[];
  readonly method: string;
  /** After the path of `baseUrl`, without a query. */
  readonly path: string;
  readonly status: number;
  /** JSON, or a text as it is sent. */
  readonly reply: unknown;
}

export interface Fixture {
  readonly settings: Readonly<Record<string, unknown>>;
  /** The vendor's words for the state of a payment, each with what it means. */
  readonly states: Readonly<Record<string, 'pending' | 'succeeded' | 'canceled'>>;
  /** The vendor's reasons of a decline, each with what it means; or why the vendor gives none. */
  readonly reasons: Readonly<Record<string, Decline['kind']>> | string;
  /** Hosts of pay pages beside that of the recorded link, each with the page of the vendor that names it. */
  readonly payHosts: Readonly<Record<string, string>>;
  /** In the order in which they are tried. */
  readonly routes: readonly Route[];
  /** A refund as the answers about its payment show it: `{{refunds}}` in a reply is a list of them. */
  readonly refund?: unknown;
  /** Webhooks of a payment. */
  readonly notices: readonly { readonly headers: Readonly<Record<string, string>>; readonly body: unknown }[];
}

/** What the gaps are filled with. */
export interface Facts {
  /** The vendor's id of the payment, and of the refund. */
  readonly id: string;
  readonly refund: string;
  /** Our ids. */
  readonly order: string;
  readonly refundOrder: string;
  readonly status: string;
  /** Of a decline. */
  readonly reason: string;
  /** In kopecks. */
  readonly amount: bigint;
  readonly currency: string;
  readonly shop: string;
  readonly test: boolean;
  /** The payment's refunds, as `fillRefunds` fills them. */
  readonly refunds: readonly unknown[];
}

const schema = Joi.object<Fixture>({
  settings: Joi.object().unknown(true).default({}),
  states: Joi.object()
    .pattern(Joi.string(), Joi.valid('pending', 'succeeded', 'canceled'))
    .required(),
  reasons: Joi.alternatives(
    Joi.object().pattern(Joi.string(), Joi.valid('expired', 'soft', 'hard', 'technical')),
    Joi.string().min(8),
  ).required(),
  payHosts: Joi.object().pattern(Joi.string(), Joi.string().uri()).default({}),
  routes: Joi.array()
    .items(
      Joi.object({
        on: Joi.array().items(Joi.valid(...CALLS)),
        method: Joi.valid('GET', 'POST', 'PUT').required(),
        path: Joi.string().pattern(/^\//, 'a path').required(),
        status: Joi.number().integer().min(200).max(299).default(200),
        reply: Joi.any().required(),
      }),
    )
    .min(1)
    .required(),
  refund: Joi.any(),
  notices: Joi.array()
    .items(
      Joi.object({ headers: Joi.object().pattern(Joi.string(), Joi.string()).default({}), body: Joi.any().required() }),
    )
    .min(1)
    .required(),
});

/** Throws what is wrong with it, in one line. */
export function loadFixture(folder: string): Fixture {
  const path = join(folder, 'fixtures', 'payment.json');
  if (!existsSync(path))
    throw new Error(`${path} does not exist: a payment plugin is checked against its vendor's answers`);
  const { value, error } = schema.validate(JSON.parse(readFileSync(path, 'utf8')), { abortEarly: false });
  if (error) throw new Error(`${path}: ${error.message}`);
  const missing = ['pending', 'succeeded', 'canceled'].filter(
    (state) => !Object.values(value.states).includes(state as 'pending'),
  );
  if (missing.length > 0) throw new Error(`${path}: no word of \`states\` means ${missing.join(' or ')}`);
  const kinds = typeof value.reasons === 'string' ? ['soft', 'hard'] : Object.values(value.reasons);
  // A card is charged again after the one, and never after the other.
  const untold = ['soft', 'hard'].filter((kind) => !kinds.includes(kind as Decline['kind']));
  if (untold.length > 0) throw new Error(`${path}: no word of \`reasons\` means ${untold.join(' or ')}`);
  return value;
}

/** What the fixture shows of a payment's refunds, each with what differs from the payment's own facts. */
export function fillRefunds({ refund }: Fixture, facts: Facts, refunds: readonly Partial<Facts>[]): readonly unknown[] {
  return refunds.map((one) => fill(refund, { ...facts, ...one }));
}

/**
 * `{{amount}}` is roubles with two decimals, `{{kopecks}}` a number, `{{test}}` true or false, `{{refunds}}` a list.
 */
export function fill<Value>(template: Value, facts: Facts): Value {
  const { amount, test, refunds, ...texts } = facts;
  const roubles = `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`;
  const gaps: readonly (readonly [gap: string, text: string])[] = [...Object.entries(texts), ['amount', roubles]];
  const filled = (value: unknown): unknown => {
    if (value === '{{test}}') return test;
    if (value === '{{kopecks}}') return Number(amount);
    if (value === '{{refunds}}') return refunds;
    if (typeof value === 'string') return gaps.reduce((text, [gap, by]) => text.replaceAll(`{{${gap}}}`, by), value);
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, filled(field)]));
  };
  return filled(template) as Value;
}

/** Whether any answer to a call has this gap. */
export function says({ routes }: Fixture, call: CallName, gap: string): boolean {
  return routes.some(({ on, reply }) => (on ?? CALLS).includes(call) && JSON.stringify(reply).includes(`{{${gap}}}`));
}
