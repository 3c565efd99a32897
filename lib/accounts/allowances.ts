// What accounts get each month: a grant of the whole amount that ends with the month, in the time zone of the account.
import { bookOperation } from '../ledger/booking.ts';
import type { OutcomeStatus } from '../money/decide.ts';
import { MONTHLY_GRANT_IDS } from '../money/grants.ts';
import { findPeriod, formatMoment } from '../money/period.ts';
import type { Allowance } from '../store/ports/accounts.ts';
import type { Store } from '../store/store.ts';
import { readZone } from './zone.ts';

type AllowanceStore = Pick<Store, 'ledger' | 'users'>;

interface MonthlyGrant {
  /** `id_taken`: the month was given already, with another amount or end. */
  readonly status: OutcomeStatus;
  readonly grantId: string;
  readonly until: number;
}

/**
 * Gives the grant of the current month, unless it was given. Any number of gateways may do it: the id of the operation
 * is that of the account and the month.
 */
export async function giveMonthlyGrant(
  { ledger, users }: AllowanceStore,
  account: string,
  { amount, reason }: Allowance,
  at: number,
): Promise<MonthlyGrant> {
  const zone = await readZone(users, account);
  const { start, end } = findPeriod(at, { reset: 'month', zone });
  const until = end as number;
  const grantId = `${MONTHLY_GRANT_IDS}${account}:${formatMoment(start, zone).slice(0, 7)}`;
  const { status } = await bookOperation(
    { ledger },
    { kind: 'grant', wallet: account, at, amount, grantId, reason, until },
  );
  return { status, grantId, until };
}

/** Whether the account has the grant of the month now. */
export function isMonthGiven(status: OutcomeStatus): boolean {
  return status === 'done' || status === 'exists' || status === 'id_taken';
}

interface AllowanceSweep {
  /** Resolves to how many grants were given. An account that fails does not keep the others waiting. */
  give(now: number): Promise<number>;
}

export function createAllowanceSweep(
  store: AllowanceStore & Pick<Store, 'accounts'>,
  onError: (error: unknown, account: string) => void,
): AllowanceSweep {
  /** When the month ends whose grant an account has, so that others are not looked up each time. */
  const given = new Map<string, number>();

  async function giveTo({ id, ...allowance }: Allowance & { readonly id: string }, now: number): Promise<boolean> {
    if (now < (given.get(id) ?? 0)) return false;
    const { status, until } = await giveMonthlyGrant(store, id, allowance, now);
    if (!isMonthGiven(status)) throw new Error(`the ledger refused the grant of the month: ${status}`);
    given.set(id, until);
    return status === 'done';
  }

  return {
    async give(now) {
      const rows = await store.accounts.allowances();
      let count = 0;
      for (const row of rows) {
        try {
          if (await giveTo(row, now)) count += 1;
        } catch (error) {
          onError(error, row.id);
        }
      }
      const ids = new Set(rows.map(({ id }) => id));
      for (const id of given.keys()) if (!ids.has(id)) given.delete(id);
      return count;
    },
  };
}
