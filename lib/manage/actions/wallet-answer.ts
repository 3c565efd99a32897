// Finds wallets, and shows them and their entries.
import type { Entry, Wallet } from '../../money/decide.ts';
import { getGrantedBalance } from '../../money/grants.ts';
import { toRub } from '../../money/money.ts';
import { formatMoney, formatPairs } from '../answer.ts';
import { findAccount, type Session } from '../session.ts';

/** Finds a wallet by id, even if a damaged store lacks the account, or by the account's name. */
export async function findWallet(session: Session, idOrName: string): Promise<Wallet> {
  const { ledger } = session.store;
  const wallet = (await ledger.wallet(idOrName)) ?? (await ledger.wallet((await findAccount(session, idOrName)).id));
  if (!wallet) throw await unknownAccount(idOrName);
  return wallet;
}

export async function unknownAccount(id: string): Promise<Error> {
  const accounts = await import('../../accounts/accounts.ts');
  return accounts.unknownAccountError(id);
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
    granted_rub: wallet.granted === undefined ? undefined : toRub(wallet.granted),
    granted_left_rub: wallet.grants === undefined ? undefined : toRub(getGrantedBalance(wallet)),
    play_money: wallet.playMoney ? true : undefined,
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
    ...(wallet.granted === undefined
      ? []
      : [['granted', `${formatMoney(wallet.granted)}, ${formatMoney(getGrantedBalance(wallet))} of it left`] as const]),
    ...(wallet.playMoney ? [['play money', 'yes: it pays for no real model'] as const] : []),
  ]);
}

/** The change of each wallet column by an entry. */
export function changeJson(entry: Entry) {
  return {
    balance_rub: toRub(entry.avail),
    held_rub: toRub(entry.held),
    charged_rub: toRub(entry.charged),
    topped_up_rub: toRub(entry.topped),
    adjusted_rub: toRub(entry.adjusted),
    granted_rub: entry.granted === undefined ? undefined : toRub(entry.granted),
  };
}
