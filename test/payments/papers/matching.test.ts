import { expect } from 'chai';
import { findInvoiceNumbers } from '../../../lib/payments/papers/matching.ts';

describe('the invoice that a purpose names', () => {
  const PURPOSES: readonly (readonly [string, readonly number[]])[] = [
    ['Оплата по счёту № 17 от 27.11.2026, пополнение баланса, в том числе НДС 22% 1803,37 руб.', [17]],
    ['ОПЛАТА ПО СЧЕТУ N17 ОТ 27.11.2026Г. НДС НЕ ОБЛАГАЕТСЯ', [17]],
    ['по сч. №17 от 27/11/26', [17]],
    ['по сч 17', [17]],
    ['Счет-оферта № 17', [17]],
    ['Оплата счета №0017', [17]],
    ['по счету от 27.11.2026 № 17', [17]],
    ['по счету от 27 ноября 2026 г. № 17', [17]],
    ['по счёту 17 за счёт клиента', [17]],
    ['Оплата по договору № 5 по счету № 17', [17]],
    ['по счету 17 и счету 18', [17, 18]],
    ['по счету 17, повторно счет 17', [17]],
    ['расчет 5', []],
    ['на р/счет 40702810938000000001', []],
    ['Оплата за услуги, договор 17', []],
    ['', []],
  ];
  for (const [purpose, numbers] of PURPOSES)
    it(`${purpose || 'of an empty one'}: ${numbers.join(', ') || 'none'}`, () => {
      expect(findInvoiceNumbers(purpose)).to.deep.equal(numbers);
    });
});
