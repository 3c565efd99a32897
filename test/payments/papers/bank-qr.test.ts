import { expect } from 'chai';
import { buildBankQr } from '../../../lib/payments/papers/bank-qr.ts';

describe('the QR code of an invoice', () => {
  const FIELDS = {
    name: 'ООО "Шлюз"',
    account: '40702810400000000001',
    bank: 'ПАО СБЕРБАНК Г. МОСКВА',
    bik: '044525225',
    correspondent: '30101810400000000225',
    kopecks: 1_000_050n,
    purpose: 'Оплата по счёту № 17 от 27.11.2026',
    inn: '7707083893',
    kpp: '773601001',
  };

  it('has the fields of the standard in their order', () => {
    expect(buildBankQr(FIELDS)).to.equal(
      'ST00012|Name=ООО "Шлюз"|PersonalAcc=40702810400000000001|BankName=ПАО СБЕРБАНК Г. МОСКВА|BIC=044525225|' +
        'CorrespAcc=30101810400000000225|Sum=1000050|Purpose=Оплата по счёту № 17 от 27.11.2026|PayeeINN=7707083893|KPP=773601001',
    );
  });

  it('keeps to lengths, lets no value break out, and leaves out what is not there', () => {
    const text = buildBankQr({ ...FIELDS, bank: 'Б'.repeat(99), name: 'ИП |Sum=1|', kpp: '', correspondent: '' });
    expect(text)
      .to.include(`|BankName=${'Б'.repeat(45)}|`)
      .and.include('|Name=ИП  Sum=1|')
      .and.include('|CorrespAcc=0|');
    const long = buildBankQr({ ...FIELDS, name: 'Н'.repeat(161), purpose: 'О'.repeat(211) });
    expect(long)
      .to.include(`|Name=${'Н'.repeat(160)}|`)
      .and.include(`|Purpose=${'О'.repeat(210)}|`);
    expect(text).to.not.include('KPP');
    expect(text.match(/Sum=/g)).to.have.length(2);
  });
});
