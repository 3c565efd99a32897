// Encodes outcomes for sending them between threads: as tuples, without values that follow from their operations. Plain
// structured clones would take 10 % more CPU time for a hold with its settlement.
import {
  type Charge,
  type ChargeOp,
  createCharge,
  getChargeId,
  type HoldOp,
  type Operation,
  type Outcome,
  type OutcomeStatus,
  type Wallet,
} from '../../money/decide.ts';

export type EncodedOutcome = ReturnType<typeof encodeOutcome>;

export function encodeOutcome({ status, wallet, charge, job, payment, exposed, cap }: Outcome, op: Operation) {
  const follows = startsCharge(status, op) && charge?.grants === undefined;
  const sent = charge && !follows ? encodeCharge(charge) : undefined;
  return [status, wallet && encodeWallet(wallet), sent, job, payment, exposed, cap] as const;
}

export function decodeOutcome(outcome: EncodedOutcome, op: Operation): Outcome {
  const [status, sentWallet, sentCharge, job, payment, exposed, cap] = outcome;
  if (!sentWallet) return { status };
  const wallet = decodeWallet(sentWallet, op);
  const charge = sentCharge
    ? decodeCharge(sentCharge, op)
    : startsCharge(status, op)
      ? createCharge(op, null)
      : undefined;
  const rows = charge ? { status, wallet, charge } : { status, wallet };
  const money = exposed === undefined ? rows : { ...rows, exposed };
  if (cap !== undefined) return { ...money, cap };
  return job || payment ? { ...money, ...(job && { job }), ...(payment && { payment }) } : money;
}

/** A new charge follows from its operation, except for the period of a budget and what grants pay. */
function startsCharge(status: OutcomeStatus, op: Operation): op is HoldOp | ChargeOp {
  return status === 'done' && (op.kind === 'reserve' || op.kind === 'charge') && !op.budget && !op.caps;
}

function encodeWallet(wallet: Wallet) {
  const { avail, held, charged, topped, adjusted, seq, status, playMoney, opened, granted, grants } = wallet;
  return [avail, held, charged, topped, adjusted, seq, status, playMoney, opened, granted, grants] as const;
}

function decodeWallet(sent: ReturnType<typeof encodeWallet>, op: Operation): Wallet {
  const [avail, held, charged, topped, adjusted, seq, status, playMoney, opened, granted, grants] = sent;
  const wallet: Wallet = { id: op.wallet, avail, held, charged, topped, adjusted, seq, status };
  const flagged =
    playMoney || opened ? { ...wallet, ...(playMoney && { playMoney }), ...(opened && { opened }) } : wallet;
  const summed = granted === undefined ? flagged : { ...flagged, granted };
  return grants === undefined ? summed : { ...summed, grants };
}

function encodeCharge(charge: Charge) {
  const { key, kind, state, reserved, charged, model, prices } = charge;
  const { usage, owner, lease, createdAt, endedAt, period, budgetKey, excess, caps, grants } = charge;
  // Not spread from two arrays: this runs for every call.
  return [
    key,
    kind,
    state,
    reserved,
    charged,
    model,
    prices,
    usage,
    owner,
    lease,
    createdAt,
    endedAt,
    period,
    budgetKey,
    excess,
    caps,
    grants,
  ] as const;
}

function decodeCharge(sent: ReturnType<typeof encodeCharge>, op: Operation): Charge {
  const [key, kind, state, reserved, charged, model, prices, ...rest] = sent;
  const [usage, owner, lease, createdAt, endedAt, period, budgetKey, excess, caps, grants] = rest;
  const received: Charge = {
    id: getChargeId(op) as string,
    wallet: op.wallet,
    key,
    kind,
    state,
    reserved,
    charged,
    model,
    prices,
    usage,
    owner,
    lease,
    createdAt,
    endedAt,
    period,
    budgetKey,
  };
  const counted = caps === undefined ? received : { ...received, caps };
  const exposed = excess === undefined ? counted : { ...counted, excess };
  return grants === undefined ? exposed : { ...exposed, grants };
}
