import { expect } from 'chai';
import { FAULT_CODES, fault } from '../../lib/base/faults.ts';
import { faultWords } from '../../lib/console/fault-words.ts';
import { expectRecorded } from '../../testkit/recorded.ts';

/** What every fault could say. */
const ALL = {
  ...{ field: 'size', hint: 'HINT', model: 'MODEL', retryAfterS: 7, charge: 'CHARGE', bytes: 4096, refunded: true },
  ...{ priceRub: '1.50', isReserve: true, balanceRub: '2.50', heldRub: '3.50', minimumRub: '100.00' },
  ...{
    budgetRub: '5.50',
    leftRub: '0.50',
    reset: 'day',
    resetsAt: 'RESETS',
    walletUrl: 'https://gate.example.com/account/wallet',
  },
} as const;

describe('the words of faults', () => {
  it('are those that are recorded', () => {
    const texts = FAULT_CODES.map((code) => {
      const less = { isReserve: false, refunded: false, heldRub: undefined, resetsAt: undefined, leftRub: undefined };
      const some = [ALL, { ...ALL, resetsAt: undefined, field: '' }, { ...ALL, ...less }];
      const said = some.flatMap((detail) => {
        const told = fault(code, detail);
        return [told.message, faultWords(told, 'en'), faultWords(told, 'ru')];
      });
      const { output, data } = fault(code);
      const facts = [output.statusCode, data?.type, data?.chatCode, data?.errorCode, data?.retryable && 'again'];
      return [`===== ${code}: ${facts.filter(Boolean).join(', ')}`, ...new Set(said)].join('\n');
    });
    expectRecorded(new URL('fault-words.txt', import.meta.url), texts);
  });
});

describe('the Russian words of a fault', () => {
  it('name the least price, or none', () => {
    const words = (detail: object) =>
      faultWords(fault('insufficient_balance', { balanceRub: '0.00', ...detail }), 'ru');
    expect(words({ isReserve: true, isLeast: true, priceRub: '0.50' })).to.equal(
      'Недостаточно денег: для запроса нужен резерв не меньше 0,50\u00a0₽, а на балансе 0,00\u00a0₽.',
    );
    expect(words({})).to.equal('Недостаточно денег: на балансе 0,00\u00a0₽.');
  });

  it('have amounts with a decimal comma', () => {
    const words = faultWords(fault('call_budget', { isReserve: true, priceRub: '1.9666', budgetRub: '0.50' }), 'ru');
    expect(words).to.contain('1,9666\u00a0₽').and.to.contain('0,50\u00a0₽');
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
