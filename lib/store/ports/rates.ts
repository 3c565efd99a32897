// The port of exchange rates: which rates have been in force, since when.
import type { Micro } from '../../money/money.ts';

/** A rate that came into force. */
export interface RateRecord {
  /** Such as `USD`. */
  readonly currency: string;
  /** Counts the rates of the currency, from 1. */
  readonly seq: number;
  /** Micro-roubles per unit. */
  readonly rub: Micro;
  /** The first day of the rate in Moscow, as its author wrote it. */
  readonly from: string;
  /** When a gateway first used it, ms since the epoch. */
  readonly at: number;
}

export type NewRate = Omit<RateRecord, 'seq'>;

export interface RateStore {
  /** Appends the rates that differ from the last one of their currency; idempotent, also if several processes do it. */
  record(rates: readonly NewRate[]): Promise<void>;
  /** All rates, in order of currency and number. */
  list(): Promise<readonly RateRecord[]>;
  /** Writes rates as they are in another store, overwriting: for a copy. */
  put(rates: readonly RateRecord[]): Promise<void>;
}
