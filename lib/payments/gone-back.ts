// Money that has gone back to its payer: a wallet that is low only because of it must not have the card charged again.
import type { Micro } from '../money/money.ts';
import { CREDITED_PHASES, type Payment, parseDispute, parseRefunds } from '../money/payment-rules.ts';
import type { AutoTopupRow, PaymentStore } from '../store/ports/payments.ts';

/** Why an automatic top-up is paused; owners see it. */
export const GONE_BACK = 'money of a payment was refunded';
/** How many of the newest payments are looked at. */
const PAYMENTS_MAX = 20;

/**
 * What went back since the owner last wanted money in the wallet: since the newest payment, or the consent to the automatic
 * top-up as it is now. Rejects with `StoreError`.
 */
export async function sumGoneBack(
  payments: Pick<PaymentStore, 'list' | 'consents'>,
  { id: wallet, consent }: AutoTopupRow,
): Promise<Micro> {
  const credited = await payments.list({ wallet, phases: CREDITED_PHASES, limit: PAYMENTS_MAX });
  const returns = credited.flatMap(listReturns);
  if (returns.length === 0) return 0n;
  const agreed = (await payments.consents(wallet)).find(({ id }) => id === consent);
  const since = Math.max(agreed?.at ?? 0, ...credited.map(({ createdAt }) => createdAt));
  return returns.reduce((sum, { at, amount }) => (at > since ? sum + amount : sum), 0n);
}

function listReturns(payment: Payment): readonly { readonly at: number; readonly amount: Micro }[] {
  const refunds = parseRefunds(payment)
    .filter(({ state }) => state !== 'refused')
    .map(({ at, amount }) => ({ at, amount: BigInt(amount) }));
  const dispute = parseDispute(payment);
  if (dispute?.taken === null || dispute === undefined) return refunds;
  return [...refunds, { at: payment.changedAt, amount: BigInt(dispute.amount) }];
}
