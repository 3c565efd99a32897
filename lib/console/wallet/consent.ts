// The consents an owner gives before a card is saved or charged automatically, stored in the words shown.
import { newId } from '../../payments/ids.ts';
import { defineWords, type Language } from '../language.ts';
import type { OwnerVisit } from '../visit.ts';

export type ConsentKind = 'save_method' | 'auto_topup';

/** Bump it whenever the words change: a consent is stored with the words that were shown. */
const VERSION = '1';

const TEXTS = defineWords<Readonly<Record<ConsentKind, string>>>({
  en: {
    save_method:
      'Save the card: the payment provider keeps it for automatic top-ups that I switch on myself. I can remove it at any time.',
    auto_topup:
      'I agree that this card is charged this amount without asking me again whenever the balance falls below the threshold, up to the monthly limit and three times a day, until I switch this off or remove the card.',
  },
  ru: {
    save_method:
      'Сохранить карту: платёжная система хранит её для автопополнения, которое включается отдельно. Удалить её можно в любой момент.',
    auto_topup:
      'Даю согласие: когда баланс опускается ниже порога, с этой карты без нового запроса списывается эта сумма, не больше предела за месяц и трёх раз в день, — до отключения автопополнения или удаления карты.',
  },
});

export function consentText(language: Language, kind: ConsentKind): string {
  return TEXTS[language][kind];
}

/** Stores the consent and returns its id. */
export async function keepConsent(
  { services, account, signedIn, address, language }: OwnerVisit,
  kind: ConsentKind,
): Promise<string> {
  const at = services.now();
  const id = newId('con', at);
  const given = { kind, textVersion: VERSION, text: consentText(language, kind), at, address };
  await services.store.payments.addConsent({ id, wallet: account.id, user: signedIn.user.id, ...given });
  return id;
}
