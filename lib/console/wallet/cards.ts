// The owner's saved cards, and how to remove one.
import { alertCardChange } from '../../alerts/card.ts';
import { fault } from '../../base/faults.ts';
import type { SavedMethodRow } from '../../store/ports/payments.ts';
import { audit } from '../audit.ts';
import { form } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords, type Language } from '../language.ts';
import type { Redirect } from '../page.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { paymentWords } from './payment-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Saved cards',
    until: (month: string) => `expires ${month}`,
    remove: (card: string) => `Remove ${card}`,
    removeText: 'A removed card is never charged again, and automatic top-up from it stops.',
  },
  ru: {
    title: 'Сохранённые карты',
    until: (month: string) => `действует до ${month}`,
    remove: (card: string) => `Удалить ${card}`,
    removeText: 'С удалённой карты больше ничего не спишется, автопополнение с неё прекратится.',
  },
});

/** Without removed cards, newest first. */
export async function listCards({ services, account }: OwnerVisit): Promise<readonly SavedMethodRow[]> {
  const all = await services.store.payments.methods(account.id);
  return all.filter(({ removedAt }) => removedAt === null);
}

export function cardName({ brand, last4, kind }: SavedMethodRow, language: Language): string {
  const { methods } = paymentWords(language);
  const name = brand ?? (methods as Readonly<Record<string, string>>)[kind] ?? kind;
  return last4 === null ? name : `${name} •••• ${last4}`;
}

/** Undefined without cards. */
export function cardsSection(visit: OwnerVisit, cards: readonly SavedMethodRow[]): Html | undefined {
  if (cards.length === 0) return undefined;
  const { language } = visit;
  const words = WORDS[language];
  const items = cards.map((card) => {
    const name = cardName(card, language);
    const fields = html`<input type="hidden" name="change" value="remove_card"><input type="hidden" name="card" value="${card.id}">`;
    const remove = { action: linkTo(visit, '/account/wallet'), fields, button: words.remove(name), danger: true };
    const confirm = `${words.remove(name)}? ${words.removeText}`;
    return html`<li>${name}${card.expiry !== null && `, ${words.until(card.expiry.split('-').reverse().join('/'))}`}${form(visit, { ...remove, confirm })}</li>`;
  });
  return html`<h2>${words.title}</h2>
<ul>${items}</ul>
<p class="hint">${words.removeText}</p>`;
}

export async function removeCard(visit: OwnerVisit, sent: Form): Promise<Redirect> {
  const { services, account } = visit;
  const { payments } = services.store;
  const card = await payments.method(sent.text('card'));
  if (card?.wallet !== account.id) throw fault('not_found');
  await payments.removeMethod(card.id, services.now());
  await audit(visit, { action: 'card.remove', target: card.id });
  await alertCardChange(services, 'card.removed', card);
  return { to: linkTo(visit, '/account/wallet?done=removed') };
}
