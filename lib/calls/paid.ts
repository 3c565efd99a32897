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
  /** Asks the upstreams, once the money is held. If it throws or rejects, the call has failed. */
  ask(): Promise<Ending<Result>>;
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

export interface PaidCalls {
  /**
   * Holds, asks, and settles or releases. Rejects with a fault if nothing could be held; then no upstream is asked. However
   * asking ends, the call is settled, and this resolves.
   */
  run<Result, Due extends CallCost>(call: PaidCall<Result, Due>): Promise<PaidEnding<Result, Due>>;
  /** What the running calls of a wallet have used above their holds: a call that is charged up front has to leave it. */
  owed(wallet: string): Micro;
}

export function createPaidCalls(ledger: Ledger): PaidCalls {
  const running = createRunningCalls();

  async function hold({ context, terms }: Pick<PaidCall<unknown>, 'context' | 'terms'>): Promise<Hold> {
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
    return context.takePlace?.(start, terms.model) ?? start();
  }

  return {
    async run<Result, Due extends CallCost>(call: PaidCall<Result, Due>): Promise<PaidEnding<Result, Due>> {
      const { context, terms } = call;
      const held = await hold(call);
      // The ledger already counts `excess`.
      const known = held.charge.reserved + (terms.excess ?? 0n);
      const remove = running.add(context.accountId, () => call.overshoot?.(known) ?? 0n);
      let upstreamEnding: Ending<Result>;
      try {
        upstreamEnding = await call.ask();
      } catch (error) {
        upstreamEnding = context.signal.aborted ? toAbortEnding(context.signal) : toErrorEnding(error);
      }
      // If many clients leave at once, all their upstreams are closed before the first call is billed.
      if (upstreamEnding.type === 'gone') await waitTwoTicks();
      const { ending, due } = computeBill(call, upstreamEnding);
      const { attempts } = call;
      const paid = await (due
        ? ledger.settle(held, { amount: due.amount, usage: due.usage, attempts })
        : ledger.release(held, attempts));
      remove();
      context.log.note(logFields(ending, due, paid));
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
