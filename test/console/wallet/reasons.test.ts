// Reasons of payments as text: no payer has to read a provider's code.
import { expect } from 'chai';
import { LANGUAGES } from '../../../lib/console/language.ts';
import { reasonText } from '../../../lib/console/wallet/reasons.ts';
import { DECLINES } from '../../../payments/sandbox/cards.ts';

describe('the reason of a payment', () => {
  it('has words for every code of the sandbox, in both languages', () => {
    for (const language of LANGUAGES) {
      for (const code of Object.keys(DECLINES)) expect(reasonText(language, code), code).not.to.match(/_/);
    }
    expect(reasonText('ru', 'insufficient_funds')).to.equal('на карте недостаточно денег');
  });

  it('says in Russian how a payment differs from its order', () => {
    const reason = 'sum: 999.99 instead of 1000.00; shop: a instead of b';
    expect(reasonText('ru', reason)).to.equal('сумма: 999,99 (ожидалось: 1\u00a0000,00); магазин: a (ожидалось: b)');
    const words = 'status: pending instead of succeeded; test: true instead of false';
    expect(reasonText('ru', words)).to.equal(
      'статус: ждёт оплаты (ожидалось: оплачен); тестовый платёж: да (ожидалось: нет)',
    );
    expect(reasonText('en', reason)).to.equal('sum: 999.99 instead of 1,000.00; shop: a instead of b');
  });

  it('says in both languages that a payment of play money cannot be credited', () => {
    const upstream = 'wallets here pay for the upstream vendor, which costs real money';
    const reason = `sum: 9.00 instead of 10.00; test: its money is not real, and ${upstream}`;
    expect(reasonText('en', reason)).to.contain('; test payment, but models of the upstream vendor cost real money');
    expect(reasonText('ru', reason)).to.contain('; платёж тестовый, а модели провайдера vendor стоят настоящих денег');
    const live = 'test: true, but its provider takes real money now';
    expect(reasonText('ru', live)).to.contain('платёж тестовый').and.not.to.contain('test');
  });

  it('stays as it is where there are no words', () => {
    for (const reason of ['new_code_of_theirs', 'constructor', 'paid at the counter; see the mail']) {
      expect(reasonText('ru', reason)).to.equal(reason);
    }
  });
});
