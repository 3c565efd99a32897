// The port of folded usage: sums of a wallet's calls by hour, key, model and kind, made from its journal and made anew at will.
import type { ChargeKind } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';

/** What is added up. */
export interface UsageCounts {
  /** Calls that began, whatever became of them. */
  readonly calls: number;
  /** Less refunds. */
  readonly charged: Micro;
  readonly refunded: Micro;
  readonly tokensInput: number;
  readonly tokensOutput: number;
  readonly images: number;
  readonly seconds: number;
}

/** The sums of one hour; also what is to be added to them. */
export interface UsageHour extends UsageCounts {
  /** The beginning of the hour in which the calls began, ms since the epoch. */
  readonly hour: number;
  readonly key: string;
  readonly model: string;
  readonly kind: ChargeKind;
}

/** A part of a wallet's journal, folded. */
export interface UsageStep {
  readonly wallet: string;
  /** The last entry that was folded before; 0 for none. */
  readonly from: number;
  /** The last entry of this part. */
  readonly to: number;
  /** One for each hour, key, model and kind. */
  readonly hours: readonly UsageHour[];
}

export interface UsageQuery {
  readonly by: 'day' | 'model' | 'key' | 'kind';
  /** Whole hours, ms since the epoch; `to` is not included. */
  readonly from?: number;
  readonly to?: number;
  readonly key?: string;
  readonly model?: string;
  readonly kind?: ChargeKind;
}

export interface UsageGroupSum extends UsageCounts {
  /** The day in UTC as `2027-01-15`, the model, the id of the key, or the kind. */
  readonly group: string;
}

export interface UsageStore {
  /** `seq` of the last entry of the wallet that was folded; 0 before the first. */
  cursor(wallet: string): Promise<number>;
  /** Adds the sums and moves the cursor in one transaction; false when the cursor is no longer at `from`. */
  add(step: UsageStep): Promise<boolean>;
  /** In no order. */
  sums(wallet: string, query: UsageQuery): Promise<readonly UsageGroupSum[]>;
  /** Drops the sums and the cursor of a wallet: it is folded anew. */
  forget(wallet: string): Promise<void>;
}
