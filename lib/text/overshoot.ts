// What running calls have used above their holds: it will be charged, so no other call of their wallet may be held on it.
import type { Micro } from '../ledger/money.ts';
import { textCost } from '../ledger/price.ts';
import type { HeldCall } from './call.ts';

type RunningCall = Pick<HeldCall, 'context' | 'model' | 'hold' | 'held' | 'meter'>;

/** The calls of this process whose money is not settled yet. */
export interface RunningCalls {
  add(call: RunningCall): void;
  remove(call: RunningCall): void;
  /** How far the running calls of a wallet are above their holds, all together. */
  overshoot(wallet: string): Micro;
}

export function createRunningCalls(): RunningCalls {
  const wallets = new Map<string, Set<RunningCall>>();
  return {
    add(call) {
      const { accountId } = call.context;
      const calls = wallets.get(accountId);
      if (calls) calls.add(call);
      else wallets.set(accountId, new Set([call]));
    },
    remove(call) {
      const { accountId } = call.context;
      const calls = wallets.get(accountId);
      calls?.delete(call);
      if (calls?.size === 0) wallets.delete(accountId);
    },
    overshoot(wallet) {
      let sum = 0n;
      for (const call of wallets.get(wallet) ?? []) sum += overshootOf(call);
      return sum;
    },
  };
}

function overshootOf({ model, hold, held, meter }: RunningCall): Micro {
  const used = meter.used();
  if (used.input <= held.input && used.output <= held.output) return 0n;
  const above = textCost(model.price, used) - hold.charge.reserved;
  return above > 0n ? above : 0n;
}
