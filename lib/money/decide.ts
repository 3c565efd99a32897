// The door to all money rules: one pure function takes a wallet, a charge and an operation, and returns the outcome and
// what to write. Everything outside this folder imports the types of the books from here.
//
// The invariants of a wallet: avail + held + charged = topped + adjusted + granted; what its grants have left, plus what
// they pay of held and settled calls, = granted; avail less what its grants have left, the paid balance, is below zero only
// by recorded overshoot.
import assert from 'node:assert/strict';
import { decideReturn, decideSettlement, decideStart } from './charge-rules.ts';
import type { Decision, StateBefore } from './decision.ts';
import { decideGrant, decideGrantEnd } from './grant-rules.ts';
import type { Operation } from './operations.ts';
import { decideAdjustment, decidePay, decidePayback, decideStatus, decideTopup } from './wallet-rules.ts';

export type { Decision, Outcome, OutcomeStatus } from './decision.ts';
export type * from './operations.ts';
export { CHARGE_KINDS, getChargeId, getJobChange, getOperationId, getPaymentChange } from './operations.ts';
export {
  CHARGE_STATES,
  type Charge,
  type ChargeState,
  createEmptyWallet,
  type Entry,
  needsFirstPayment,
  type Usage,
  type Wallet,
} from './wallet.ts';
export { FIRST_TOPUP_MINIMUM } from './wallet-rules.ts';

/** The outcome of an operation in the state before it; nothing is written here. */
export function decide(known: StateBefore, op: Operation): Decision {
  const { wallet } = known;
  if (!wallet) return { status: 'no_wallet' };
  assert.equal(wallet.id, op.wallet);
  if (known.charge && known.charge.wallet !== op.wallet) return { status: 'id_taken', wallet };
  switch (op.kind) {
    case 'topup':
      return decideTopup(wallet, known.prior, op);
    case 'adjust':
      return decideAdjustment(wallet, known.prior, op);
    case 'grant':
      return decideGrant(wallet, known.prior, op);
    case 'grant_end':
      return decideGrantEnd(wallet, known.prior, op);
    case 'pay':
      return decidePay(wallet, known.prior, op);
    case 'payback':
    case 'dispute':
      return decidePayback(wallet, known.prior, op);
    case 'suspend':
    case 'resume':
      return decideStatus(wallet, known.prior, op);
    case 'reserve':
    case 'charge':
      return decideStart(wallet, known, op);
    case 'settle':
      return decideSettlement(wallet, known, op);
    case 'release':
    case 'expire':
    case 'refund':
      return decideReturn(wallet, known.charge, op);
  }
}
