// Every failure on the way of a bank payment into a wallet: afterwards, crediting it again finishes exactly one credit.
import { expect } from 'chai';
import {
  findBankPayment,
  keepBankPayments,
  makeBankPaymentId,
  toBankPaymentRow,
} from '../../../lib/payments/papers/bank-payments.ts';
import type { StatedPayment } from '../../../lib/payments/papers/bank-statement.ts';
import {
  type CreditTarget,
  creditBankPayment,
  creditCertainPayment,
  dismissBankPayment,
  reopenBankPayment,
} from '../../../lib/payments/papers/crediting.ts';
import {
  cancelInvoice,
  findInvoice,
  type Invoice,
  toInvoiceRow,
  unmarkInvoicePaid,
} from '../../../lib/payments/papers/invoices.ts';
import { type MatchReason, matchBankPayment } from '../../../lib/payments/papers/matching.ts';
import { type FaultyStore, lose, openFaultyStore, refuse } from '../../../testkit/faulty-store.ts';
import { LINE } from '../../../testkit/papers.ts';
import { newInvoice, statePayment } from '../../contract/store/bank-credits.ts';
import { AT, applied, newId, problemsOf, RUB, rejection, topup } from '../../contract/store/context.ts';

describe('crediting a bank payment', () => {
  let faults: FaultyStore;
  let records: string[] = [];
  before(async () => {
    faults = await openFaultyStore();
  });
  beforeEach(() => {
    records = [];
  });
  after(() => faults.close());

  const record = async ({ id }: { readonly id: string }, invoice: Invoice | undefined) => {
    records.push(`${id} ${invoice?.number}`);
  };
  const credit = (id: string) => creditCertainPayment(faults.store, id, { at: AT, record });
  const choose = (id: string, target: CreditTarget) => creditBankPayment(faults.store, id, { at: AT, record, target });

  async function keep(more: Partial<StatedPayment> = {}) {
    const account = await faults.wallet(0n);
    const invoice = await newInvoice(faults.real, account);
    const stated = statePayment(invoice, more);
    await keepBankPayments(faults.real, [stated], AT);
    return { account, invoice, stated, id: makeBankPaymentId(stated) };
  }

  const topped = async (account: string) => (await faults.read(account)).topped;
  const states = async (id: string, invoice: Invoice) => [
    (await findBankPayment(faults.real, id))?.state,
    (await findInvoice(faults.real, invoice.id))?.state,
  ];

  it('books it, marks the invoice and leaves one record; again it changes nothing', async () => {
    const { account, invoice, id } = await keep();
    expect(await credit(id)).to.have.property('status', 'credited');
    expect(await credit(id)).to.deep.equal({ status: 'known' });
    expect(await choose(id, { account: await faults.wallet() })).to.deep.equal({ status: 'known' });
    expect(await states(id, invoice)).to.deep.equal(['credited', 'paid']);
    expect(await topped(account)).to.equal(1500n * RUB);
    expect(records).to.deep.equal([`${id} ${invoice.number}`]);
    expect(await problemsOf(faults.real, account)).to.deep.equal([]);
  });

  for (const [what, call, behaviour, nth] of [
    ['the claim is refused', 'papers.change', refuse, 1],
    ['the answer to the claim is lost', 'papers.change', lose, 1],
    ['the mark at the end is refused', 'papers.change', refuse, 2],
    ['the answer to the mark at the end is lost', 'papers.change', lose, 2],
    ['the payment cannot be read', 'papers.get', refuse, 1],
  ] as const)
    it(`ends in one credit, done again after ${what}`, async () => {
      const { account, invoice, id } = await keep();
      if (nth === 2) faults.next(call, (real) => real());
      faults.next(call, behaviour);
      await rejection(credit(id));
      expect(await credit(id))
        .to.have.property('status')
        .that.is.oneOf(['credited', 'known']);
      expect(await states(id, invoice)).to.deep.equal(['credited', 'paid']);
      expect(await topped(account)).to.equal(1500n * RUB);
      expect(records.length).to.be.within(1, 2);
      expect(await problemsOf(faults.real, account)).to.deep.equal([]);
    });

  for (const call of ['papers.find', 'ledger.wallet', 'papers.get', 'papers.change'] as const)
    it(`changes nothing when ${call} fails before the claim`, async () => {
      const { account, invoice, id } = await keep();
      faults.next(call, refuse);
      await rejection(credit(id));
      expect(await states(id, invoice)).to.deep.equal(['open', 'open']);
      expect([await topped(account), records.length]).to.deep.equal([0n, 0]);
    });

  it('changes nothing when the chosen account cannot be read', async () => {
    const { account, invoice, id } = await keep();
    faults.next('accounts.get', refuse);
    await rejection(choose(id, { account }));
    expect(await states(id, invoice)).to.deep.equal(['open', 'open']);
    expect(await topped(account)).to.equal(0n);
  });

  it('opens payment and invoice by the next try if they could not be opened after a refusal', async () => {
    const { account, invoice, id } = await keep();
    await applied(faults.real, { ...topup(account, 1200n * RUB), paymentId: id } as never);
    faults.next('papers.change', (real) => real());
    faults.next('papers.change', refuse);
    await rejection(credit(id));
    expect(await states(id, invoice)).to.deep.equal(['claimed', 'paid']);
    expect(await credit(id)).to.deep.equal({ status: 'refused', refusal: 'id_taken' });
    expect(await states(id, invoice)).to.deep.equal(['open', 'open']);
  });

  it('ends in one credit after the ledger had no answer, and its record', async () => {
    const { account, invoice, id } = await keep();
    for (let tries = 0; tries < 5; tries += 1) faults.next('ledger.apply', lose);
    await rejection(credit(id));
    expect(await states(id, invoice)).to.deep.equal(['claimed', 'paid']);
    expect(records).to.deep.equal([]);
    // Whatever an operator chooses now, the credit that was begun is finished.
    expect(await choose(id, { account: await faults.wallet() })).to.have.property('status', 'credited');
    expect(await topped(account)).to.equal(1500n * RUB);
    expect(records).to.have.length(1);
  });

  it('waits for its record: without it, the payment stays claimed', async () => {
    const { account, invoice, id } = await keep();
    const failing = async () => {
      throw new Error('the audit log is full');
    };
    await rejection(creditCertainPayment(faults.store, id, { at: AT, record: failing }));
    expect(await states(id, invoice)).to.deep.equal(['claimed', 'paid']);
    expect(await credit(id)).to.have.property('status', 'credited');
    expect([await topped(account), records.length]).to.deep.equal([1500n * RUB, 1]);
  });

  it('opens payment and invoice again when the ledger refuses', async () => {
    const { account, invoice, id } = await keep();
    // Somebody has booked the same id by hand, with another sum.
    await applied(faults.real, { ...topup(account, 1200n * RUB), paymentId: id } as never);
    expect(await credit(id)).to.deep.equal({ status: 'refused', refusal: 'id_taken' });
    expect(await states(id, invoice)).to.deep.equal(['open', 'open']);
    expect(await findBankPayment(faults.real, id)).to.include({ account: null, invoice: null });
    expect(await topped(account)).to.equal(1200n * RUB);
  });

  it('ends as credited whatever happens to the payment and its invoice meanwhile', async () => {
    // Somebody else credits it in full, or opens it again as after a refusal.
    for (const isOpened of [false, true]) {
      const { account, invoice, id } = await keep();
      const meanwhile = async () => {
        if (!isOpened) return void (await credit(id));
        const [payment, paid] = [await findBankPayment(faults.real, id), await findInvoice(faults.real, invoice.id)];
        if (!payment || !paid) throw new Error('there is none');
        const open = { ...payment, state: 'open', account: null, invoice: null, version: payment.version + 1 } as const;
        await faults.real.papers.change([toBankPaymentRow(open), toInvoiceRow(unmarkInvoicePaid(paid))]);
      };
      expect(await creditCertainPayment(faults.store, id, { at: AT, record: meanwhile })).to.have.property(
        'status',
        'credited',
      );
      expect(await states(id, invoice)).to.deep.equal(['credited', 'paid']);
      const version = isOpened ? 4 : 3;
      expect(await findBankPayment(faults.real, id)).to.include({ account, invoice: invoice.id, version });
      expect(await findInvoice(faults.real, invoice.id)).to.include({ payment: id });
      expect(await topped(account)).to.equal(1500n * RUB);
    }
  });

  it('sets aside what is open, and opens what is set aside', async () => {
    const { invoice, id } = await keep();
    const move = async (act: typeof dismissBankPayment) => {
      const payment = await findBankPayment(faults.real, id);
      return payment && act(faults.store, payment, LINE);
    };
    expect(await move(reopenBankPayment)).to.equal(false);
    for (const [act, state] of [
      [dismissBankPayment, 'dismissed'],
      [reopenBankPayment, 'open'],
    ] as const) {
      expect(await move(act), state).to.equal(true);
      expect(await states(id, invoice)).to.deep.equal([state, 'open']);
      expect(await move(act), state).to.equal(false);
    }
    expect(await credit(id)).to.have.property('status', 'credited');
    expect([await move(dismissBankPayment), await move(reopenBankPayment)]).to.deep.equal([false, false]);
    expect(await states(id, invoice)).to.deep.equal(['credited', 'paid']);
  });

  it('leaves a canceled invoice canceled when the ledger refuses, also if taking it back fails at first', async () => {
    const { account, invoice, id } = await keep();
    await cancelInvoice(faults.real, invoice, LINE);
    await applied(faults.real, { ...topup(account, 1200n * RUB), paymentId: id } as never);
    // The first change claims, the second takes the claim back.
    faults.next('papers.change', (real) => real());
    faults.next('papers.change', refuse);
    await rejection(choose(id, { invoice: invoice.id }));
    expect(await states(id, invoice)).to.deep.equal(['claimed', 'paid']);
    expect(await credit(id)).to.deep.equal({ status: 'refused', refusal: 'id_taken' });
    expect(await states(id, invoice)).to.deep.equal(['open', 'canceled']);
    expect(await findInvoice(faults.real, invoice.id)).to.include({ payment: null });
    expect(await topped(account)).to.equal(1200n * RUB);
  });

  it('credits what an operator chooses, and nothing unknown, paid or set aside', async () => {
    const { account, invoice, id } = await keep({ kopecks: 120_000n });
    expect(await credit(id)).to.deep.equal({ status: 'unsure' });
    for (const target of [{ invoice: 'inv_none' }, { account: 'acc_none' }])
      expect(await choose(id, target)).to.deep.equal({ status: 'unknown_target' });
    expect(await choose(id, { invoice: invoice.id })).to.have.property('status', 'credited');
    expect([await topped(account), ...(await states(id, invoice))]).to.deep.equal([1200n * RUB, 'credited', 'paid']);
    const other = await keep();
    expect(await choose(other.id, { invoice: invoice.id })).to.deep.equal({ status: 'unknown_target' });
    const found = await findBankPayment(faults.real, other.id);
    expect(found && (await dismissBankPayment(faults.store, found, LINE))).to.equal(true);
    expect(found && (await dismissBankPayment(faults.store, found, LINE))).to.equal(false);
    expect(await choose(other.id, { account })).to.deep.equal({ status: 'stale' });
    expect(await credit(other.id)).to.deep.equal({ status: 'stale' });
    expect(await credit('bank:none')).to.deep.equal({ status: 'stale' });
    expect(await topped(other.account)).to.equal(0n);
  });

  it('is certain only if number, sum and payer agree', async () => {
    const { invoice, stated } = await keep();
    const match = async (more: Partial<StatedPayment>) => {
      const found = await matchBankPayment(faults.real, { ...stated, ...more });
      const isNamed = !('reason' in found && /_numbers?$/.test(found.reason));
      expect(found.invoice?.id).to.equal(isNamed ? invoice.id : undefined);
      return found.status === 'unsure' ? found.reason : found.status;
    };
    const rows: readonly (readonly [Partial<StatedPayment>, MatchReason | 'certain'])[] = [
      [{}, 'certain'],
      [{ purpose: 'аванс' }, 'no_number'],
      [{ purpose: `счёт ${invoice.number}, счёт 9` }, 'several_numbers'],
      [{ purpose: 'счёт 999999' }, 'unknown_number'],
      [{ payerInn: '7736050003' }, 'other_inn'],
      [{ payerInn: '' }, 'other_inn'],
      [{ kopecks: stated.kopecks + 1n }, 'other_sum'],
      [{ isReceived: false }, 'not_received'],
      [{ isPlain: false }, 'contradiction'],
    ];
    for (const [more, wanted] of rows) expect(await match(more), wanted).to.equal(wanted);
    await cancelInvoice(faults.real, invoice, LINE);
    expect(await match({})).to.equal('canceled');
    const paid = await keep();
    await credit(paid.id);
    expect(await matchBankPayment(faults.real, { ...paid.stated, number: newId('n') })).to.have.property(
      'reason',
      'paid_already',
    );
  });

  it('is certain as soon as a statement says that the money has come, and stays whose it is then', async () => {
    const { account, stated, id } = await keep({ isReceived: false });
    expect(await credit(id)).to.deep.equal({ status: 'unsure' });
    const received = { ...stated, isReceived: true };
    expect(await keepBankPayments(faults.store, [received], AT)).to.deep.equal({ added: 0, known: 1 });
    // A statement of before changes nothing back.
    await keepBankPayments(faults.store, [stated], AT);
    expect(await credit(id)).to.have.property('status', 'credited');
    expect(await topped(account)).to.equal(1500n * RUB);
    for (const state of ['credited', 'dismissed'] as const) {
      const other = await keep({ isReceived: false });
      const found = await findBankPayment(faults.real, other.id);
      if (state === 'dismissed') expect(found && (await dismissBankPayment(faults.store, found, LINE))).to.equal(true);
      else await choose(other.id, { account: other.account });
      await keepBankPayments(faults.store, [{ ...other.stated, isReceived: true }], AT);
      expect(await findBankPayment(faults.real, other.id)).to.include({ state, isReceived: false });
    }
    const doubtful = await keep({ isReceived: false, isPlain: false });
    await keepBankPayments(faults.store, [{ ...doubtful.stated, isReceived: true, isPlain: true }], AT);
    expect(await credit(doubtful.id)).to.deep.equal({ status: 'unsure' });
  });

  it('is kept once, also if somebody else imports some of its statement at the same time', async () => {
    const { stated } = await keep();
    const more = Array.from({ length: 101 }, () => ({ ...stated, number: newId('n') }));
    const many = [...more, more[0] as StatedPayment];
    expect(await keepBankPayments(faults.store, many, AT)).to.deep.equal({ added: 101, known: 0 });
    expect(await keepBankPayments(faults.store, [...many, stated], AT)).to.deep.equal({ added: 0, known: 102 });
    const first = { ...stated, number: newId('n') };
    const others = [1, 2].map(() => ({ ...stated, number: newId('n') }));
    faults.next('papers.change', async (real) => {
      await keepBankPayments(faults.real, [first], AT - 1);
      return real();
    });
    expect(await keepBankPayments(faults.store, [first, ...others], AT)).to.deep.equal({ added: 2, known: 1 });
    for (const [payment, at] of [
      [first, AT - 1],
      [others[0] as StatedPayment, AT],
    ] as const) {
      const id = makeBankPaymentId(payment);
      const wanted = { ...payment, id, state: 'open', account: null, invoice: null, at, version: 1 };
      expect(await findBankPayment(faults.real, id)).to.deep.equal(wanted);
    }
  });

  it('leaves a first payment below the minimum to an operator', async () => {
    const account = await faults.wallet();
    const invoice = await newInvoice(faults.real, account, 5n * RUB);
    const stated = statePayment({ ...invoice, account });
    expect(await matchBankPayment(faults.real, stated)).to.have.property('status', 'certain');
    const store = { ...faults.real, ledger: { ...faults.real.ledger, wallet: async () => ({ topped: 0n }) as never } };
    expect(await matchBankPayment(store, stated)).to.have.property('reason', 'first_too_small');
    for (const [rub, status] of [
      [999n, 'unsure'],
      [1000n, 'certain'],
    ] as const) {
      const other = await newInvoice(faults.real, account, rub * RUB);
      expect(await matchBankPayment(store, statePayment(other)), `${rub}`).to.have.property('status', status);
    }
  });
});
