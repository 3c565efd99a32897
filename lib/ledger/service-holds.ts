// Holds for services of the operator that run elsewhere: an amount is set aside, then charged up to what is held, or given
// back; a hold that nobody ends goes back when its lease is over.
import { randomBytes } from 'node:crypto';
import { OperatorError, UnknownError } from '../base/operator-error.ts';
import type { Charge, HoldOp, Operation, Outcome, Usage, Wallet } from '../money/decide.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { SERVICE_OWNER } from '../money/operations.ts';
import type { Store } from '../store/store.ts';
import { bookOperation } from './booking.ts';
import { type CallBudget, type CallCap, toTerms } from './caps.ts';
import { toRefusalFault } from './ledger.ts';

interface ServiceHoldsOptions {
  readonly store: Pick<Store, 'ledger'>;
  /** Whether services cost real money: play money pays for none of them. */
  readonly isReal: boolean;
  readonly now?: () => number;
}

export interface ServiceHoldRequest {
  /** The same for repeats of one request; absent: a new one. */
  readonly id?: string | undefined;
  readonly wallet: string;
  /** The key that pays, or who holds. */
  readonly key: string;
  /** What usage is added up by, in place of a model. */
  readonly reason: string;
  readonly amount: Micro;
  readonly leaseMs: number;
  /** Of the key; absent without one. */
  readonly budget?: CallBudget;
  readonly caps?: readonly CallCap[];
}

/** A hold as it is now; `repeated`: the operation had been done before. */
export interface ServiceHold {
  readonly charge: Charge;
  readonly wallet: Wallet;
  readonly repeated: boolean;
}

/** Every method throws `OperatorError` or a fault for a refusal, and `StoreError` when the store fails. */
export interface ServiceHolds {
  hold(request: ServiceHoldRequest): Promise<ServiceHold>;
  get(id: string): Promise<ServiceHold>;
  /** The lease then ends this long from now. */
  renew(id: string, leaseMs: number): Promise<ServiceHold>;
  /** Charges at most what is held, and gives the rest back. */
  settle(id: string, amount: Micro, usage: Usage): Promise<ServiceHold>;
  release(id: string): Promise<ServiceHold>;
}

export const SERVICE_HOLD_ID = 'hold_';

export const LEASE_SECONDS = { byDefault: 600, most: 7 * 24 * 3600 } as const;

export function createServiceHolds({ store, isReal, now = Date.now }: ServiceHoldsOptions): ServiceHolds {
  async function find(id: string): Promise<Charge> {
    const charge = id.startsWith(SERVICE_HOLD_ID) ? await store.ledger.charge(id) : undefined;
    if (charge?.kind === 'service') return charge;
    throw new UnknownError(`There is no hold ${JSON.stringify(id.slice(0, 60))}.`);
  }

  async function hold(request: ServiceHoldRequest): Promise<ServiceHold> {
    const at = now();
    const {
      id = `${SERVICE_HOLD_ID}${randomBytes(16).toString('hex')}`,
      wallet,
      key,
      reason,
      amount,
      leaseMs,
    } = request;
    const { budget, caps } = request;
    const prices = JSON.stringify({ service: String(amount) });
    const call = { chargeId: id, wallet, key, chargeKind: 'service', model: reason, prices, amount, at } as const;
    const lease = { owner: SERVICE_OWNER, lease: at + leaseMs };
    const op: HoldOp = {
      kind: 'reserve',
      ...call,
      ...lease,
      ...toTerms({ budget, caps, at }),
      real: isReal || undefined,
    };
    const outcome = await bookOperation(store, op);
    if (outcome.status === 'done' || outcome.status === 'exists') return toServiceHold(outcome);
    throw toRefusal(outcome, { ...request, at });
  }

  /** Ends a hold; only while it is held, so that nothing is charged after it went back. */
  async function end(charge: Charge, op: Operation, isSame: (ended: Charge) => boolean): Promise<ServiceHold> {
    const outcome = await bookOperation(store, op);
    const { charge: ended = charge } = outcome;
    if (isSame(ended)) return toServiceHold(outcome);
    throw new OperatorError(`The hold ${charge.id} is ${describeEnd(ended)}: it cannot be changed any more.`);
  }

  return {
    hold,
    async get(id) {
      const charge = await find(id);
      return toServiceHold({ status: 'exists', charge, wallet: await store.ledger.wallet(charge.wallet) });
    },
    async renew(id, leaseMs) {
      const charge = await find(id);
      const at = now();
      if (!(await store.ledger.renewLease({ charge: id, owner: SERVICE_OWNER, lease: at + leaseMs, now: at }))) {
        throw new OperatorError(`The hold ${id} is ${describeEnd(charge)}: its lease cannot be renewed.`);
      }
      const wallet = await store.ledger.wallet(charge.wallet);
      return toServiceHold({ status: 'done', charge: await find(id), wallet });
    },
    async settle(id, amount, usage) {
      const charge = await find(id);
      if (amount > charge.reserved)
        throw new OperatorError(`The hold is ${formatRub(charge.reserved)} RUB: at most that can be charged.`);
      const op = { kind: 'settle', wallet: charge.wallet, chargeId: id, at: now(), amount, onlyHeld: true } as const;
      const isSame = ({ state, charged }: Charge) => state === 'settled' && charged === amount;
      return end(charge, { ...op, usage: JSON.stringify(usage) }, isSame);
    },
    async release(id) {
      const charge = await find(id);
      const op = { kind: 'release', wallet: charge.wallet, chargeId: id, at: now() } as const;
      return end(charge, op, ({ state }) => state === 'released');
    },
  };
}

function toServiceHold({ status, charge, wallet }: Outcome): ServiceHold {
  if (!charge || !wallet) throw new Error(`an operation of a hold was answered ${status} without its rows`);
  return { charge, wallet, repeated: status === 'exists' };
}

function toRefusal({ status, cap, left, wallet }: Outcome, asked: ServiceHoldRequest & { readonly at: number }): Error {
  if (status === 'no_wallet') return new UnknownError(`There is no account ${JSON.stringify(asked.wallet)}.`);
  if (status === 'id_taken') return new OperatorError('The id of this hold was used for another one.');
  return toRefusalFault({ status, cap, left }, wallet, { ...asked, kind: 'service' });
}

function describeEnd({ state, charged }: Charge): string {
  if (state === 'settled') return `settled with ${formatRub(charged)} RUB`;
  return state === 'held' ? 'held, but its lease is over' : state;
}
