// Credits of bank payments: each exactly once, whoever imports it, however often and at the same time.
import { expect } from 'chai';
import { keepBankPayments, makeBankPaymentId } from '../../../lib/payments/papers/bank-payments.ts';
import type { StatedPayment } from '../../../lib/payments/papers/bank-statement.ts';
import { creditBankPayment, creditCertainPayment } from '../../../lib/payments/papers/crediting.ts';
import { describePurpose, findInvoice, type Invoice, orderInvoice } from '../../../lib/payments/papers/invoices.ts';
import type { Store } from '../../../lib/store/store.ts';
import { BUYER, SELLER } from '../../../testkit/papers.ts';
import { AT, newAccount, newId, problemsOf, RUB, type StoreContext } from './context.ts';

/** An invoice of an account that has never paid. */
export async function newInvoice(store: Store, account: string, amount = 1500n * RUB): Promise<Invoice> {
  const terms = { account, amount, seller: SELLER, buyer: BUYER, user: 'usr_a', zone: 'Europe/Moscow', now: AT };
  const ordered = await orderInvoice(store, { ...terms, id: '' });
  if ('refusal' in ordered) throw new Error(ordered.refusal);
  return ordered.invoice;
}

/** What a bank states of the payment of an invoice. */
export function statePayment(invoice: Invoice, more: Partial<StatedPayment> = {}): StatedPayment {
  return {
    ...{ date: '2026-11-27', number: newId('n'), kopecks: invoice.kopecks, payerAccount: '40702810000000000777' },
    ...{ payerInn: BUYER.inn, payerName: BUYER.name, payeeAccount: SELLER.account },
    ...{ purpose: describePurpose(invoice), isReceived: true, isPlain: true },
    ...more,
  };
}

const record = async () => {};

export function bankCreditContract(context: StoreContext): void {
  it('are kept once and credited once by two importers of overlapping statements at once', async () => {
    const stores = [context.store, await context.other()];
    const account = await newAccount(context.store);
    const invoice = await newInvoice(context.store, account);
    const stated = [statePayment(invoice), statePayment(invoice), statePayment(invoice, { purpose: 'аванс' })];
    const kept = await Promise.all(stores.map((store) => keepBankPayments(store, [...stated, ...stated], AT)));
    expect(kept.reduce((sum, { added }) => sum + added, 0)).to.equal(3);
    expect(await keepBankPayments(context.store, stated, AT + 1)).to.deep.equal({ added: 0, known: 3 });
    const ids = stated.map(makeBankPaymentId);
    const tries = [...ids, ...ids].flatMap((id) => stores.map((store) => ({ store, id })));
    const results = await Promise.all(
      tries.map(({ store, id }) => creditCertainPayment(store, id, { at: AT, record }).then(({ status }) => status)),
    );
    // Of two payments with the number of one invoice, one is credited; the other waits for an operator.
    expect(results).to.include('credited');
    expect((await context.store.ledger.wallet(account))?.topped).to.equal(1500n * RUB);
    const rows = await Promise.all(ids.map((id) => context.store.papers.get('payment', id)));
    expect(rows.map((row) => row?.state).toSorted()).to.deep.equal(['credited', 'open', 'open']);
    const paid = await findInvoice(context.store, invoice.id);
    expect(paid).to.include({ state: 'paid', payment: rows.find((row) => row?.state === 'credited')?.id });
    expect(await problemsOf(context.store, account)).to.deep.equal([]);
  });

  it('go to one of two accounts that operators choose at once', async () => {
    const stores = [context.store, await context.other()];
    const accounts = [await newAccount(context.store), await newAccount(context.store)];
    const invoice = await newInvoice(context.store, accounts[0] as string);
    const stated = statePayment(invoice, { purpose: 'за нейросети' });
    await keepBankPayments(context.store, [stated], AT);
    const results = await Promise.all(
      stores.map((store, at) => {
        const target = { account: accounts[at] as string };
        return creditBankPayment(store, makeBankPaymentId(stated), { at: AT, record, target });
      }),
    );
    const topped = await Promise.all(accounts.map(async (id) => (await context.store.ledger.wallet(id))?.topped ?? 0n));
    expect(topped.toSorted()).to.deep.equal([0n, 1500n * RUB]);
    expect(results.map(({ status }) => status)).to.include('credited');
  });
}
