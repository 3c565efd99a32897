// The port of promo codes: what a code gives, and which accounts have used it.
import type { Micro } from '../../money/money.ts';

export interface PromoCode {
  /** In capitals. */
  readonly code: string;
  readonly amount: Micro;
  /** How many accounts may use it, each once. */
  readonly uses: number;
  readonly used: number;
  /** It can be used before this time, ms since the epoch; null: until it is ended or used up. */
  readonly until: number | null;
  /** How long its grants last; null: for good. */
  readonly days: number | null;
  /** Its grants count as the first top-up. */
  readonly opens: boolean;
  /** Why it was made; owners see it. */
  readonly reason: string;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

export interface PromoUse {
  readonly code: string;
  readonly account: string;
  readonly at: number;
}

/**
 * `claimed`: this account has taken a use now; `known`: it had before, at `at`; `none`: there is no such code; `over`: its
 * time is over, or it was ended; `used_up`.
 */
export type PromoClaim =
  | { readonly status: 'claimed' | 'known'; readonly promo: PromoCode; readonly at: number }
  | { readonly status: 'none' | 'over' | 'used_up' };

export interface PromoStore {
  /** False if there is such a code already. */
  add(promo: PromoCode): Promise<boolean>;
  get(code: string): Promise<PromoCode | undefined>;
  /** In order of code. */
  page(page: { readonly after: string; readonly limit: number }): Promise<readonly PromoCode[]>;
  /** False if there is no such code, or it was ended before. */
  end(code: string, at: number): Promise<boolean>;
  /** Takes a use of a code, in one transaction: never more than there are, and one per account. */
  claim(use: PromoUse): Promise<PromoClaim>;
  /** In order of code and account. */
  uses(page: { readonly after?: PromoUse; readonly limit: number }): Promise<readonly PromoUse[]>;
  /** For a copy: writes rows as they are in another store, overwriting. */
  put(rows: { readonly codes: readonly PromoCode[]; readonly uses: readonly PromoUse[] }): Promise<void>;
}
