// What owners are told of a card that was saved or removed.
import { expect } from 'chai';
import { buildAlertMail } from '../../lib/alerts/alert-messages.ts';
import { alertCardChange } from '../../lib/alerts/card.ts';
import type { AlertContent } from '../../lib/alerts/watch.ts';
import { newMethod } from '../contract/store/payments.ts';
import { makeUser } from '../contract/store/people.ts';

describe('an alert of a card', () => {
  const method = newMethod('acc_1', { brand: 'Visa', last4: '4242' });
  let told: unknown[];
  let errors: object[];
  let queueAlert: () => Promise<void>;
  beforeEach(() => {
    [told, errors] = [[], []];
    queueAlert = async () => undefined;
  });
  const means = {
    alerts: {
      async queueAlert(...news: readonly unknown[]) {
        told.push(news);
        await queueAlert();
      },
    },
    log: { error: (fields: object) => void errors.push(fields) },
  };

  it('contains the account, the card and the id of the method', async () => {
    await alertCardChange(means, 'card.removed', method);
    await alertCardChange(means, 'card.saved', { ...method, brand: null, kind: 'sbp', last4: null });
    expect(told).to.deep.equal([
      ['acc_1', { type: 'card.removed', data: { card: 'Visa •••• 4242' } }, method.id],
      ['acc_1', { type: 'card.saved', data: { card: 'sbp' } }, method.id],
    ]);
  });

  it('logs a failure and does not reject', async () => {
    queueAlert = async () => Promise.reject(new Error('the store is gone'));
    await alertCardChange(means, 'card.saved', method);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.include({ account: 'acc_1', method: method.id });
  });

  const letterOf = (type: AlertContent['type'], language: 'en' | 'ru') => {
    const event = { type, data: { card: 'Visa •••• 4242' }, id: 'alr_1', account: 'acc_1', at: 0 };
    const user = makeUser({ language });
    return buildAlertMail(event, { user, accountName: 'Lamp', publicUrl: 'https://gate.example.com' });
  };
  const WORDS: readonly (readonly [AlertContent['type'], 'en' | 'ru', RegExp, RegExp])[] = [
    ['card.saved', 'en', /^A card was saved: Visa/, /was saved for the account “Lamp”/],
    ['card.removed', 'en', /^A card was removed: Visa/, /never be charged again/],
    ['card.saved', 'ru', /^Сохранена карта: Visa/, /Для аккаунта «Lamp» сохранена карта/],
    ['card.removed', 'ru', /^Удалена карта: Visa/, /больше ничего не спишется/],
  ];
  for (const [type, language, subject, text] of WORDS) {
    it(`is a letter (${type}, ${language})`, () => {
      const letter = letterOf(type, language);
      expect(letter.subject).to.match(subject);
      expect(letter.text).to.match(text).and.to.contain('https://gate.example.com/account/wallet?account=acc_1');
    });
  }
});
