// The rows of a definition list: what a member may still spend.
import { memberSumId } from '../ledger/caps.ts';
import { getSpent } from '../money/budget.ts';
import { maxMicro } from '../money/money.ts';
import { findPeriod } from '../money/period.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import { formatCap } from './member-words.ts';
import type { OwnerVisit } from './visit.ts';

const WORDS = defineWords({
  en: { cap: 'Your cap', left: 'Left of your cap' },
  ru: { cap: 'Ваш лимит', left: 'Осталось от лимита' },
});

/** None for a visitor without a cap. */
export async function capRows(visit: OwnerVisit): Promise<readonly (readonly [name: string, value: Html | string])[]> {
  const { cap, account, signedIn, services, format } = visit;
  if (!cap) return [];
  const words = WORDS[visit.language];
  const [sum] = await services.store.ledger.budgets([memberSumId({ account: account.id, user: signedIn.user.id })]);
  const spent = getSpent(sum, findPeriod(services.now(), cap).start);
  const left = maxMicro(cap.limit - spent, 0n);
  return [
    [words.left, html`<strong class="big">${format.rub(left)}</strong>`],
    [words.cap, formatCap(visit, cap)],
  ];
}
