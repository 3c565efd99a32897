// Applies one money operation from outside the server, and shows wallets and the changes of entries.
import type { Entry, Operation, Outcome, Wallet } from '../money/decide.ts';
import { toRub } from '../money/money.ts';
import { type Store, StoreError } from '../store/store.ts';
import { formatMoney, formatPairs } from './output.ts';
import { findAccount, type Session } from './session.ts';

const ATTEMPTS_MAX = 5;
const PAUSE_MS = 200;

/**
 * Sends an operation until the store says what became of it. Its id makes a repeat harmless, also after an attempt
 * whose fate is unknown.
 */
export async function apply(store: Store, op: Operation): Promise<Outcome> {
  const submission = { op, tried: false, abandoned: false };
  let unknown = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [outcome] = await store.ledger.apply([submission]);
      if (!outcome) throw new Error('the store gave no answer to an operation');
      return outcome;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      unknown ||= error.applied === 'unknown';
      if (attempt === ATTEMPTS_MAX) throw unknown ? unconfirmed(op, error) : error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function unconfirmed(op: Operation, { message, cause }: StoreError): StoreError {
  const advice = `It may have been booked: see "tollgate ledger list ${op.wallet}" before you repeat it.`;
  return new StoreError(`${message}. ${advice}`, 'unknown', cause);
}

/** By id, which needs no account in a damaged store, or by the account's name. */
export async function findWallet(session: Session, idOrName: string): Promise<Wallet> {
  const { ledger } = session.store;
  const wallet = (await ledger.wallet(idOrName)) ?? (await ledger.wallet((await findAccount(session, idOrName)).id));
  if (!wallet) throw await unknownAccount(idOrName);
  return wallet;
}

export async function unknownAccount(id: string): Promise<Error> {
  const accounts = await import('../accounts/accounts.ts');
  return accounts.unknownAccount(id);
}

export function walletJson(wallet: Wallet) {
  return {
    account_id: wallet.id,
    status: wallet.status,
    currency: 'RUB',
    balance_rub: toRub(wallet.avail),
    held_rub: toRub(wallet.held),
    charged_rub: toRub(wallet.charged),
    topped_up_total_rub: toRub(wallet.topped),
    adjusted_rub: toRub(wallet.adjusted),
  };
}

export function walletText(wallet: Wallet): string {
  return formatPairs([
    ['account', wallet.id],
    ['status', wallet.status],
    ['balance', formatMoney(wallet.avail)],
    ['held', formatMoney(wallet.held)],
    ['charged', formatMoney(wallet.charged)],
    ['topped up', formatMoney(wallet.topped)],
    ['adjusted', formatMoney(wallet.adjusted)],
  ]);
}

/** What an entry did to each column of its wallet. */
export function changeJson(entry: Entry) {
  return {
    balance_rub: toRub(entry.avail),
    held_rub: toRub(entry.held),
    charged_rub: toRub(entry.charged),
    topped_up_rub: toRub(entry.topped),
    adjusted_rub: toRub(entry.adjusted),
  };
}
