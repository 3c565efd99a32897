// The consents an owner gives before a card is saved or charged automatically, stored in the words shown.
import { newId } from '../../payments/ids.ts';
import { defineWords, type Language } from '../language.ts';
import type { OwnerVisit } from '../visit.ts';

type ConsentKind = 'save_method' | 'auto_topup';

/** Bump it whenever the words change: a consent is stored with the words that were shown. */
const VERSION = '2';

const TEXTS = defineWords<Readonly<Record<ConsentKind, string>>>({
  en: {
    save_method:
      'Save the card: the payment provider keeps it for automatic top-up, which I turn on separately. I can remove it at any time.',
    auto_topup:
      'I agree that this card is charged this amount without further confirmation whenever the balance falls below the threshold, up to the monthly limit and at most three times a day, until I turn this off or remove the card.',
  },
  ru: {
    save_method:
      'Сохранить карту: платёжная система хранит её для автопополнения, которое включается отдельно. Удалить её можно в любой момент.',
    auto_topup:
      'Даю согласие на списание этой суммы с карты без дополнительного подтверждения, когда баланс опускается ниже порога: не больше лимита в месяц и не чаще трёх раз в день, пока автопополнение не отключено или карта не удалена.',
  },
});

export function consentText(language: Language, kind: ConsentKind): string {
  return TEXTS[language][kind];
}

/** Stores the consent and returns its id. */
export async function storeConsent(
  { services, account, signedIn, address, language }: OwnerVisit,
  kind: ConsentKind,
): Promise<string> {
  const at = services.now();
  const id = newId('con', at);
  const given = { kind, textVersion: VERSION, text: consentText(language, kind), at, address };
  await services.store.payments.addConsent({ id, wallet: account.id, user: signedIn.user.id, ...given });
  return id;
}
