// The port of folded usage: sums of the calls of a wallet by hour, key, model and kind, which can be rebuilt from its
// journal.
import type { ChargeKind } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';
import type { UnitCount } from '../../money/usage-units.ts';

/** The sums of units are those of settled calls. */
export interface UsageTotals extends Readonly<Record<UnitCount, number>> {
  /** Calls that started, whatever their outcome. */
  readonly calls: number;
  /** Charges less refunds. */
  readonly charged: Micro;
  readonly refunded: Micro;
}

/** The sums of one hour, or the amounts to add to them. */
export interface UsageHour extends UsageTotals {
  /** The start of the hour in which the calls started, ms since the epoch. */
  readonly hour: number;
  readonly key: string;
  readonly model: string;
  readonly kind: ChargeKind;
}

/** A folded part of the journal of a wallet. */
export interface UsageStep {
  readonly wallet: string;
  /** The last entry folded before; 0 for none. */
  readonly from: number;
  /** The last entry of this part. */
  readonly to: number;
  /** One row for each hour, key, model and kind. */
  readonly hours: readonly UsageHour[];
}

export interface FoldedUsage {
  readonly cursor: number;
  readonly hours: readonly UsageHour[];
}

export interface UsageQuery {
  readonly by: 'hour' | 'day' | 'model' | 'key' | 'kind';
  /** Whole hours, ms since the epoch; `to` is exclusive. */
  readonly from?: number;
  readonly to?: number;
  readonly key?: string;
  /** Of these keys. */
  readonly keys?: readonly string[];
  readonly model?: string;
  readonly kind?: ChargeKind;
}

export interface UsageGroupSum extends UsageTotals {
  /** The start of the hour in ms since the epoch, the UTC day as `2027-01-15`, the model, the id of the key, or the kind. */
  readonly group: string;
}

export interface UsageStore {
  /** `seq` of the last folded entry of the wallet; 0 before the first. */
  cursor(wallet: string): Promise<number>;
  /** Adds the sums and moves the cursor in one transaction; false when the cursor is no longer at `from`. */
  add(step: UsageStep): Promise<boolean>;
  /** A snapshot of all sums of a wallet and its cursor: for a copy, if its journal is partly archived. */
  readAll(wallet: string): Promise<FoldedUsage>;
  /** Replaces the sums and the cursor of a wallet. */
  put(wallet: string, usage: FoldedUsage): Promise<void>;
  /** Sums by group, in no particular order. */
  sums(wallet: string, query: UsageQuery): Promise<readonly UsageGroupSum[]>;
  /** Checks `limit` wallets with ids above `after`, and finds those whose journal has entries after the cursor. */
  findBehind(after: string, limit: number): Promise<{ readonly found: readonly string[]; readonly next?: string }>;
  /** Drops the sums and the cursor of a wallet, so that it is folded again. */
  forget(wallet: string): Promise<void>;
}
