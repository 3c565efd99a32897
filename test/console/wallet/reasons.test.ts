// Reasons of payments in words: no payer has to read a provider's code.
import { expect } from 'chai';
import { LANGUAGES } from '../../../lib/console/language.ts';
import { reasonText } from '../../../lib/console/wallet/reasons.ts';
import { DECLINES } from '../../../payments/sandbox/cards.ts';

describe('the reason of a payment', () => {
  it('has words for every code of the sandbox, in both languages', () => {
    for (const language of LANGUAGES) {
      for (const code of Object.keys(DECLINES)) expect(reasonText(language, code), code).not.to.match(/_/);
    }
    expect(reasonText('ru', 'insufficient_funds')).to.equal('на карте не хватает денег');
  });

  it('says in Russian how a payment differs from its order', () => {
    const reason = 'sum: 999.99 instead of 1000.00; shop: a instead of b';
    expect(reasonText('ru', reason)).to.equal('сумма: 999.99 вместо 1000.00; магазин: a вместо b');
    expect(reasonText('en', reason)).to.equal(reason);
  });

  it('stays as it is where there are no words', () => {
    for (const reason of ['new_code_of_theirs', 'constructor', 'paid at the counter; see the mail']) {
      expect(reasonText('ru', reason)).to.equal(reason);
    }
  });
});
