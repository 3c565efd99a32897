// Attempts at upstreams: what each request of a call to a vendor used, and what it cost the operator.
import { checksum } from './checksum.ts';
import type { Micro } from './money.ts';

/**
 * `answered`: the whole answer came; `cut`: the answer broke off after its beginning; `left`: the client left, and the
 * attempt was aborted; `refused`: the upstream declined the request (4xx), or none reached it; `failed`: any other
 * failure before an answer; `timeout`: no answer in time; `running`: the upstream works on a job; `lost`: the gateway
 * ended before it recorded how the attempt went.
 */
export const ATTEMPT_ENDINGS = ['answered', 'cut', 'left', 'refused', 'failed', 'timeout', 'running', 'lost'] as const;
export type AttemptEnding = (typeof ATTEMPT_ENDINGS)[number];

/** The endings that are faults of an upstream, or of the way to it. */
export const FAULT_ENDINGS: readonly AttemptEnding[] = ['cut', 'refused', 'failed', 'timeout'];

/**
 * How certain the cost is. `reported`: by the usage that the upstream reported; `estimated`: by the gateway's own
 * counts; `possible`: the upstream may bill this much, or nothing; `none`: the upstream bills nothing.
 */
export const CERTAINTIES = ['reported', 'estimated', 'possible', 'none'] as const;
export type Certainty = (typeof CERTAINTIES)[number];

/** What an attempt cost, with the values that it follows from. */
export interface AttemptCost {
  /** Of the vendor's price list. */
  readonly currency: string;
  /** The vendor's prices as JSON of decimal micro-units of the currency, in the shape of `Charge.prices`. */
  readonly prices: string;
  /** Micro-roubles for one unit of the currency. */
  readonly rate: Micro;
  /** In micro-units of the currency. */
  readonly cost: bigint;
  readonly costRub: Micro;
}

/** One request to an upstream, as the call that made it knows it. */
export interface NewAttempt {
  /** The id of the model that was asked, which is not the one that is billed if another stands in. */
  readonly model: string;
  /** The name of the upstream in the catalog; null if unknown. */
  readonly upstream: string | null;
  /** The upstream's name for the model; null if unknown. */
  readonly upstreamModel: string | null;
  /** The position of the upstream's key in its settings, from 1; null if it has none, or no request was sent. */
  readonly keyPlace: number | null;
  /** The vendor's id of the request or answer; null if it gave none. */
  readonly requestId: string | null;
  /** When it started, ms since the epoch. */
  readonly at: number;
  readonly ending: AttemptEnding;
  /** Why it was refused or failed, in a few words such as `503 overloaded`; absent if it did not, or nobody knows. */
  readonly reason?: string;
  /** Until the first fragment of the answer; null if none came, or the answer came whole. */
  readonly firstMs: number | null;
  readonly totalMs: number;
  /** What the cost was computed from, as JSON of a `Usage`; null if nothing is known. */
  readonly usage: string | null;
  readonly certainty: Certainty;
  /** Null if it is unknown: the route has no cost in the catalog, or the usage is not known. */
  readonly cost: AttemptCost | null;
}

/** One row of the cost ledger: an attempt of a call. */
export interface Attempt extends NewAttempt {
  /** The id of the call's charge. */
  readonly charge: string;
  /** Counts the attempts of a call, from 1. */
  readonly number: number;
  readonly wallet: string;
  /** The last attempt of its call: what the call was charged is compared with its model and upstream. */
  readonly last: boolean;
  /** See `mark.ts`. */
  readonly mark: string;
}

interface AttemptOwner {
  readonly charge: string;
  readonly wallet: string;
}

/** The attempts of a call in order, as rows. */
export function toAttemptRows(owner: AttemptOwner, attempts: readonly NewAttempt[]): readonly Attempt[] {
  return attempts.map((attempt, index) => {
    const { charge, wallet } = owner;
    const row = { ...attempt, charge, wallet, number: index + 1, last: index === attempts.length - 1 };
    return { ...row, mark: markAttempt(row) };
  });
}

/** The checksum of a row, by which the audit notices a value that was changed outside the ledger. */
export function markAttempt(attempt: Omit<Attempt, 'mark'>): string {
  const { charge, number, wallet, last, model, upstream, upstreamModel, keyPlace, requestId } = attempt;
  const { at, ending, reason, firstMs, totalMs, usage, certainty, cost } = attempt;
  const route = [model, upstream, upstreamModel, keyPlace, requestId];
  const money = cost && [cost.currency, cost.prices, `${cost.rate}`, `${cost.cost}`, `${cost.costRub}`];
  const values = [charge, number, wallet, last, route, at, ending, firstMs, totalMs, usage, certainty, money];
  // Rows of earlier versions have no reason.
  return checksum(reason === undefined ? values : [...values, reason]);
}
