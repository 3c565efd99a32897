import { expect } from 'chai';
import { addDays, formatDay } from '../../../lib/money/days.ts';
import { buildBankQr } from '../../../lib/payments/papers/bank-qr.ts';
import {
  buildInvoiceQr,
  cancelInvoice,
  describePurpose,
  findInvoice,
  type Invoice,
  isOverdue,
  markInvoicePaid,
  orderInvoice,
  readInvoiceRow,
  toInvoiceRow,
} from '../../../lib/payments/papers/invoices.ts';
import { type FaultyStore, lose, openFaultyStore } from '../../../testkit/faulty-store.ts';
import { BUYER, LINE, SELLER } from '../../../testkit/papers.ts';
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
    const most = 100_000_000n * RUB;
    expect(await order(account, most)).to.have.property('invoice');
    expect(await order(account, most + 10_000n)).to.deep.equal({ refusal: 'bounds' });
  });

  it('keeps what was ordered, by whom, and until when it can be paid, in the account’s zone', async () => {
    const account = await faults.wallet();
    const ordered = await order(account, 5n * RUB + 10_000n, 'what a form sent');
    if (!('invoice' in ordered)) throw new Error(ordered.refusal);
    const { invoice } = ordered;
    expect(invoice.id).to.match(/^inv_[0-9a-f]{24}$/);
    const date = formatDay(AT, 'Asia/Vladivostok');
    const terms = { account, state: 'open', date, due: addDays(date, SELLER.days), kopecks: 501n, at: AT, version: 1 };
    expect(invoice).to.deep.include({ ...terms, seller: SELLER, buyer: BUYER, user: 'usr_a', payment: null });
    expect(await findInvoice(faults.real, invoice.id)).to.deep.equal(invoice);
    // What is written after a change is all of it again.
    for (const changed of [
      invoice,
      markInvoicePaid(invoice, 'bank:1'),
      markInvoicePaid({ ...invoice, state: 'canceled' }, 'x'),
    ])
      expect({ wasCanceled: undefined, ...readInvoiceRow(toInvoiceRow(changed)) }).to.deep.equal({
        wasCanceled: undefined,
        ...changed,
      });
    expect(isOverdue(invoice, invoice.due)).to.equal(false);
    expect(isOverdue(invoice, addDays(invoice.due, 1))).to.equal(true);
    expect(isOverdue(markInvoicePaid(invoice, 'bank:1'), addDays(invoice.due, 1))).to.equal(false);
    const { name, account: payee, bank, bik, correspondent, inn, kpp } = SELLER;
    const purpose = describePurpose(invoice);
    expect(buildInvoiceQr(invoice)).to.equal(
      buildBankQr({ name, account: payee, bank, bik, correspondent, inn, kpp, kopecks: 501n, purpose }),
    );
  });

  it('leaves twenty open ones to an account, and takes another once one of them is canceled', async () => {
    const account = await faults.wallet();
    const idOf = (at: number) => `inv_${String(at).padStart(24, '0')}`;
    for (let at = 1; at <= 20; at += 1)
      expect(await order(account, RUB, idOf(at)), `${at}`).to.have.property('invoice');
    expect(await order(account, RUB, idOf(21))).to.deep.equal({ refusal: 'too_many' });
    expect(await order(account, RUB, idOf(7)), 'one of them once more').to.have.nested.property('invoice.id', idOf(7));
    const invoice = await findInvoice(faults.real, idOf(7));
    expect(invoice && (await cancelInvoice(faults.store, invoice, LINE))).to.equal(true);
    const canceled = await findInvoice(faults.real, idOf(7));
    expect(canceled && (await cancelInvoice(faults.store, canceled, LINE))).to.equal(false);
    expect(await order(account, RUB, idOf(21))).to.have.property('invoice');
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
