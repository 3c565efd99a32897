// The warning on an account's pages while its balance is below the amount that its owners want to be alerted of.
import { message } from './components.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import { linkTo, mayVisit, type OwnerVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    low: (balance: string, threshold: string) => `The balance is low: ${balance}, below ${threshold}.`,
    topUp: 'Top up',
  },
  ru: {
    low: (balance: string, threshold: string) => `Баланс заканчивается: ${balance}, это меньше ${threshold}.`,
    topUp: 'Пополнить',
  },
});

/** Undefined for those who do not see the wallet, and where nobody asked for an alert. Holds count, as in the alert. */
export async function lowBalanceBar(visit: OwnerVisit): Promise<Html | undefined> {
  const { services, account, language, format } = visit;
  if (!mayVisit(visit, '/account/wallet')) return undefined;
  const threshold = (await services.store.alerts.get(account.id))?.balanceBelow ?? null;
  const wallet = threshold === null ? undefined : await services.store.ledger.wallet(account.id);
  const balance = (wallet?.avail ?? 0n) + (wallet?.held ?? 0n);
  if (!wallet || threshold === null || balance >= threshold) return undefined;
  const words = WORDS[language];
  const low = words.low(format.rub(balance), format.rub(threshold));
  return message('error', html`${low} <a href="${linkTo(visit, '/account/wallet')}">${words.topUp}</a>`);
}
