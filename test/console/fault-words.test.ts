import { expect } from 'chai';
import { fault } from '../../lib/base/faults.ts';
import { faultWords } from '../../lib/console/fault-words.ts';

describe('the Russian words of a fault', () => {
  it('have amounts with a decimal comma', () => {
    const words = faultWords(fault('call_budget', { isReserve: true, priceRub: '1.9666', budgetRub: '0.50' }), 'ru');
    expect(words).to.contain('1,9666 ₽').and.to.contain('0,50 ₽');
  });

  it('have sizes in Russian units', () => {
    expect(faultWords(fault('image_too_large', { field: 'image', hint: '8 MiB' }), 'ru')).to.contain('больше 8 МБ.');
  });
});
