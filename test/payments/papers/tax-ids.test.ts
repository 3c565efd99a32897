import { expect } from 'chai';
import {
  isBankAccount,
  isBik,
  isCorrespondentAccount,
  isInn,
  isKpp,
  isOgrn,
  isProprietor,
} from '../../../lib/payments/papers/tax-ids.ts';

describe('numbers of companies', () => {
  // Public ones: banks and sole proprietors of textbooks.
  it('takes tax numbers with the right check digits', () => {
    // The last two have a digit for every weight.
    for (const inn of ['7707083893', '7736050003', '7830002293', '500100732259', '7743123453', '771234567859'])
      expect(isInn(inn), inn).to.equal(true);
    // Their sums leave a rest of ten, whose digit is 0.
    for (const inn of ['7700370360', '7702222110', '771240672604', '771245610601'])
      expect(isInn(inn), inn).to.equal(true);
    for (const inn of ['7707083894', '770708389', '500100732258', '500100732269', '77070838931', '770708389a', ''])
      expect(isInn(inn), inn).to.equal(false);
  });

  it('tells sole proprietors by the length of their tax number', () => {
    expect(['7707083893', '500100732259'].map(isProprietor)).to.deep.equal([false, true]);
  });

  it('takes state numbers of companies and of sole proprietors', () => {
    for (const ogrn of ['1027700132195', '1027700070518', '304500116000157']) expect(isOgrn(ogrn), ogrn).to.equal(true);
    for (const ogrn of ['1027700132240', '304500116000180']) expect(isOgrn(ogrn), ogrn).to.equal(true);
    // The right check digit does not help a wrong form.
    for (const ogrn of ['0027700132196', '10277001321951', '10277001321 5']) expect(isOgrn(ogrn), ogrn).to.equal(false);
    for (const ogrn of ['1027700132196', '304500116000158', '102770013219', ''])
      expect(isOgrn(ogrn), ogrn).to.equal(false);
  });

  it('takes codes of registration and of banks', () => {
    for (const kpp of ['773601001', '7736AB001']) expect(isKpp(kpp), kpp).to.equal(true);
    for (const kpp of ['77360100', '7736ab001', '773601001 ']) expect(isKpp(kpp), kpp).to.equal(false);
    expect([isBik('044525225'), isBik('04452522'), isBik('944525225')]).to.deep.equal([true, false, false]);
  });

  it('takes accounts whose check digit fits the bank', () => {
    expect(isCorrespondentAccount('30101810400000000225', '044525225')).to.equal(true);
    expect(isCorrespondentAccount('30101810145250000411', '044525411')).to.equal(true);
    expect(isCorrespondentAccount('30101810500000000653', '044030653')).to.equal(true);
    expect(isCorrespondentAccount('30101810400000000226', '044525225')).to.equal(false);
    const account = [...'0123456789'].map((digit) => `40702810${digit}00000000001`);
    expect(account.filter((each) => isBankAccount(each, '044525225'))).to.have.length(1);
    expect(isBankAccount('4070281090000000000', '044525225')).to.equal(false);
  });
});
