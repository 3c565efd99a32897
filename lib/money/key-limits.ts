// The limits an owner sets on an API key: a budget, an expiry date, allowed models.
import type { Micro } from './money.ts';
import type { RequestLimits } from './request-limits.ts';

/** When a budget resets: never, or daily, weekly (on Monday) or monthly in its time zone. */
export const RESETS = ['none', 'day', 'week', 'month'] as const;
export type Reset = (typeof RESETS)[number];

/** The time zone of an account whose owner has not chosen one. */
export const DEFAULT_ZONE = 'Europe/Moscow';

export interface KeyLimits {
  /** The most that the key may hold and be charged, less refunds, between two resets; null for no limit. */
  readonly budget: Micro | null;
  readonly reset: Reset;
  /** The IANA time zone of the reset. */
  readonly zone: string;
  /** ms since the epoch: from then on the key is refused for good. Null: it does not expire. */
  readonly expiresAt: number | null;
  /** Ids or aliases of the models it may be used for; null for all. */
  readonly models: readonly string[] | null;
  /** The budget of each end user whom the calls of the key name; absent: none. */
  readonly endUsers?: EndUserLimit | undefined;
  /** Absent: those of its account and of the service alone. */
  readonly requests?: RequestLimits | undefined;
}

interface EndUserLimit {
  readonly cap: Micro;
  /** In the time zone of the limits. */
  readonly reset: Reset;
}

export const NO_LIMITS: KeyLimits = {
  budget: null,
  reset: 'none',
  zone: DEFAULT_ZONE,
  expiresAt: null,
  models: null,
};

export function isExpired({ expiresAt }: Pick<KeyLimits, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

export interface NamedModel {
  readonly id: string;
  readonly aliases: readonly string[];
}

export function allowsModel({ models }: Pick<KeyLimits, 'models'>, { id, aliases }: NamedModel): boolean {
  return models === null || models.includes(id) || aliases.some((alias) => models.includes(alias));
}
