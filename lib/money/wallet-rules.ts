// The rules of a wallet by itself: top-ups and payments, what is paid back, corrections, and suspension.
import assert from 'node:assert/strict';
import { applyChange, type Decision } from './decision.ts';
import { getPaidBalance } from './grants.ts';
import { computeShortfall, type Micro, minMicro } from './money.ts';
import type { AdjustOp, PaybackOp, PayOp, StatusOp, TopupOp } from './operations.ts';
import { type Entry, needsFirstPayment, type Wallet } from './wallet.ts';

/** The minimum first payment: 1000 RUB. */
export const FIRST_TOPUP_MINIMUM: Micro = 1_000_000_000n;

export function decideTopup(wallet: Wallet, prior: Entry | undefined, op: TopupOp): Decision {
  assert(op.amount > 0n);
  if (prior) return compareWithPrior(wallet, prior, op);
  if (needsFirstPayment(wallet) && op.amount < FIRST_TOPUP_MINIMUM) return { status: 'first_topup_too_small', wallet };
  return applyChange(flagPlayMoney(wallet, op), undefined, op, {
    avail: op.amount,
    topped: op.amount,
    note: op.paymentId,
  });
}

function flagPlayMoney(wallet: Wallet, { isPlay }: TopupOp | PayOp): Wallet {
  return isPlay ? { ...wallet, playMoney: true } : wallet;
}

export function decideAdjustment(wallet: Wallet, prior: Entry | undefined, op: AdjustOp): Decision {
  if (prior) return compareWithPrior(wallet, prior, op);
  // Another operator was faster. A replayed journal of an earlier version may not say which money was play money.
  if (op.settlesPlay && !wallet.playMoney && op.mark === undefined) return { status: 'exists', wallet };
  if (op.seenSeq !== undefined && op.seenSeq !== wallet.seq) return { status: 'stale_wallet', wallet };
  const change = { avail: op.amount, adjusted: op.amount, note: op.reason };
  if (op.movesIn) {
    const overshoot = computeShortfall(-op.amount, getPaidBalance(wallet));
    return applyChange({ ...wallet, opened: true }, undefined, op, { ...change, overshoot });
  }
  // What was given is taken back by ending its grant.
  if (op.amount < 0n && getPaidBalance(wallet) + op.amount < 0n) return { status: 'insufficient', wallet };
  const { playMoney: _, ...settled } = wallet;
  return applyChange(op.settlesPlay ? settled : wallet, undefined, op, change);
}

export function decidePay(wallet: Wallet, prior: Entry | undefined, op: PayOp): Decision {
  assert(op.amount > 0n);
  if (prior) return compareWithPrior(wallet, prior, op);
  return applyChange(flagPlayMoney(wallet, op), undefined, op, { avail: op.amount, topped: op.amount, note: op.order });
}

export function decidePayback(wallet: Wallet, prior: Entry | undefined, op: PaybackOp): Decision {
  const { amount, returned = 0n } = op;
  // A replayed journal may contain a payback of zero.
  assert(amount >= 0n && returned >= 0n);
  if (prior) return { status: prior.wallet === op.wallet && prior.note === op.order ? 'exists' : 'id_taken', wallet };
  const wanted = amount - returned;
  const taken = minMicro(wanted, wallet.topped);
  // What was given covers nothing that is paid back.
  const paid = getPaidBalance(wallet);
  const overshoot = computeShortfall(taken, paid);
  const isShort = paid - taken < 0n || taken < wanted;
  const suspends = op.suspended === true || (op.suspend && isShort);
  const status = suspends && wallet.status === 'active' ? 'suspended' : null;
  return applyChange(wallet, undefined, op, { avail: -taken, topped: -taken, overshoot, note: op.order, status });
}

export function decideStatus(wallet: Wallet, prior: Entry | undefined, op: StatusOp): Decision {
  const status = op.kind === 'suspend' ? 'suspended' : 'active';
  if (prior && prior.wallet !== op.wallet) return { status: 'id_taken', wallet };
  if (prior || wallet.status === status) return { status: 'exists', wallet };
  return applyChange(wallet, undefined, op, { status });
}

function compareWithPrior(wallet: Wallet, prior: Entry, op: TopupOp | AdjustOp | PayOp): Decision {
  const isSame = prior.wallet === op.wallet && prior.avail === op.amount;
  return { status: isSame ? 'exists' : 'id_taken', wallet };
}
