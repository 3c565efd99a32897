// Forms of papers whose store fails, at each of its calls in turn: nothing is half done, and the same form sent again
// leaves one paper and its line in the audit log.
import { expect } from 'chai';
import { findBankPayment, keepBankPayments, makeBankPaymentId } from '../../lib/payments/papers/bank-payments.ts';
import { dismissBankPayment } from '../../lib/payments/papers/crediting.ts';
import { saveSeller } from '../../lib/payments/papers/details.ts';
import { makeInvoiceId } from '../../lib/payments/papers/invoices.ts';
import { type Behaviour, lose, refuse } from '../../testkit/faulty-store.ts';
import { unescapeHtml, type Visitor } from '../../testkit/pages.ts';
import { BUYER_FORM, LINE, SELLER, SELLER_FORM } from '../../testkit/papers.ts';
import { newInvoice, statePayment } from '../contract/store/bank-credits.ts';
import { applied, grant, newId, RUB, reserve, settle, topup } from '../contract/store/context.ts';
import { openPages, type Pages } from './stage.ts';

const PAPERS = '/account/papers';
const SELLERS = '/admin/papers';
const BANK = '/admin/papers/bank';
const UNAVAILABLE = 'The service is temporarily unavailable';

type Call = Parameters<Pages['faults']['next']>[0];
type Owner = Awaited<ReturnType<Pages['owner']>>;

interface Deed {
  readonly visitor: Visitor;
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly action: string;
  /** What is stored of it. */
  readonly read: () => Promise<unknown>;
}

interface Kind {
  readonly what: string;
  readonly reads: readonly Call[];
  readonly write: Call;
  /** One that was not done before. */
  readonly make: () => Promise<Deed>;
}

describe('forms of papers while the store fails', () => {
  let pages: Pages;
  let operator: Visitor;
  const now = new Date();
  const LAST = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15, 12));
  const month = LAST.toISOString().slice(0, 7);

  before(async () => {
    pages = await openPages();
    operator = await pages.operator();
  });
  beforeEach(() => saveSeller(store(), SELLER));
  after(() => pages.close());

  const store = () => pages.faults.real;
  const listPapers = async (kind: 'invoice' | 'act', account: string) =>
    (await store().papers.list({ kind, account, limit: 9 })).map(({ id }) => id);
  const findBuyer = async (account: string) => (await store().papers.get('buyer', account))?.content;
  const countDeeds = async (action: string) =>
    (await store().auditLog.page({ limit: 200 })).filter((row) => row.action === action).length;

  async function newCompany(): Promise<Owner> {
    const owner = await pages.owner();
    expect((await owner.submit(PAPERS, { ...BUYER_FORM, change: 'details' })).status).to.equal(303);
    return owner;
  }

  /** An owner whose calls of the last month a bonus paid in part. */
  async function newCustomer(): Promise<Owner> {
    const owner = await newCompany();
    const [chargeId, at] = [newId('req'), LAST.getTime()];
    await applied(store(), topup(owner.account, 1000n * RUB, { at: at - 2000 }));
    await applied(store(), grant(owner.account, 10n * RUB, { at: at - 1000, grantId: newId('grant') }));
    await applied(store(), reserve(owner.account, { chargeId, amount: 77n * RUB, at, lease: at + 60_000 }));
    await applied(store(), settle(owner.account, chargeId, { amount: 76n * RUB, at }));
    return owner;
  }

  const kinds: readonly Kind[] = [
    {
      what: "the seller's details",
      reads: [],
      write: 'settings.set',
      async make() {
        const form = { ...SELLER_FORM, signer: newId('Signer') };
        const read = async () => (await store().settings.get('papers.seller'))?.includes(form.signer);
        return { visitor: operator, path: SELLERS, form, action: 'papers.seller', read };
      },
    },
    {
      what: "the buyer's details",
      reads: ['settings.get', 'papers.get'],
      write: 'papers.change',
      async make() {
        const visitor = await pages.owner();
        const form = { ...BUYER_FORM, change: 'details' };
        return { visitor, path: PAPERS, form, action: 'papers.buyer', read: () => findBuyer(visitor.account) };
      },
    },
    {
      what: 'an invoice',
      reads: ['settings.get', 'papers.get', 'ledger.wallet', 'papers.list'],
      write: 'papers.issue',
      async make() {
        const visitor = await newCompany();
        const form = { change: 'invoice', amount: '1500', invoice: makeInvoiceId() };
        const read = () => listPapers('invoice', visitor.account);
        return { visitor, path: PAPERS, form, action: 'invoice.issue', read };
      },
    },
    {
      what: 'an act',
      reads: [
        'settings.get',
        'papers.get',
        'archives.opening',
        'ledger.hadGrants',
        'accounts.get',
        'ledger.chargedAt',
        'ledger.grantsCharged',
        'ledger.paidBefore',
      ],
      write: 'papers.issue',
      async make() {
        const visitor = await newCustomer();
        const form = { change: 'act', month };
        return { visitor, path: PAPERS, form, action: 'act.issue', read: () => listPapers('act', visitor.account) };
      },
    },
  ];

  const readCsrf = async ({ visitor, path }: Pick<Deed, 'visitor' | 'path'>) =>
    /name="csrf" value="([^"]+)"/.exec((await visitor.get(path)).text)?.[1] ?? '';

  /** Sends the form; of the named calls that it makes, only the nth behaves so. False if there is no such call. */
  async function sendFailing({ visitor, path, form }: Deed, call: Call, nth: number, behaviour: Behaviour) {
    const csrf = await readCsrf({ visitor, path });
    let count = 0;
    pages.faults.always(call, (real, args) => {
      count += 1;
      return count === nth ? behaviour(real, args) : real();
    });
    const reply = await visitor.post(path, { csrf, ...form }).finally(() => pages.faults.always(call, undefined));
    return { reply, isMade: count >= nth };
  }

  async function expectFailure(deed: Deed, call: Call, nth: number, behaviour: Behaviour): Promise<boolean> {
    const { reply, isMade } = await sendFailing(deed, call, nth, behaviour);
    const name = `${deed.action}: ${call} ${nth}`;
    if (!isMade) expect(reply.status, name).to.equal(303);
    else expect([name, reply.status, unescapeHtml(reply.text).includes(UNAVAILABLE)]).to.deep.equal([name, 503, true]);
    return isMade;
  }

  for (const { what, reads, write, make } of kinds) {
    for (const call of reads)
      it(`change nothing of ${what} when ${call} fails, whichever time`, async () => {
        const deed = await make();
        const [before, lines] = [await deed.read(), await countDeeds(deed.action)];
        let nth = 1;
        // The days of a month are read one by one.
        for (const step = call === 'ledger.grantsCharged' ? 9 : 1; ; nth += step) {
          if (!(await expectFailure(deed, call, nth, refuse))) break;
          expect([call, nth, await deed.read()]).to.deep.equal([call, nth, before]);
          expect(await countDeeds(deed.action), `${call} ${nth}`).to.equal(lines);
        }
        expect(nth, call).to.be.above(1);
      });

    for (const [how, call, behaviour] of [
      ['its write is refused', write, refuse],
      ['the answer to its write is lost', write, lose],
      ['its line of the audit log is refused', 'auditLog.append', refuse],
      ['the answer to its line is lost', 'auditLog.append', lose],
    ] as const)
      it(`leave ${what} once, with a line, when the form is sent again after ${how}`, async () => {
        const deed = await make();
        const lines = await countDeeds(deed.action);
        expect(await expectFailure(deed, call, 1, behaviour)).to.equal(true);
        const isLogged = call === 'auditLog.append' && behaviour === lose;
        expect(await countDeeds(deed.action)).to.equal(lines + (isLogged ? 1 : 0));
        expect((await deed.visitor.submit(deed.path, deed.form)).status).to.equal(303);
        expect(await countDeeds(deed.action)).to.equal(lines + (isLogged ? 2 : 1));
        const stored = await deed.read();
        if (Array.isArray(stored)) expect(stored).to.have.length(1);
        else expect(stored).to.be.ok;
      });
  }

  async function keepPayment(): Promise<string> {
    const stated = statePayment(await newInvoice(store(), (await pages.owner()).account));
    await keepBankPayments(store(), [stated], now.getTime());
    return makeBankPaymentId(stated);
  }

  /** What cannot be done twice: its line is written together with it. */
  const endings: readonly { readonly what: string; readonly make: () => Promise<Deed> }[] = [
    {
      what: 'the canceling of an invoice',
      async make() {
        const visitor = await newCompany();
        const { id } = await newInvoice(store(), visitor.account);
        const read = async () => (await store().papers.get('invoice', id))?.state;
        return { visitor, path: `${PAPERS}/invoices/${id}`, form: {}, action: 'invoice.cancel', read };
      },
    },
    {
      what: 'a bank payment that is set aside',
      async make() {
        const payment = await keepPayment();
        const read = async () => (await store().papers.get('payment', payment))?.state;
        const form = { change: 'decide', step: 'dismiss', payment };
        return { visitor: operator, path: BANK, form, action: 'bank.dismiss', read };
      },
    },
    {
      what: 'a bank payment that is taken up again',
      async make() {
        const payment = await keepPayment();
        const found = await findBankPayment(store(), payment);
        expect(found && (await dismissBankPayment(store(), found, { ...LINE, action: 'test' }))).to.equal(true);
        const read = async () => (await store().papers.get('payment', payment))?.state;
        return { visitor: operator, path: BANK, form: { change: 'reopen', payment }, action: 'bank.reopen', read };
      },
    },
  ];

  for (const { what, make } of endings)
    it(`leave one line for ${what}, whatever its write answers, and none without it`, async () => {
      for (const [behaviour, again] of [
        [refuse, 303],
        [lose, 409],
      ] as const) {
        const deed = await make();
        const csrf = await readCsrf(deed);
        const [before, lines] = [await deed.read(), await countDeeds(deed.action)];
        expect(await expectFailure(deed, 'papers.change', 1, behaviour)).to.equal(true);
        const isDone = behaviour === lose;
        expect([(await deed.read()) !== before, await countDeeds(deed.action)]).to.deep.equal([
          isDone,
          lines + (isDone ? 1 : 0),
        ]);
        expect((await deed.visitor.post(deed.path, { csrf, ...deed.form })).status).to.equal(again);
        expect(await deed.read()).to.not.equal(before);
        expect(await countDeeds(deed.action)).to.equal(lines + 1);
      }
      expect(await expectFailure(await make(), 'auditLog.append', 1, refuse)).to.equal(false);
    });

  it('say that they are unavailable when a page of theirs cannot be read', async () => {
    const owner = await newCustomer();
    for (const [visitor, path, call] of [
      [operator, SELLERS, 'settings.get'],
      [operator, SELLERS, 'papers.list'],
      [owner, PAPERS, 'settings.get'],
      [owner, PAPERS, 'papers.get'],
      [owner, PAPERS, 'papers.list'],
    ] as const) {
      pages.faults.next(call, refuse);
      const failed = await visitor.get(path);
      expect([path, call, failed.status, failed.text.includes(UNAVAILABLE)]).to.deep.equal([path, call, 503, true]);
      expect((await visitor.get(path)).status).to.equal(200);
    }
  });
});
