// The port of folded usage: sums of the calls of a wallet by hour, UTC day or week, key, model and kind, and of their attempts
// by hour and route, which can be rebuilt from its journal; and the sums of all wallets together, for the operator's pages.

import type { AttemptEnding } from '../../money/attempt.ts';
import type { ChargeKind } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';
import type { UnitCount } from '../../money/usage-units.ts';
import type { ChargeFilter } from './ledger.ts';

/** The sums of units are those of settled calls. */
export interface UsageTotals extends Readonly<Record<UnitCount, number>> {
  /** Calls that started, whatever their outcome. */
  readonly calls: number;
  /** Charges less refunds. */
  readonly charged: Micro;
  readonly refunded: Micro;
  /** Calls that failed: their hold was returned, or the price of their job. */
  readonly failed: number;
  /** What their attempts cost the operator, reported and estimated. */
  readonly cost: Micro;
  /** Attempts that may have cost something nobody knows. */
  readonly unpriced: number;
}

/** The sums of one hour, or the amounts to add to them. */
export interface UsageHour extends UsageTotals {
  /** The start of the hour in which the calls started, ms since the epoch. */
  readonly hour: number;
  readonly key: string;
  readonly model: string;
  readonly kind: ChargeKind;
}

export type UsageGrain = 'hour' | 'day' | 'week';

/** Sums of one grain, each with the start of its part of the time, ms since the epoch. */
export type UsageOf<Grain extends UsageGrain> = Omit<UsageHour, 'hour'> & { readonly [Name in Grain]: number };

/** `unasked`: a call failed before any upstream was asked. */
export type RouteEnding = AttemptEnding | 'unasked';

export interface RouteTotals {
  readonly attempts: number;
  /** Failed calls whose last attempt this was. */
  readonly failed: number;
  readonly cost: Micro;
  readonly unpriced: number;
  /** The times to the first fragment, by `BUCKET_BOUNDS_MS`. */
  readonly first: readonly number[];
}

/** Attempts of one hour that ended alike on one route, by the time of their calls. */
export interface RouteHour extends RouteTotals {
  readonly hour: number;
  /** Empty if unknown, or if none was asked. */
  readonly upstream: string;
  /** The model that was asked. */
  readonly model: string;
  readonly ending: RouteEnding;
  /** Empty if there is none. */
  readonly reason: string;
}

/** The charge of a job whose attempts are not final: they are counted once they are. */
export interface OpenJob extends Pick<UsageHour, 'hour' | 'key' | 'model' | 'kind'> {
  readonly charge: string;
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
  /** One row for each hour, route and ending. */
  readonly routes?: readonly RouteHour[];
  /** The open jobs before and after this step; absent: they stay as they are. */
  readonly jobs?: { readonly from: readonly OpenJob[]; readonly to: readonly OpenJob[] };
}

export interface UsageProgress {
  /** `seq` of the last folded entry; 0 before the first. */
  readonly cursor: number;
  /** Those that are counted once they have ended. */
  readonly jobs: readonly OpenJob[];
}

export interface FoldedUsage extends UsageProgress {
  readonly hours: readonly UsageHour[];
  /** As they are stored, like the weeks; they follow from the hours. */
  readonly days: readonly UsageOf<'day'>[];
  readonly weeks: readonly UsageOf<'week'>[];
  readonly routes: readonly RouteHour[];
  /** Some archived calls were folded by a version that counted neither failures nor attempts. */
  readonly isPartial: boolean;
}

export interface UsageQuery extends Pick<ChargeFilter, 'key' | 'keys' | 'model' | 'kind'> {
  readonly by: 'hour' | 'day' | 'model' | 'key' | 'kind' | 'names';
  /** Whole hours, ms since the epoch; `to` is exclusive. */
  readonly from?: number;
  readonly to?: number;
  /** Only these are added up, which is faster the fewer they are; the others are 0. */
  readonly counts?: readonly (keyof UsageTotals)[];
}

/** Usage by parts of a time and by what was used. */
export interface UsageSlotQuery extends Omit<UsageQuery, 'by' | 'from' | 'to'> {
  readonly by: 'model' | 'key' | 'kind';
  /** Where the parts start, in order, each at a whole hour; the last one ends at `to`. */
  readonly starts: readonly number[];
  readonly to: number;
}

export interface UsageSlotSum extends UsageGroupSum {
  /** The start of its part. */
  readonly at: number;
}

export interface UsageGroupSum extends UsageTotals {
  /**
   * The start of the hour in ms since the epoch, the UTC day as `2027-01-15`, the model, the id of the key, the kind, or
   * `key kind model`; only the model may contain spaces.
   */
  readonly group: string;
}

/** What the sums of all wallets are kept by: the model that was billed, the account, or the route with its ending. */
export const SERVICE_SUBJECTS = ['model', 'account', 'route'] as const;
export type ServiceSubject = (typeof SERVICE_SUBJECTS)[number];

/** Sums of routes have attempts, and failed calls; the others have calls. */
export interface ServiceTotals
  extends Pick<UsageTotals, 'calls' | 'failed' | 'charged' | 'refunded' | 'cost' | 'unpriced'> {
  readonly attempts: number;
  /** The times to the first fragment; only sums of routes have some. */
  readonly first: readonly number[];
}

export interface ServiceSum extends ServiceTotals {
  readonly grain: 'hour' | 'day' | 'week';
  readonly subject: ServiceSubject;
  /** The start of the hour, of the UTC day or of the week, ms since the epoch. */
  readonly at: number;
  /** The model, the account, or the JSON of a route: upstream, model, ending and reason. */
  readonly name: string;
}

export type ServiceCount = Exclude<keyof ServiceTotals, 'first'>;

export interface ServiceQuery {
  readonly subject: ServiceSubject;
  /** Whole hours, ms since the epoch; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  /** `at`: by time; `name`: those with the highest charge first, then those with most failures and attempts. */
  readonly by: 'at' | 'name' | 'both';
  /** Where the parts of the time start, in order, the first at `from` and each at a whole hour; absent: every hour. */
  readonly starts?: readonly number[];
  /** Only of these. */
  readonly names?: readonly string[];
  /** Only these are added up, which is faster the fewer they are; the others are 0, and so are the times. */
  readonly counts?: readonly ServiceCount[];
}

export interface ServiceRow extends ServiceTotals {
  /** The start of its part of the time; 0 if summed over all of it. */
  readonly at: number;
  /** Empty if summed over names. */
  readonly name: string;
}

/** The sums of a UTC day of all wallets together, by the hour and by the day, and those of each, in one snapshot. */
export interface ServiceDay {
  /** Its start, ms since the epoch. */
  readonly day: number;
  readonly stored: readonly ServiceSum[];
  readonly hours: readonly (Pick<UsageHour, 'hour' | 'model'> & ServiceTotals & { readonly wallet: string })[];
  readonly routes: readonly RouteHour[];
}

/** The sums of a week and of its days, of all wallets together, in one snapshot. */
export interface ServiceWeek {
  /** Its start, ms since the epoch. */
  readonly week: number;
  readonly sums: readonly ServiceSum[];
}

export interface UsageStore {
  /** How far the journal of the wallet is folded. */
  progress(wallet: string): Promise<UsageProgress>;
  /**
   * Adds the sums, also to those of days, weeks and all wallets, and moves the cursor, in one transaction; false when the
   * cursor is no longer at `from`, or the open jobs have changed.
   */
  add(step: UsageStep): Promise<boolean>;
  /** A snapshot of all sums of a wallet and its cursor: for a copy, if its journal is partly archived. */
  readAll(wallet: string): Promise<FoldedUsage>;
  /** Replaces the sums and the cursor of a wallet; makes its days and weeks from the hours. */
  put(wallet: string, usage: Omit<FoldedUsage, 'days' | 'weeks'>): Promise<void>;
  /** Sums by group, in no particular order. They and `slots` read whole weeks and days instead of their hours. */
  sums(wallet: string, query: UsageQuery): Promise<readonly UsageGroupSum[]>;
  /** Sums by part of a time and group, in no particular order. */
  slots(wallet: string, query: UsageSlotQuery): Promise<readonly UsageSlotSum[]>;
  /** Checks `limit` wallets with ids above `after`, and finds those with entries after the cursor, or with open jobs. */
  findBehind(after: string, limit: number): Promise<{ readonly found: readonly string[]; readonly next?: string }>;
  /** Drops the sums and the cursor of a wallet, so that it is folded again. */
  forget(wallet: string): Promise<void>;
  /** Sums of all wallets together. */
  serviceSums(query: ServiceQuery): Promise<readonly ServiceRow[]>;
  /** The first UTC day from a time on that has any sums; undefined if there is none. */
  serviceDay(from: number): Promise<ServiceDay | undefined>;
  /** The first week from a time on that has any sums by the day or the week; undefined if there is none. */
  serviceWeek(from: number): Promise<ServiceWeek | undefined>;
}
