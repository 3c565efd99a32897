// The money of a call of any kind: hold the price before the upstream is called, settle or release after it. However the
// call ends, its hold ends exactly once, and the log line says how.
import { refuseAboveMaxCost } from '../ledger/caps.ts';
import type { CallCost, Hold, HoldRequest, Ledger, Settlement } from '../ledger/ledger.ts';
import type { NewAttempt } from '../money/attempt.ts';
import type { Micro } from '../money/money.ts';
import type { CallBudgets, CallContext } from './context.ts';
import { type Ending, toAbortEnding, toErrorEnding } from './ending.ts';
import { createRunningCalls } from './running.ts';

export interface PaidCall<Result, Due extends CallCost = CallCost> {
  readonly context: CallContext;
  /** What is held before the call. */
  readonly terms: Pick<HoldRequest, 'kind' | 'model' | 'prices' | 'amount' | 'excess'>;
  /** How much the call has used above its hold so far, if it can exceed it. */
  overshoot?(held: Micro): Micro;
  /** The cost of the call by its ending; undefined releases the hold in full. Called once. */
  computeDue(ending: Ending<Result>): Due | undefined;
  /** The attempts at upstreams, in order; read at the end. */
  readonly attempts: readonly NewAttempt[];
}

export interface PaidEnding<Result, Due extends CallCost = CallCost> {
  readonly ending: Ending<Result>;
  readonly due: Due | undefined;
  readonly paid: Settlement;
}

/** Money held for a call. */
export interface HeldCall {
  readonly hold: Hold;
  /** The call no longer counts as running. */
  readonly remove: () => void;
}

export interface PaidCalls {
  /** Rejects with a fault if nothing could be held; then no upstream may be called. */
  hold(call: PaidCall<never>): Promise<HeldCall>;
  /** Ends the hold when the upstream has ended, whose rejection fails the call. Called once for each hold, at once. */
  settle<Result, Due extends CallCost>(
    call: PaidCall<Result, Due>,
    held: HeldCall,
    asking: Promise<Ending<Result>>,
  ): Promise<PaidEnding<Result, Due>>;
  /** What the running calls of a wallet have used above their holds: a call that is charged up front has to leave it. */
  owed(wallet: string): Micro;
}

export function createPaidCalls(ledger: Ledger): PaidCalls {
  const running = createRunningCalls();
  return {
    async hold(call) {
      const { context, terms } = call;
      context.signal.throwIfAborted();
      refuseAboveMaxCost(context.maxCost, { ...terms, amount: terms.amount + (terms.excess ?? 0n) });
      const start = ({ budget, caps }: CallBudgets = context) =>
        ledger.hold({
          ...terms,
          chargeId: context.requestId,
          wallet: context.accountId,
          key: context.keyId,
          budget,
          caps,
          idempotency: context.idempotency,
          owed: running.overshoot(context.accountId),
          waitedMs: context.waitedMs ?? 0,
        });
      // Last, so that a call waits for its turn only if there is money for it.
      const hold = await (context.takePlace?.(start, terms.model) ?? start());
      // The ledger already counts `excess`.
      const known = hold.charge.reserved + (terms.excess ?? 0n);
      return { hold, remove: running.add(context.accountId, () => call.overshoot?.(known) ?? 0n) };
    },
    async settle<Result, Due extends CallCost>(
      call: PaidCall<Result, Due>,
      { hold, remove }: HeldCall,
      asking: Promise<Ending<Result>>,
    ): Promise<PaidEnding<Result, Due>> {
      let upstreamEnding: Ending<Result>;
      try {
        upstreamEnding = await asking;
      } catch (error) {
        const { signal } = call.context;
        upstreamEnding = signal.aborted ? toAbortEnding(signal) : toErrorEnding(error);
      }
      // If many clients leave at once, all their upstreams are closed before the first call is billed.
      if (upstreamEnding.type === 'gone') await waitTwoTicks();
      const { ending, due } = computeBill(call, upstreamEnding);
      const { attempts } = call;
      const paid = await (due
        ? ledger.settle(hold, { amount: due.amount, usage: due.usage, attempts })
        : ledger.release(hold, attempts));
      remove();
      call.context.log.note(logFields(ending, due, paid));
      return { ending, due, paid };
    },
    owed: running.overshoot,
  };
}

/** If the cost cannot be computed, the hold is returned: it would otherwise stay until this process ends. */
function computeBill<Result, Due extends CallCost>(
  call: PaidCall<Result, Due>,
  ending: Ending<Result>,
): Pick<PaidEnding<Result, Due>, 'ending' | 'due'> {
  try {
    return { ending, due: call.computeDue(ending) };
  } catch (err) {
    call.context.log.error({ err }, 'a call could not be billed; its hold is returned');
    return { ending: toErrorEnding(err), due: undefined };
  }
}

/** Two event-loop ticks: clients that leave at the same moment are noticed in this tick or the next. */
const waitTwoTicks = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

function logFields(ending: Ending, due: CallCost | undefined, { charged }: Settlement): object {
  const failure = ending.type === 'error' && { fault: ending.fault.data?.code };
  return { ending: ending.type, charged_micro: `${charged}`, ...due?.usage, ...failure };
}
