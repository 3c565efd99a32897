// The problems that the audit finds in a payment and its entries.
import { expect } from 'chai';
import { checkPaymentEntries, checkPayments } from '../../lib/ledger/audit-payments.ts';
import type { Entry } from '../../lib/money/decide.ts';
import { createPayment, type Payment } from '../../lib/money/payment-rules.ts';
import type { Store } from '../../lib/store/store.ts';

const REFUND = { id: 'ref_1', ref: 'r1', amount: '30', state: 'booked', reason: 'asked', at: 5, taken: '20' };
const DISPUTE = { id: 'd1', amount: '70', taken: '70' };

const START = createPayment({
  id: 'pay_1',
  wallet: 'w',
  provider: 'main',
  amount: 100n,
  shop: 's',
  test: false,
  origin: 'manual',
  facts: '{}',
  owner: 'own',
  lease: 9,
  createdAt: 5,
});
/** 30 of 100 were refunded, of which the wallet covered 20. */
const PARTLY: Payment = {
  ...START,
  phase: 'partly_refunded',
  ref: 'x1',
  credited: 100n,
  refunded: 30n,
  shortfall: 10n,
  refunds: JSON.stringify([REFUND]),
};
const ENTRIES = {
  'pay:main:x1': { kind: 'pay', avail: 100n },
  'refund:main:r1': { kind: 'payback', avail: -20n },
  'dispute:main:d1': { kind: 'dispute', avail: -70n },
};

const entryOf = (opId: string, more: object) =>
  ({ opId, wallet: 'w', note: 'pay_1', seq: 3, ...more }) as unknown as Entry;

function storeOf(payments: readonly Payment[], entries: Readonly<Record<string, object>>) {
  const pages: string[] = [];
  const store = {
    payments: {
      page: async (_name: string, { after, limit }: { after: string; limit: number }) => {
        pages.push(after);
        return payments.filter(({ id }) => id > after).slice(0, limit);
      },
      get: async (id: string) => payments.find((payment) => payment.id === id),
    },
    ledger: { entry: async (opId: string) => entries[opId] && entryOf(opId, entries[opId]) },
  } as unknown as Pick<Store, 'payments' | 'ledger'>;
  return { store, pages };
}

async function problemsOf(payment: Payment, entries: Readonly<Record<string, object>> = ENTRIES): Promise<string[]> {
  const problems: string[] = [];
  await checkPayments(storeOf([payment], entries).store, (wallet, text) => problems.push(`${wallet}: ${text}`));
  return problems;
}

describe('the audit of payments', () => {
  const sound: Readonly<Record<string, Partial<Payment>>> = {
    'refunded in part': {},
    'only begun': { ...START },
    'credited, with a refund that was refused and one that was asked for': {
      phase: 'credited',
      refunded: 0n,
      shortfall: 0n,
      refunds: JSON.stringify([
        { ...REFUND, state: 'refused', taken: null },
        { ...REFUND, state: 'asked', ref: null, taken: null },
      ]),
    },
    'refunded in full': { phase: 'refunded', credited: 100n, refunded: 100n, shortfall: 80n, refunds: whole() },
    'lost to a dispute': {
      phase: 'reversed',
      refunded: 100n,
      shortfall: 10n,
      dispute: JSON.stringify(DISPUTE),
    },
    'disputed, with nothing taken yet': { phase: 'disputed', dispute: JSON.stringify({ ...DISPUTE, taken: null }) },
    'kept after a dispute': { phase: 'kept', dispute: JSON.stringify({ ...DISPUTE, taken: null }) },
  };
  for (const [name, change] of Object.entries(sound)) {
    it(`finds nothing in a payment that is ${name}`, async () => {
      expect(await problemsOf({ ...PARTLY, ...change })).to.deep.equal([]);
    });
  }

  const unreadable = { id: 5, state: 'gone', amount: '3x', at: 1.5 };
  for (const [field, value] of Object.entries(unreadable)) {
    it(`reports a refund whose ${field} is ${value}`, async () => {
      const refunds = JSON.stringify([{ ...REFUND, [field]: value }]);
      expect(await problemsOf({ ...PARTLY, refunds })).to.deep.equal([
        'w: payment pay_1: its refunds or its dispute cannot be read',
      ]);
    });
  }

  it('reports lists that are not JSON', async () => {
    for (const lists of [{ refunds: '[' }, { dispute: '{' }, { refunds: '[{"taken":"x"}]' }])
      expect((await problemsOf({ ...PARTLY, ...lists })).join()).to.contain('cannot be read');
  });

  const wrong: Readonly<Record<string, readonly [Partial<Payment>, ...string[]]>> = {
    'a phase that is none': [{ phase: 'gone' as never }, 'it is gone', 'it is gone, and 100 are credited'],
    'credit before it was paid': [{ phase: 'created' }, 'it is created, and 100 are credited'],
    'another sum of refunds': [{ refunded: 31n }, 'refunded 31 instead of 30'],
    'another shortfall': [{ shortfall: 9n }, 'shortfall 9 instead of 10'],
    'a loss that its phase denies': [
      { dispute: JSON.stringify(DISPUTE), refunded: 100n },
      'it is partly_refunded, and its dispute is lost',
      'it is partly_refunded, and 100 went back',
    ],
    'a phase that claims a loss': [{ phase: 'reversed' }, 'it is reversed, and its dispute is not lost'],
    'a refund that its phase denies': [{ phase: 'credited' }, 'it is credited, and 30 went back'],
    'a phase that claims more refunds': [{ phase: 'refunded' }, 'it is refunded, and only 30 went back'],
    'a phase that claims refunds': [
      { refunds: '[]', refunded: 0n, shortfall: 0n },
      'it is partly_refunded, and 0 went back',
    ],
    'a dispute that is missing': [{ phase: 'disputed' }, 'it is disputed, but there is no dispute'],
    'a kept dispute that is missing': [{ phase: 'kept' }, 'it is kept, but there is no dispute'],
  };
  for (const [name, [change, ...problems]] of Object.entries(wrong)) {
    it(`finds ${name}`, async () => {
      expect(await problemsOf({ ...PARTLY, ...change })).to.deep.equal(
        problems.map((text) => `w: payment pay_1: ${text}`),
      );
    });
  }

  it('reports refunds above the credit, and a credit without the id of the provider', async () => {
    const more = JSON.stringify([{ ...REFUND, amount: '130' }]);
    expect((await problemsOf({ ...PARTLY, refunds: more, refunded: 130n, shortfall: 110n })).join()).to.contain(
      'refunded 130 of 100 credited',
    );
    expect((await problemsOf({ ...PARTLY, ref: null })).join()).to.contain('has no provider id');
  });

  const entries: Readonly<Record<string, readonly [object | undefined, string]>> = {
    'is missing': [undefined, 'there is no entry refund:main:r1'],
    'is of another wallet': [{ wallet: 'v', kind: 'payback', avail: -20n }, "the entry refund:main:r1 is another's"],
    'is of another order': [{ note: 'pay_2', kind: 'payback', avail: -20n }, "the entry refund:main:r1 is another's"],
    'is of another kind': [{ kind: 'pay', avail: -20n }, "the entry refund:main:r1 is another's"],
    'moved another amount': [{ kind: 'payback', avail: -21n }, 'refund:main:r1 moved -21 instead of -20'],
  };
  for (const [name, [entry, problem]] of Object.entries(entries)) {
    it(`reports an entry that ${name}`, async () => {
      const found = await problemsOf(PARTLY, { ...ENTRIES, 'refund:main:r1': entry as object });
      expect(found).to.deep.equal([`w: payment pay_1: ${problem}`]);
    });
  }

  it('reads all pages of payments', async () => {
    const all = Array.from({ length: 101 }, (_, at) => ({ ...START, id: `pay_${1000 + at}`, wallet: `w${at}` }));
    const { store, pages } = storeOf([...all.slice(0, 100), { ...(all[100] as Payment), refunded: 1n }], ENTRIES);
    const wallets: string[] = [];
    await checkPayments(store, (wallet) => wallets.push(wallet));
    expect([...new Set(wallets)]).to.deep.equal(['w100']);
    expect(pages).to.deep.equal(['', 'pay_1049', 'pay_1099']);
  });

  it('compares again if a running gateway may have changed the rows', async () => {
    const { store } = storeOf([PARTLY], ENTRIES);
    const payments = { ...store.payments, page: async () => [{ ...PARTLY, refunded: 31n }] } as never;
    const problems: string[] = [];
    await checkPayments({ ...store, payments }, (_, text) => problems.push(text));
    expect(problems).to.deep.equal([]);
  });

  it('reports entries whose payment is missing or does not list them', async () => {
    const problems: string[] = [];
    const journal = [
      entryOf('refund:main:r1', { kind: 'payback' }),
      entryOf('refund:main:r2', { kind: 'payback', seq: 4 }),
      entryOf('pay:main:x9', { kind: 'pay', seq: 5, note: 'pay_9' }),
      entryOf('pay:main:x9', { kind: 'pay', seq: 6, note: null }),
      entryOf('reserve:a', { kind: 'reserve', note: null }),
    ];
    await checkPaymentEntries(storeOf([PARTLY], ENTRIES).store, journal, (_, text) => problems.push(text));
    expect(problems.sort()).to.deep.equal([
      'entry 4: the payment pay_1 does not list it',
      'entry 5: there is no payment pay_9',
      'entry 6: there is no payment null',
    ]);
  });
});

function whole(): string {
  return JSON.stringify([{ ...REFUND, amount: '100' }]);
}
