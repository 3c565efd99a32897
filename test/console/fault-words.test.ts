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

  it('say in Russian what a field must be, or leave it out', () => {
    const say = (hint: string) => faultWords(fault('invalid_field', { field: 'size', hint }), 'ru');
    expect(say('must be one of a, b')).to.equal('Поле size заполнено неверно: подходит одно из: a, b.');
    expect(say('must be from 1 to 9 for model `e`')).to.contain(': для модели e нужно число от 1 до 9.');
    expect(say('must be 9 for model `e`')).to.contain(': для модели e подходит только 9.');
    expect(say('this model offers only 4, 8')).to.contain(': у этой модели есть только 4, 8.');
    expect(say('must be a string')).to.equal('Поле size заполнено неверно.');
  });
});
