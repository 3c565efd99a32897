// What a payment plugin is checked with: its vendor's answers as the plugin's author wrote them down, with gaps that the
// suite fills, so that it can say another sum, another shop or an unknown state.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Joi from 'joi';
import type { Decline } from '../contract/payment.ts';
import { loadFixtureScript } from './fixture-script.ts';
import { readJsonFile } from './json-file.ts';

/** The calls of a provider that ask its vendor. */
export const CALLS = ['start', 'charge', 'fetch', 'find', 'refund'] as const;
export type CallName = (typeof CALLS)[number];

export interface Route {
  /** The calls it answers; absent: all. */
  readonly on?: readonly CallName[];
  /** The words of `states` it answers with; absent: all. */
  readonly when?: readonly string[];
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
  /** Its words for the state of a refund; absent: those of a payment. */
  readonly refundStates?: Fixture['states'];
  /** The vendor's reasons of a decline, each with what it means; or why the vendor gives none. */
  readonly reasons: Readonly<Record<string, Decline['kind']>> | string;
  /** Hosts of pay pages beside that of the recorded link, each with the page of the vendor that names it. */
  readonly payHosts: Readonly<Record<string, string>>;
  /** In the order in which they are tried. */
  readonly routes: readonly Route[];
  /** A refund as the answers about its payment show it: `{{refunds}}` in a reply is a list of them. */
  readonly refund?: unknown;
  /** Webhooks of a payment. */
  readonly notices: readonly Notice[];
  /** Why what is made from the secret does not cover the body; absent: it does. */
  readonly bodyUnsigned?: string;
  /** Why an order with the same id is not paid twice, of a vendor that takes no keys; absent: it takes them. */
  readonly idIsKey?: string;
  /** What the vendor's answers do not say, each with the reason why it is certain. */
  readonly untold: Readonly<Partial<Record<(typeof UNTOLD)[number], string>>>;
  /** Signs a webhook as the vendor does, with the settings of the check; absent: its webhooks are not signed. */
  readonly sign?: (notice: Notice, settings: Readonly<Record<string, unknown>>) => Partial<Notice>;
}

/** What every payment with the same settings has alike. */
const UNTOLD = ['currency', 'shop', 'test'] as const;

export interface Notice {
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or a text as it is sent. */
  readonly body: unknown;
}

const CURRENCY_NUMBERS: ReadonlyMap<string, number> = new Map([
  ['RUB', 643],
  ['USD', 840],
]);

/** What the gaps are filled with. */
export interface Facts {
  /** The vendor's id of the payment, and of the refund. */
  readonly id: string;
  readonly refund: string;
  /** Our ids. */
  readonly order: string;
  readonly refundOrder: string;
  /** Its id of the saved method. */
  readonly saved: string;
  readonly status: string;
  /** Of the refund: what `{{status}}` is where `{{refund}}` is said. */
  readonly refundStatus: string;
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
  refundStates: Joi.object().pattern(Joi.string(), Joi.valid('pending', 'succeeded', 'canceled')),
  reasons: Joi.alternatives(
    Joi.object().pattern(Joi.string(), Joi.valid('expired', 'soft', 'hard', 'technical')),
    Joi.string().min(8),
  ).required(),
  payHosts: Joi.object().pattern(Joi.string(), Joi.string().uri()).default({}),
  routes: Joi.array()
    .items(
      Joi.object({
        on: Joi.array().items(Joi.valid(...CALLS)),
        when: Joi.array().items(Joi.string()),
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
  bodyUnsigned: Joi.string().min(8),
  idIsKey: Joi.string().min(8),
  untold: Joi.object()
    .pattern(Joi.valid(...UNTOLD), Joi.string().min(8))
    .default({}),
});

/** Throws what is wrong with it, in one line. */
export async function loadFixture(folder: string): Promise<Fixture> {
  const path = join(folder, 'fixtures', 'payment.json');
  if (!existsSync(path))
    throw new Error(`${path} does not exist: a payment plugin is checked against its vendor's answers`);
  const { value, error } = schema.validate(readJsonFile(path), { abortEarly: false });
  if (error) throw new Error(`${path}: ${error.message}`);
  for (const name of ['states', 'refundStates'] as const) {
    const known = Object.values(value[name] ?? value.states);
    const missing = (['pending', 'succeeded', 'canceled'] as const).filter((state) => !known.includes(state));
    if (missing.length > 0) throw new Error(`${path}: no word of \`${name}\` means ${missing.join(' or ')}`);
  }
  const strange = value.routes.flatMap(({ when = [] }) => when).find((word) => !Object.hasOwn(value.states, word));
  if (strange !== undefined)
    throw new Error(`${path}: \`when\` of a route says ${strange}, which is no word of \`states\``);
  const kinds = typeof value.reasons === 'string' ? ['soft', 'hard'] : Object.values(value.reasons);
  // A card is charged again after the one, and never after the other.
  const untold = ['soft', 'hard'].filter((kind) => !kinds.includes(kind as Decline['kind']));
  if (untold.length > 0) throw new Error(`${path}: no word of \`reasons\` means ${untold.join(' or ')}`);
  const sign = await loadFixtureScript<NonNullable<Fixture['sign']>>(folder, 'sign', 'signs a webhook');
  return { ...value, ...(sign && { sign }) };
}

/** A webhook as it arrives, signed with these settings where the vendor signs. */
export function writeNotice(
  { sign, settings }: Pick<Fixture, 'sign' | 'settings'>,
  notice: Notice,
  facts: Facts,
): { readonly headers: Notice['headers']; readonly body: string } {
  const filled = fill(notice, facts);
  const { headers, body } = sign ? { ...filled, ...sign(filled, settings) } : filled;
  return { headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** What the fixture shows of a payment's refunds, each with what differs from the payment's own facts. */
export function fillRefunds({ refund }: Fixture, facts: Facts, refunds: readonly Partial<Facts>[]): readonly unknown[] {
  return refunds.map((one) => fill(refund, { ...facts, ...one }));
}

/**
 * `{{amount}}` is roubles with two decimals, `{{kopecks}}` a number, `{{test}}` true or false, `{{refunds}}` a list;
 * `{{currencyNumber}}` is a number of ISO 4217, `{{currencyCode}}` the same as a text.
 */
export function fill<Value>(template: Value, facts: Facts): Value {
  const { amount, test, refunds, refundStatus, ...texts } = facts;
  if (JSON.stringify(template)?.includes('{{refund}}')) texts.status = refundStatus;
  const roubles = `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`;
  const currencyNumber = CURRENCY_NUMBERS.get(facts.currency) ?? 0;
  const gaps = Object.entries({ ...texts, amount: roubles, currencyCode: String(currencyNumber) });
  const filled = (value: unknown): unknown => {
    if (value === '{{test}}') return test;
    if (value === '{{kopecks}}') return Number(amount);
    if (value === '{{currencyNumber}}') return currencyNumber;
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
