// The audit of one charge: replaying its entries must give the stored row.

import { pluralize } from '../base/pluralize.ts';
import type { Charge, ChargeKind, Entry } from '../money/decide.ts';
import { absMicro, type Micro } from '../money/money.ts';
import { type EmbeddingPrice, embeddingCost, type TextPrice, TOKEN_RATES, textCost } from '../money/price.ts';
import { isAmount, readTextPrice } from '../money/stored-price.ts';
import { readTokens } from '../money/token-usage.ts';
import { type AuditDifference, decideAgain, isCharge, listDifferences } from './audit-rules.ts';

interface ChargeRows {
  readonly wallet: string;
  readonly charge: Charge | undefined;
  /** The entries of the charge on this wallet, in any order. */
  readonly entries: readonly Entry[];
}

export interface ChargeFinding {
  readonly problem: string;
  readonly drift?: Micro;
}

export function checkCharge({ wallet, charge, entries }: ChargeRows): readonly ChargeFinding[] {
  const ordered = entries.toSorted((a, b) => a.seq - b.seq);
  const sums = { held: 0n, charged: 0n };
  for (const entry of ordered.filter(hasAmounts)) {
    sums.held += entry.held;
    sums.charged += entry.charged;
  }
  if (!charge)
    return [{ problem: 'it has entries, but there is no charge', drift: absMicro(sums.held) + absMicro(sums.charged) }];
  if (!isCharge(charge)) return [{ problem: 'it is not a valid charge' }];
  const isHeld = charge.state === 'held';
  const money = listDifferences({
    held: { found: isHeld ? charge.reserved : 0n, wanted: sums.held },
    charged: { found: charge.state === 'settled' ? charge.charged : 0n, wanted: sums.charged },
  });
  return [...money.map(toFinding), ...replayEntries(wallet, charge, ordered), ...checkPrice(charge, ordered)];
}

function hasAmounts({ held, charged }: Entry): boolean {
  return typeof held === 'bigint' && typeof charged === 'bigint';
}

function toFinding({ text, drift }: AuditDifference): ChargeFinding {
  return { problem: text, drift };
}

function replayEntries(wallet: string, charge: Charge, entries: readonly Entry[]): ChargeFinding[] {
  const findings: ChargeFinding[] = [];
  let made: Charge | undefined;
  for (const entry of entries) {
    const again = decideAgain(entry, charge, made);
    findings.push(...again.problems.map((text) => ({ problem: `entry ${entry.seq}: ${text}` })));
    made = again.charge ?? made;
  }
  if (!made) return [...findings, { problem: `no entry of ${wallet} creates it` }];
  const names = Object.keys({ ...charge, ...made }) as (keyof Charge)[];
  const found = (row: Charge | undefined, name: keyof Charge) =>
    name === 'caps' ? JSON.stringify(row?.caps) : row?.[name];
  const wrong = names.filter((name) => found(made, name) !== found(charge, name));
  const text = (name: keyof Charge) => `${name}: ${found(charge, name)} instead of ${found(made, name)}`;
  return [...findings, ...wrong.map((name) => ({ problem: text(name) }))];
}

/** The cost of a call follows from its usage and prices; a call that the client has repeated is free. */
function checkPrice(charge: Charge, entries: readonly Entry[]): readonly ChargeFinding[] {
  const { kind, state, charged, usage } = charge;
  const prices = readObject(charge.prices);
  if (!prices) return [{ problem: `its prices are ${charge.prices}` }];
  const price = parsePrice(prices);
  // Other shapes were not written by a catalog, but a part of one that looks like a price of tokens cannot be read.
  if (!price && 'input' in prices && 'output' in prices) return [{ problem: `its prices are ${charge.prices}` }];
  if (price && !price.kinds.includes(kind)) {
    return [{ problem: `its kind is ${kind}, but its prices are those of ${price.kinds.join(' or ')}` }];
  }
  // What a service has named as the most that it may cost.
  if (isAmount(prices.service) && prices.service !== String(charge.reserved)) {
    return [{ problem: `its prices are ${charge.prices}, but it held ${charge.reserved}` }];
  }
  if (usage === null || (state !== 'settled' && state !== 'refunded')) return [];
  const used = readObject(usage);
  if (!used) return [{ problem: `its usage is ${usage}` }];
  if (used.repeated_as !== undefined) return checkRepeatedCall(charge, used.repeated_as, entries);
  if (!price) return [];
  const cost = price.cost(used);
  if (!cost) return kind === 'text' ? [{ problem: `its usage is ${usage}` }] : [];
  if (cost.amount === charged) return [];
  return [{ problem: `charged ${charged}, but ${cost.of} cost ${cost.amount}` }];
}

interface ParsedPrice {
  readonly kinds: readonly ChargeKind[];
  /** Undefined if the usage lacks the required values. */
  cost(usage: Readonly<Record<string, unknown>>): { readonly amount: Micro; readonly of: string } | undefined;
}

/** Recognises prices by the shape in which the catalog stores them; undefined for any other. */
function parsePrice(prices: Record<string, unknown>): ParsedPrice | undefined {
  const { input, output, request, second, service } = prices;
  const text = readTextPrice(prices);
  if (text) return textPrice(text);
  if (isAmount(input) && output === undefined) return embeddingPrice({ input: BigInt(input) });
  if (isAmount(request)) return requestPrice(BigInt(request));
  if (isAmount(service)) return SERVICE_PRICE;
  const [each] = typeof second === 'object' && second !== null ? Object.values(second) : [second];
  return isAmount(each) ? secondPrice(BigInt(each)) : undefined;
}

function textPrice(price: TextPrice): ParsedPrice {
  return {
    kinds: ['text'],
    cost(usage) {
      const tokens = readTokens(usage);
      if (!tokens) return undefined;
      const counts = TOKEN_RATES.flatMap((kind) => (tokens[kind] === undefined ? [] : [`${tokens[kind]} ${kind}`]));
      return { amount: textCost(price, tokens), of: `${counts.join(' + ')} tokens` };
    },
  };
}

function embeddingPrice(price: EmbeddingPrice): ParsedPrice {
  return {
    kinds: ['embedding'],
    cost({ tokens_input: input }) {
      return isCount(input) ? { amount: embeddingCost(price, input), of: pluralize(input, 'token') } : undefined;
    },
  };
}

/** The price of an image, or of a video of any length. */
function requestPrice(price: Micro): ParsedPrice {
  return {
    kinds: ['image', 'edit', 'video'],
    cost({ images = 1 }) {
      return isCount(images) ? { amount: price * BigInt(images), of: pluralize(images, 'request') } : undefined;
    },
  };
}

/** A service names its cost itself, up to what is held. */
const SERVICE_PRICE: ParsedPrice = { kinds: ['service'], cost: () => undefined };

function secondPrice(price: Micro): ParsedPrice {
  return {
    kinds: ['video'],
    cost({ seconds }) {
      return isCount(seconds) ? { amount: price * BigInt(seconds), of: pluralize(seconds, 'second') } : undefined;
    },
  };
}

/** Only a call whose hold had expired can have been repeated. */
function checkRepeatedCall(
  { id, charged }: Charge,
  repeat: unknown,
  entries: readonly Entry[],
): readonly ChargeFinding[] {
  if (typeof repeat !== 'string' || repeat === id) return [{ problem: `it says it was repeated as ${repeat}` }];
  if (charged !== 0n) return [{ problem: `charged ${charged}, but it was repeated as ${repeat}` }];
  if (entries.some(({ kind }) => kind === 'expire')) return [];
  return [{ problem: `it was repeated as ${repeat}, but its hold has not expired` }];
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
