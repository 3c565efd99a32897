// Promo codes: each gives a grant to an account that types it in, once.
import { randomInt } from 'node:crypto';
import { DAY_MS } from '../base/durations.ts';
import { makePromoGrantId } from '../money/grants.ts';
import type { Micro } from '../money/money.ts';
import type { PromoCode } from '../store/ports/promos.ts';
import type { Store } from '../store/store.ts';
import { giveGrant } from './grants.ts';

/** Without letters and digits that look alike. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LETTERS_COUNT = 12;
const CODE = /^[A-Z0-9][A-Z0-9-]{3,39}$/;

/** As it is stored: people type codes in any case, and with spaces around. Undefined if no code looks like that. */
export function readPromoCode(text: string): string | undefined {
  const code = text.trim().toUpperCase();
  return CODE.test(code) ? code : undefined;
}

/** 60 bits, in groups of four: nobody guesses it. */
export function makePromoCode(): string {
  const letters = Array.from({ length: LETTERS_COUNT }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return (letters.match(/.{4}/g) ?? []).join('-');
}

export type NewPromo = Pick<
  PromoCode,
  'code' | 'amount' | 'uses' | 'until' | 'days' | 'opens' | 'reason' | 'createdAt'
>;

export function createPromo(promo: NewPromo): PromoCode {
  return { ...promo, used: 0, endedAt: null };
}

/** `again`: the account has used the code before; `too_many`: it has too many grants; the code can be used later. */
export type Redemption =
  | { readonly status: 'done'; readonly grantId: string; readonly amount: Micro; readonly until: number | null }
  | { readonly status: 'again' | 'none' | 'over' | 'used_up' | 'too_many' };

/**
 * Takes a use of the code, then gives the grant. If only the first was done, doing it again does the second: the grant
 * has the id of the use.
 */
export async function redeemPromo(
  store: Pick<Store, 'promos' | 'ledger'>,
  { code, account, at }: { readonly code: string; readonly account: string; readonly at: number },
): Promise<Redemption> {
  const claim = await store.promos.claim({ code, account, at });
  if (!('promo' in claim)) return claim;
  const { amount, days, opens, reason } = claim.promo;
  const until = days === null ? null : claim.at + days * DAY_MS;
  const grantId = makePromoGrantId({ code, account });
  const terms = { wallet: account, at, amount, grantId, until, reason, ...(opens && { opens: true as const }) };
  const { status } = await giveGrant(store, terms);
  switch (status) {
    case 'done':
      return { status, grantId, amount, until };
    case 'exists':
      return { status: 'again' };
    case 'too_many_grants':
      return { status: 'too_many' };
    default:
      throw new Error(`the grant ${grantId} was answered ${status}`);
  }
}
