// Requests to a provider: how long a key is reused, and what the refusal of an order or a refund means.
import { expect } from 'chai';
import { HOUR_MS, MINUTE_MS } from '../../lib/base/durations.ts';
import type { OpenPayment } from '../../lib/catalog/payments.ts';
import { NEVER_STARTED, NOT_ACCEPTED } from '../../lib/money/payment.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { createWork } from '../../lib/payments/work.ts';
import type { UpstreamFaultKind } from '../../lib/upstream/contract/fault.ts';
import { upstreamFault } from '../../lib/upstream/host/fault.ts';

const AT = 50 * 24 * HOUR_MS;

const FACTS = JSON.stringify({ pageUrl: 'https://gate.example/page', saveMethod: false });
/** An order whose first try may have gone through. */
const CREATED = {
  id: 'pay',
  version: 2,
  wallet: 'w',
  provider: 'till',
  phase: 'created',
  ref: null,
  dueAt: AT,
  refunds: '[]',
  amount: 5n,
  credited: 0n,
  refunded: 0n,
  facts: FACTS,
  createdAt: AT,
  changedAt: AT,
  expiresAt: null,
} as unknown as Payment;

/** A credited one, of which all is to go back. */
function asking(ageMs: number): Partial<Payment> {
  const refund = { id: 'rfd', state: 'asked', ref: null, amount: '5', reason: 'a wish', at: AT - ageMs };
  return { phase: 'credited', ref: 'ref', credited: 5n, refunds: JSON.stringify([refund]) };
}

/** The change that notes its start. */
const BEGIN = { kind: 'begin', id: 'pay', version: 2, at: AT, ref: 'ref' };

/** A card as the store keeps it. */
const CARD = { ref: 'card-1', kind: 'card', brand: 'Visa', last4: '4242', expiry: '2030-01', fingerprint: 'f' };
const CHARGE = { facts: JSON.stringify({ ...JSON.parse(FACTS), charges: 'pm_1' }) };

interface Setting {
  /** Whether the provider charges saved methods. */
  readonly charges?: boolean;
  readonly signal?: AbortSignal;
}

type Change = { readonly kind: string; readonly dueAt?: number | null; readonly reason?: string };

/** What the provider is asked, and which changes that leads to. */
async function worked(
  more: Partial<Payment>,
  keysLiveMs: number,
  fails: UpstreamFaultKind | undefined = undefined,
  { charges = true, signal = new AbortController().signal }: Setting = {},
) {
  const payment = { ...CREATED, ...more } as Payment;
  const asked: string[] = [];
  const changes: Change[] = [];
  const orders: unknown[] = [];
  const methods: unknown[] = [];
  const does = (name: string, value: unknown) => async (order: unknown, method: unknown) => {
    asked.push(name);
    orders.push(order);
    methods.push(method);
    if (fails !== undefined && name !== 'find') throw upstreamFault(fails, 'no');
    return value;
  };
  const started = { id: 'ref', payUrl: 'https://pay.example/1', expiresAt: AT + HOUR_MS };
  const provider = {
    keysLiveMs,
    live: true,
    redirectHosts: ['pay.example'],
    start: does('start', started),
    find: does('find', undefined),
    refund: does('refund', { id: 'back' }),
    fetch: does('fetch', { id: 'ref' }),
    ...(charges && { charge: does('charge', { id: 'ref' }) }),
  };
  const work = createWork({
    store: {
      payments: {
        get: async () => payment,
        find: async () => undefined,
        method: async () => ({ ...CARD, id: 'pm_1', removedAt: null }),
        autoTopup: async () => ({ enabled: true, method: 'pm_1' }),
      } as never,
      ledger: { wallet: async () => ({ status: 'active' }) } as never,
      settings: { get: async () => undefined } as never,
    },
    follow: {
      follow: async () => payment,
      change: async (change) => {
        changes.push(change as never);
        return payment;
      },
      book: async (op) => {
        changes.push(op.payment as never);
        return payment;
      },
    },
    providers: () => new Map([['till', { name: 'till', provider } as unknown as OpenPayment]]),
    now: () => AT,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  const failure = await work(payment, signal).then(() => undefined, String);
  return { asked, orders, methods, changes, failure };
}

/** How long its keys live at a provider, and until when one is sent: ten minutes before that, and never after a day. */
const LIVES: readonly (readonly [keysLiveMs: number, untilMs: number])[] = [
  [2 * HOUR_MS, 110 * MINUTE_MS],
  [24 * HOUR_MS, 24 * HOUR_MS - 10 * MINUTE_MS],
  [72 * HOUR_MS, 24 * HOUR_MS - 10 * MINUTE_MS],
];

describe('a key', () => {
  for (const [keysLiveMs, untilMs] of LIVES) {
    const life = `that lives ${keysLiveMs / HOUR_MS} h`;

    it(`${life} can start an order for ${untilMs / MINUTE_MS} minutes; then the payment is searched`, async () => {
      expect((await worked({ createdAt: AT - untilMs }, keysLiveMs)).asked).to.deep.equal(['start']);
      expect((await worked({ createdAt: AT - untilMs - 1 }, keysLiveMs)).asked).to.deep.equal(['find']);
    });

    it(`${life} can request a refund for ${untilMs / MINUTE_MS} minutes; then the payment is only polled`, async () => {
      expect((await worked(asking(untilMs), keysLiveMs)).asked).to.deep.equal(['refund', 'fetch']);
      expect((await worked(asking(untilMs + 1), keysLiveMs)).asked).to.deep.equal(['fetch']);
    });
  }
});

describe('an order', () => {
  it('is noted with its link, and with when it is polled', async () => {
    const { changes } = await worked({}, 24 * HOUR_MS);
    const link = { payUrl: 'https://pay.example/1', expiresAt: AT + HOUR_MS, dueAt: AT + 5000 };
    expect(changes).to.deep.equal([{ ...BEGIN, ...link }]);
  });

  it('is searched by its id and its time', async () => {
    const { orders } = await worked({ createdAt: AT - 24 * HOUR_MS }, 24 * HOUR_MS);
    expect(orders).to.deep.equal([{ id: 'pay', createdAt: AT - 24 * HOUR_MS }]);
  });

  it('that charges a method is searched in a minute if the account is refused on a retry', async () => {
    const { changes } = await worked({ ...CHARGE, origin: 'auto' }, 24 * HOUR_MS, 'auth');
    const poll = { kind: 'poll', id: 'pay', version: 2, at: AT, dueAt: AT + MINUTE_MS, reason: NOT_ACCEPTED };
    expect(changes).to.deep.equal([poll]);
  });
});

describe('a refund', () => {
  it('is noted under the id of its provider, and polled at once', async () => {
    const { changes } = await worked(asking(0), 24 * HOUR_MS);
    const note = { kind: 'note_refund', id: 'pay', version: 2, at: AT, refund: 'rfd', ref: 'back', dueAt: AT };
    expect(changes).to.deep.equal([note]);
  });

  it('contains its payment, its amount and the email address for the receipt', async () => {
    const facts = JSON.stringify({ ...JSON.parse(FACTS), email: 'ann@example.com' });
    const { orders } = await worked({ ...asking(1000), facts }, 24 * HOUR_MS);
    const what = { id: 'rfd', idempotenceKey: 'rfd', payment: 'ref', amount: 5n, currency: 'RUB', reason: 'a wish' };
    expect(orders[0]).to.deep.equal({ ...what, email: 'ann@example.com', createdAt: AT - 1000 });
    const [bare] = (await worked(asking(1000), 24 * HOUR_MS)).orders;
    expect(bare).to.deep.equal({ ...what, createdAt: AT - 1000 });
  });

  it('is sent under an id that every provider takes as a key, whatever an operator has called it', async () => {
    const long = 'r'.repeat(200);
    const names = ['возврат 17', 'возврат 18', 'refund #12', 'a/b', long, `${long}2`, 'rfd_0190:asked', 'emoji 😀'];
    const sent = new Set<string>();
    for (const name of names) {
      const payment = asking(1000);
      const refunds = JSON.stringify([{ ...JSON.parse(payment.refunds ?? '')[0], id: name }]);
      const twice = [
        await worked({ ...payment, refunds }, 24 * HOUR_MS),
        await worked({ ...payment, refunds }, 24 * HOUR_MS),
      ];
      const [one, other] = twice.map(({ orders }) => orders[0] as { id: string; idempotenceKey: string });
      expect(one?.idempotenceKey, name).to.match(/^[0-9a-zA-Z+\-_.]{1,64}$/);
      expect(one?.id).to.equal(one?.idempotenceKey);
      expect(other).to.deep.equal(one);
      sent.add(one?.id ?? '');
    }
    expect(sent.size).to.equal(names.length);
  });
});

describe('a charge of a saved method', () => {
  it('hands over all that is known of the method', async () => {
    const { asked, methods, changes } = await worked(CHARGE, 24 * HOUR_MS);
    expect(asked).to.deep.equal(['charge']);
    const begin = { ...BEGIN, payUrl: null, expiresAt: AT + 24 * HOUR_MS, dueAt: AT };
    expect(changes).to.deep.equal([begin]);
    const { ref: id, ...known } = CARD;
    expect(methods).to.deep.equal([{ id, ...known }]);
  });

  it('fails if the provider charges none any more', async () => {
    const { asked, changes } = await worked(CHARGE, 24 * HOUR_MS, undefined, { charges: false });
    expect(asked).to.deep.equal([]);
    const reason = 'the provider does not charge saved methods';
    expect(changes).to.deep.equal([{ kind: 'fail', id: 'pay', version: 2, at: AT, reason }]);
  });
});

describe('a provider that fails', () => {
  const [refund] = JSON.parse(asking(0).refunds ?? '');
  const booked = { ...asking(0), refunds: JSON.stringify([{ ...refund, state: 'booked', ref: 'back' }]) };

  for (const [what, payment, dueAt] of [
    ['in a minute about a refund that was just asked for', asking(0), AT + MINUTE_MS],
    ['in an hour about an older one', asking(11 * MINUTE_MS), AT + HOUR_MS],
    ['in a minute after a change', { ...booked, changedAt: AT }, AT + MINUTE_MS],
    ['in an hour some time after a change', { ...booked, changedAt: AT - HOUR_MS }, AT + HOUR_MS],
    ['no more a month after the last change', { ...booked, changedAt: AT - 30 * 24 * HOUR_MS }, null],
  ] as const) {
    it(`is asked again ${what}`, async () => {
      const { changes } = await worked(payment, 24 * HOUR_MS, 'server');
      expect(changes.map((change) => [change.kind, change.dueAt])).to.deep.equal([['poll', dueAt]]);
    });
  }

  it('ends nothing while the gateway stops', async () => {
    const stopping = { signal: AbortSignal.abort() };
    for (const payment of [{ version: 1 }, asking(0)]) {
      const { failure, changes } = await worked(payment, 24 * HOUR_MS, 'request', stopping);
      expect(failure).to.contain('no');
      expect(changes).to.deep.equal([]);
    }
  });
});

describe('an order that its provider does not find', () => {
  it('may still appear for a quarter of an hour, and counts as never started afterwards', async () => {
    const { changes } = await worked({ createdAt: AT - 15 * MINUTE_MS + 1 }, 11 * MINUTE_MS);
    expect(changes.map(({ kind, dueAt }) => [kind, dueAt])).to.deep.equal([['poll', AT + MINUTE_MS]]);
    const late = await worked({ createdAt: AT - 15 * MINUTE_MS }, 11 * MINUTE_MS);
    expect(late.changes.map(({ kind, reason }) => [kind, reason])).to.deep.equal([['fail', NEVER_STARTED]]);
  });
});

describe('a provider that does not do what it is asked', () => {
  const kinds = ['network', 'timeout', 'server', 'rate', 'auth', 'quota', 'protocol', 'missing', 'request'] as const;

  for (const kind of kinds) {
    const isFinal = kind === 'request';
    const endsOrder = isFinal || ['auth', 'missing', 'quota'].includes(kind);

    it(`refuses ${isFinal ? 'for good' : 'no refund'} by a failure of the kind ${kind}${endsOrder ? ', and ends an order' : ''}`, async () => {
      const order = await worked({ version: 1 }, 24 * HOUR_MS, kind);
      expect(order.changes.map((change) => change.kind)).to.deep.equal([endsOrder ? 'fail' : 'poll']);
      const refund = await worked(asking(0), 24 * HOUR_MS, kind);
      expect(refund.changes.map((change) => change.kind)[0]).to.equal(isFinal ? 'refuse_refund' : 'poll');
    });
  }

  it('may have started an order that it refuses on a retry', async () => {
    const { asked, changes } = await worked({ createdAt: AT - MINUTE_MS }, 24 * HOUR_MS, 'request');
    expect(asked).to.deep.equal(['start', 'find']);
    expect(changes.map(({ kind }) => kind)).to.deep.equal(['poll']);
  });
});
