// When a payment is polled next if its provider fails.
import { expect } from 'chai';
import { HOUR_MS, MINUTE_MS } from '../../lib/base/durations.ts';
import type { OpenPayment } from '../../lib/catalog/payments.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { createWork } from '../../lib/payments/work.ts';
import { upstreamFault } from '../../lib/upstream/host/fault.ts';
import { rejection } from '../contract/store/context.ts';

const AT = 50 * 24 * HOUR_MS;

/** A payment that waits for its payer, whose turn it is. */
const PENDING = {
  id: 'pay',
  version: 4,
  wallet: 'w',
  provider: 'till',
  phase: 'pending',
  ref: 'ref',
  dueAt: AT,
  refunds: '[]',
  credited: 0n,
  createdAt: AT - HOUR_MS,
  changedAt: AT - HOUR_MS,
  expiresAt: AT + HOUR_MS,
  dispute: null,
} as unknown as Payment;

interface Case {
  readonly isOn?: boolean;
  readonly kind?: 'network' | 'auth' | 'missing';
  readonly signal?: AbortSignal;
  readonly onFailure?: (provider: string, kind: string) => void;
}

/** Works on a payment whose provider fails, and returns the changes that were asked for. */
async function changesOf(
  more: Partial<Payment>,
  { isOn = true, kind = 'network', signal = new AbortController().signal, onFailure }: Case = {},
) {
  const payment = { ...PENDING, ...more } as Payment;
  const changes: object[] = [];
  const fetch = async () => {
    throw upstreamFault(kind, 'away');
  };
  const providers = new Map(isOn ? [['till', { name: 'till', provider: { fetch } } as unknown as OpenPayment]] : []);
  const work = createWork({
    store: {
      payments: { get: async () => payment } as never,
      ledger: {} as never,
      settings: { get: async () => undefined } as never,
    },
    follow: {
      follow: () => expect.fail('there is no state to follow'),
      change: async (change) => {
        changes.push(change);
        return payment;
      },
      book: () => expect.fail('no money moves'),
    },
    providers: () => providers,
    now: () => AT,
    onFailure,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  await work(payment, signal);
  return changes;
}

describe('a payment whose provider fails', () => {
  const look = { kind: 'poll', id: 'pay', version: 4, at: AT };
  const reason = 'its provider could not be asked';

  it('is polled at the usual intervals, by its age and phase', async () => {
    const credited = { phase: 'credited', credited: 5n } as const;
    const cases: readonly (readonly [more: Partial<Payment>, dueInMs: number])[] = [
      [{ createdAt: AT - 1000 }, 5000],
      [{}, MINUTE_MS],
      [{ expiresAt: AT - HOUR_MS }, HOUR_MS],
      [{ phase: 'succeeded' }, 5000],
      [{ ...credited, changedAt: AT - MINUTE_MS }, MINUTE_MS],
      [{ ...credited, changedAt: AT - 11 * MINUTE_MS }, HOUR_MS],
    ];
    for (const [more, dueInMs] of cases) {
      expect(
        await changesOf(more),
        JSON.stringify(more, (_, value) => `${value}`),
      ).to.deep.equal([{ ...look, dueAt: AT + dueInMs }]);
    }
  });

  for (const kind of ['network', 'auth'] as const) {
    it(`is polled hourly for a month, but waits for its payer no longer than a day after its link (${kind})`, async () => {
      const hourly = { dueAt: AT + HOUR_MS };
      const isOld = { expiresAt: AT - 24 * HOUR_MS, createdAt: AT - 29 * 24 * HOUR_MS };
      expect(await changesOf(isOld, { kind })).to.deep.equal([{ ...look, kind: 'expire', reason, ...hourly }]);
      expect(await changesOf({ ...isOld, phase: 'expired' }, { kind })).to.deep.equal([{ ...look, ...hourly }]);
      const credited = { phase: 'credited', credited: 5n, changedAt: AT - 29 * 24 * HOUR_MS } as const;
      expect(await changesOf(credited, { kind })).to.deep.equal([{ ...look, ...hourly }]);
      const isOver = { createdAt: AT - 30 * 24 * HOUR_MS, changedAt: AT - 30 * 24 * HOUR_MS };
      expect(await changesOf({ ...isOld, ...isOver, phase: 'expired' }, { kind })).to.deep.equal([
        { ...look, dueAt: null },
      ]);
      expect(await changesOf({ ...credited, ...isOver }, { kind })).to.deep.equal([{ ...look, dueAt: null }]);
    });
  }

  it('is no longer polled a day after its link or its last change if the provider has no such payment', async () => {
    const missing = { kind: 'missing' } as const;
    const isOld = { expiresAt: AT - 24 * HOUR_MS, createdAt: AT - 25 * HOUR_MS };
    expect(await changesOf(isOld, missing)).to.deep.equal([{ ...look, kind: 'expire', reason, dueAt: null }]);
    expect(await changesOf({ ...isOld, phase: 'expired' }, missing)).to.deep.equal([{ ...look, dueAt: null }]);
    const credited = { phase: 'credited', credited: 5n, changedAt: AT - 24 * HOUR_MS } as const;
    expect(await changesOf(credited, missing)).to.deep.equal([{ ...look, dueAt: null }]);
  });

  it('is polled for as long as a refund is waited for', async () => {
    const refunds = JSON.stringify([{ id: 'back', state: 'asked', amount: '5', at: AT - 40 * 24 * HOUR_MS }]);
    const asked = { phase: 'credited', credited: 5n, refunds } as const;
    expect(await changesOf(asked)).to.deep.equal([{ ...look, dueAt: AT + HOUR_MS }]);
  });

  it('is polled again in ten minutes if the provider is disabled, unless it is not due at all', async () => {
    const later = { ...look, dueAt: AT + 10 * MINUTE_MS };
    expect(await changesOf({}, { isOn: false })).to.deep.equal([later]);
    const isOld = { expiresAt: AT - 24 * HOUR_MS };
    expect(await changesOf(isOld, { isOn: false })).to.deep.equal([{ ...later, kind: 'expire', reason }]);
    expect(await changesOf({ dueAt: null }, { isOn: false })).to.deep.equal([]);
    expect(await changesOf({ dueAt: null })).to.deep.equal([]);
  });

  it('is polled later if the provider does not answer in time, which counts as a failure', async () => {
    const signal = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
    const failures: string[] = [];
    const onFailure = (provider: string, kind: string) => void failures.push(`${provider} ${kind}`);
    expect(await changesOf({}, { signal, onFailure })).to.deep.equal([{ ...look, dueAt: AT + MINUTE_MS }]);
    expect(failures).to.deep.equal(['till timeout']);
  });

  it('stays unchanged if the work is aborted', async () => {
    const error = await rejection(changesOf({}, { signal: AbortSignal.abort() }));
    expect(error).to.include({ kind: 'network' });
  });
});
