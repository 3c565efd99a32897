import { expect } from 'chai';
import { describePurpose, type Invoice, orderInvoice } from '../../../lib/payments/papers/invoices.ts';
import { type FaultyStore, lose, openFaultyStore } from '../../../testkit/faulty-store.ts';
import { BUYER, SELLER } from '../../../testkit/papers.ts';
import { AT, RUB, rejection } from '../../contract/store/context.ts';

describe('ordering an invoice', () => {
  let faults: FaultyStore;
  before(async () => {
    faults = await openFaultyStore();
  });
  after(() => faults.close());

  const order = async (account: string, amount: bigint, id = '') => {
    const terms = { account, seller: SELLER, buyer: BUYER, user: 'usr_a', zone: 'Asia/Vladivostok', now: AT };
    return orderInvoice(faults.store, { ...terms, id, amount });
  };

  it('asks for at least 1000 roubles until the wallet was topped up, and for whole kopecks', async () => {
    const account = await faults.wallet(0n);
    expect(await order(account, 999n * RUB)).to.deep.equal({ refusal: 'bounds' });
    expect(await order(account, 1000n * RUB + 1n)).to.deep.equal({ refusal: 'kopecks' });
    expect(await order(account, 1000n * RUB)).to.have.property('invoice');
    expect(await order(await faults.wallet(), RUB)).to.have.property('invoice');
  });

  it('issues one invoice although the first answer was lost', async () => {
    const account = await faults.wallet();
    const id = 'inv_00112233445566778899aabb';
    faults.next('papers.issue', lose);
    expect(await rejection(order(account, 5n * RUB, id))).to.have.property('message', 'lost by the test');
    const again = await order(account, 5n * RUB, id);
    expect(await order(account, 6n * RUB, id)).to.deep.equal(again);
    expect(await faults.real.papers.list({ kind: 'invoice', account, limit: 9 })).to.have.length(1);
  });

  it('refuses the id of an invoice of another account', async () => {
    const id = 'inv_00112233445566778899aabc';
    expect(await order(await faults.wallet(), 5n * RUB, id)).to.have.property('invoice');
    expect(await order(await faults.wallet(), 5n * RUB, id)).to.deep.equal({ refusal: 'too_many' });
  });

  it('says the tax within the sum in the purpose of the payment', () => {
    const purpose = (kopecks: bigint, vat: '22' | 'none') =>
      describePurpose({ number: 7, date: '2026-11-05', kopecks, seller: { ...SELLER, vat } } as Invoice);
    const start = 'Оплата по счёту № 7 от 05.11.2026, пополнение баланса, ';
    expect(purpose(12_205n, '22')).to.equal(`${start}в том числе НДС 22% 22,01 руб.`);
    expect(purpose(33n, '22')).to.equal(`${start}в том числе НДС 22% 0,06 руб.`);
    expect(purpose(33n, 'none')).to.equal(`${start}НДС не облагается`);
  });
});
