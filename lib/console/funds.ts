// The part of a wallet's money that can be spent: a bonus waits for the first payment, unless it opens the wallet.
import { FIRST_TOPUP_MINIMUM, needsFirstPayment, type Wallet } from '../money/decide.ts';
import { getGrantedBalance } from '../money/grants.ts';
import type { Micro } from '../money/money.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { Visit } from './visit.ts';

const WORDS = defineWords({
  en: {
    spendable: 'Available',
    bonus: 'Bonus',
    part: 'Including bonuses',
    later: (minimum: string) => `can be spent after the first payment of at least ${minimum}`,
  },
  ru: {
    spendable: 'Доступно',
    bonus: 'Бонус',
    part: 'Включая бонусы',
    later: (minimum: string) => `станет доступно после первого платежа от ${minimum}`,
  },
});

type Funds = Pick<Wallet, 'avail' | 'topped' | 'opened' | 'grants'>;

/** Calls are refused until the first top-up, or a grant that counts as one. */
export function getSpendable(wallet: Funds): Micro {
  return needsFirstPayment(wallet) && wallet.avail > 0n ? 0n : wallet.avail;
}

/** The rows of a definition list: what is available, and the bonus that waits. */
export function fundsRows(
  visit: Pick<Visit, 'language' | 'format'>,
  wallet: Funds,
): readonly (readonly [name: string, value: Html])[] {
  const words = WORDS[visit.language];
  const spendable = html`<strong class="big">${visit.format.rub(getSpendable(wallet))}</strong>`;
  const bonus = bonusText(visit, wallet);
  const given = bonus ? 0n : getGrantedBalance(wallet);
  return [
    [words.spendable, spendable],
    ...(given > 0n ? [[words.part, html`${visit.format.rub(given)}`] as const] : []),
    ...(bonus ? [[words.bonus, bonus] as const] : []),
  ];
}

/** Undefined if nothing waits for the first payment. */
export function bonusText({ language, format }: Pick<Visit, 'language' | 'format'>, wallet: Funds): Html | undefined {
  const bonus = wallet.avail - getSpendable(wallet);
  if (bonus === 0n) return undefined;
  return html`${format.rub(bonus)} <span class="hint">${WORDS[language].later(format.rub(FIRST_TOPUP_MINIMUM))}</span>`;
}
