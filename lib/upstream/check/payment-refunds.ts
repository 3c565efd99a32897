// Checks of what a payment plugin says of refunds: each that the vendor knows of, with its own sum, state and id. The wallet
// gives back what they say, and what is missing among them stays there.
import assert from 'node:assert/strict';
import { KOPECK } from '../../money/money.ts';
import type { PaymentProvider, PaymentState, RefundState } from '../contract/payment.ts';
import { isUpstreamFault } from '../host/fault.ts';
import { show } from './payment-asking.ts';
import { type Facts, fillRefunds, says } from './payment-fixture.ts';
import { UNKNOWN_STATE } from './payment-reading.ts';
import { AMOUNT, onStage, type PaymentStage, type PaymentSubject, REFUND } from './payment-stage.ts';
import type { Check } from './subject.ts';

type Play = (stage: PaymentStage, subject: PaymentSubject) => Promise<void>;

/** Of a plugin that gives money back, or whose vendor does. */
export function refundChecks(subject: PaymentSubject, provider: PaymentProvider): readonly Check[] {
  const isShown = provider.refund || subject.fixture.refund !== undefined;
  const checks: [group: string, name: string, play: Play][] = [];
  if (isShown) {
    checks.push(
      ['fetch', 'says each refund of a payment: its id, its sum, its state, and which of ours it is', everyRefund],
      ['fetch', 'says of a payment that went back what was paid, and that it was', wholePayment],
      ['fetch', 'says of a payment that nothing went back of it', noRefund],
      ['fetch', 'takes no unknown state of a refund for made or refused', unknownRefund],
      ['fetch', 'asks for the refunds of this payment alone', ownRefunds],
    );
  }
  if (provider.refund) {
    checks.push(
      ['refund', 'says what became of it', madeRefund],
      ['refund', 'takes no unknown state for made or refused', unknownState],
    );
  }
  return checks.map(([group, name, play]) => ({
    group,
    name,
    run: () => onStage(subject, (stage) => play(stage, subject)),
  }));
}

/** Two of one payment, with one that is on its way and one that never was made. */
const REFUNDS = [
  { refund: '2e1cbe1a-000f-5000-9000-145f6df21d71', refundOrder: 'rfd_0190check5', amount: 1n, means: 'succeeded' },
  { refund: '2e1cbe1a-000f-5000-9000-145f6df21d72', refundOrder: 'rfd_0190check6', amount: 12_305n, means: 'pending' },
  { refund: '2e1cbe1a-000f-5000-9000-145f6df21d73', refundOrder: 'rfd_0190check7', amount: 100n, means: 'canceled' },
  {
    refund: '2e1cbe1a-000f-5000-9000-145f6df21d74',
    refundOrder: 'rfd_0190check8',
    amount: 70_000n,
    means: 'succeeded',
  },
] as const;

async function everyRefund(stage: PaymentStage, subject: PaymentSubject): Promise<void> {
  const all = REFUNDS.map(({ means, ...refund }) => ({ ...refund, refundStatus: findStateWord(subject, means) }));
  for (const count of [1, all.length]) {
    const { refunds } = await fetched(stage, subject, all.slice(0, count));
    const isNamed = JSON.stringify(subject.fixture.refund).includes('{{refundOrder}}');
    const found = refunds.map(({ id, status, amount, currency, order }) => {
      return { id, status, amount, currency, ...(isNamed && { order }) };
    });
    const wanted = REFUNDS.slice(0, count).map(({ refund: id, means: status, amount, refundOrder: order }) => {
      return { id, status, amount: amount * KOPECK, currency: 'RUB', ...(isNamed && { order }) };
    });
    assert.deepEqual(sorted(found), sorted(wanted), `it says of its refunds: ${show(refunds)}`);
  }
}

async function wholePayment(stage: PaymentStage, subject: PaymentSubject): Promise<void> {
  const refundStatus = findStateWord(subject, 'succeeded');
  for (const amount of [1n, AMOUNT]) {
    const state = await fetched(stage, subject, [{ amount, refundStatus }]);
    assert.equal(state.status, 'succeeded', 'a payment that was paid stays so, whatever goes back');
    assert.equal(state.amount, AMOUNT * KOPECK, 'its sum is what was paid, whatever goes back');
    assert.deepEqual(
      state.refunds.map((refund) => refund.amount),
      [amount * KOPECK],
      `it says of its refunds: ${show(state.refunds)}`,
    );
  }
}

async function noRefund(stage: PaymentStage, subject: PaymentSubject): Promise<void> {
  assert.deepEqual((await fetched(stage, subject, [])).refunds, []);
}

async function unknownRefund(stage: PaymentStage, subject: PaymentSubject): Promise<void> {
  const found = await fetched(stage, subject, [{ refundStatus: UNKNOWN_STATE, amount: 100n }]).catch((error) => error);
  if (found instanceof Error) assert(isUpstreamFault(found), `it threw ${found.name}, not a fault of the host`);
  else assertPending((found as PaymentState).refunds[0]);
}

/** A list of the refunds of all payments would be taken from one. */
async function ownRefunds(stage: PaymentStage, subject: PaymentSubject): Promise<void> {
  await fetched(stage, subject, []);
  const { id } = stage.vendor.facts;
  const asking = stage.vendor.received.filter(({ route }) =>
    JSON.stringify(route?.reply ?? '').includes('{{refunds}}'),
  );
  assert(asking.length > 0, 'it asks nothing that has refunds in its answer');
  for (const { method, path, body } of asking) {
    assert(decodeURIComponent(path).includes(id) || body.includes(id), `${method} ${path} does not name the payment`);
  }
}

async function madeRefund(stage: PaymentStage, { fixture }: PaymentSubject): Promise<void> {
  const isNamed = says(fixture, 'refund', 'refundOrder');
  for (const [word, means] of Object.entries(fixture.refundStates ?? fixture.states)) {
    for (const kopecks of [REFUND.amount / KOPECK, 1n]) {
      stage.vendor.facts = { ...stage.vendor.facts, refundStatus: word, amount: kopecks };
      const { id, status, amount, currency, order } = (await stage.call('refund')) as RefundState;
      const wanted = { id: stage.vendor.facts.refund, status: means, amount: kopecks * KOPECK };
      assert.deepEqual({ id, status, amount, currency }, { ...wanted, currency: 'RUB' });
      if (isNamed) assert.equal(order, REFUND.id, 'it does not say which of our refunds it is');
    }
  }
}

async function unknownState(stage: PaymentStage): Promise<void> {
  stage.vendor.facts = { ...stage.vendor.facts, refundStatus: UNKNOWN_STATE };
  const found = await stage.call('refund').catch((error: unknown) => error);
  if (found instanceof Error) assert(isUpstreamFault(found), `it threw ${found.name}, not a fault of the host`);
  else assertPending(found as RefundState);
}

function assertPending(refund: RefundState | undefined): void {
  assert.equal(refund?.status ?? 'pending', 'pending', `\`${UNKNOWN_STATE}\` is taken for an end`);
}

async function fetched(
  stage: PaymentStage,
  { fixture }: PaymentSubject,
  refunds: readonly Partial<Facts>[],
): Promise<PaymentState> {
  assert(fixture.refund !== undefined, 'the fixture has no `refund`: what the vendor shows of one');
  assert(says(fixture, 'fetch', 'refunds'), 'no answer to `fetch` in the fixture has {{refunds}}');
  const { facts } = stage.vendor;
  stage.vendor.facts = { ...facts, refunds: fillRefunds(fixture, facts, refunds) };
  return (await stage.call('fetch')) as PaymentState;
}

function findStateWord({ fixture }: PaymentSubject, means: RefundState['status']): string {
  return Object.entries(fixture.refundStates ?? fixture.states).find(([, each]) => each === means)?.[0] ?? '';
}

function sorted<Each extends { readonly id: string }>(refunds: readonly Each[]): readonly Each[] {
  return refunds.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}
