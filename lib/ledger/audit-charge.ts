// The audit of one charge: replaying its entries must give the stored row.

import type { Charge, Entry } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { type TextPrice, textCost } from '../money/price.ts';
import { type AuditDifference, decideAgain, differences, isCharge } from './audit-rules.ts';

export interface ChargeRows {
  readonly id: string;
  readonly wallet: string;
  readonly charge: Charge | undefined;
  /** Its entries on this wallet, in any order. */
  readonly entries: readonly Entry[];
}

export interface ChargeFinding {
  readonly problem: string;
  readonly drift?: Micro;
}

export function checkCharge({ wallet, charge, entries }: ChargeRows): readonly ChargeFinding[] {
  const ordered = entries.toSorted((a, b) => a.seq - b.seq);
  const sums = { held: 0n, charged: 0n };
  for (const entry of ordered.filter(isEntryOfMoney)) {
    sums.held += entry.held;
    sums.charged += entry.charged;
  }
  if (!charge)
    return [{ problem: 'it has entries, but there is no charge', drift: sizeOf(sums.held) + sizeOf(sums.charged) }];
  if (!isCharge(charge)) return [{ problem: 'it is not a valid charge' }];
  const isHeld = charge.state === 'held';
  const money = differences({
    held: { found: isHeld ? charge.reserved : 0n, wanted: sums.held },
    charged: { found: charge.state === 'settled' ? charge.charged : 0n, wanted: sums.charged },
  });
  return [...money.map(toFinding), ...replay(wallet, charge, ordered), ...checkPrice(charge, ordered)];
}

function isEntryOfMoney({ held, charged }: Entry): boolean {
  return typeof held === 'bigint' && typeof charged === 'bigint';
}

function toFinding({ text, drift }: AuditDifference): ChargeFinding {
  return { problem: text, drift };
}

function replay(wallet: string, charge: Charge, entries: readonly Entry[]): ChargeFinding[] {
  const findings: ChargeFinding[] = [];
  let made: Charge | undefined;
  for (const entry of entries) {
    const again = decideAgain(entry, charge, made);
    findings.push(...again.problems.map((text) => ({ problem: `entry ${entry.seq}: ${text}` })));
    made = again.charge ?? made;
  }
  if (!made) return [...findings, { problem: `no entry of ${wallet} creates it` }];
  const names = Object.keys(made) as (keyof Charge)[];
  const wrong = names.filter((name) => made?.[name] !== charge[name]);
  return [...findings, ...wrong.map((name) => ({ problem: `${name}: ${charge[name]} instead of ${made?.[name]}` }))];
}

/** The cost of a text call follows from its tokens and the prices it was made with; one that was repeated is free. */
function checkPrice(charge: Charge, entries: readonly Entry[]): readonly ChargeFinding[] {
  const { kind, state, charged, usage } = charge;
  const prices = readObject(charge.prices);
  if (!prices) return [{ problem: `its prices are ${charge.prices}` }];
  const price = textPriceOf(prices);
  if (price && kind !== 'text') return [{ problem: `its kind is ${kind}, but its prices are those of text` }];
  if (usage === null || (state !== 'settled' && state !== 'refunded')) return [];
  const used = readObject(usage);
  if (!used) return [{ problem: `its usage is ${usage}` }];
  const { tokens_input: input, tokens_output: output, repeated_as: repeat } = used;
  if (repeat !== undefined) return checkRepeated(charge, repeat, entries);
  if (!price || !isCount(input) || !isCount(output)) return [];
  const cost = textCost(price, { input, output });
  if (cost === charged) return [];
  return [{ problem: `charged ${charged}, but ${input} + ${output} tokens cost ${cost}` }];
}

/** Only a call whose hold had expired can have been repeated. */
function checkRepeated({ id, charged }: Charge, repeat: unknown, entries: readonly Entry[]): readonly ChargeFinding[] {
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

function textPriceOf({ input, output }: Record<string, unknown>): TextPrice | undefined {
  const isAmount = (value: unknown): value is string => typeof value === 'string' && /^\d+$/.test(value);
  return isAmount(input) && isAmount(output) ? { input: BigInt(input), output: BigInt(output) } : undefined;
}

function sizeOf(amount: Micro): Micro {
  return amount < 0n ? -amount : amount;
}
