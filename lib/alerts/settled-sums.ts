// What keys have spent of their budgets, without what calls that still run have reserved: most of it comes back.
import { HOUR_MS } from '../base/durations.ts';
import { type BudgetSum, getBudgetKeyId, indexSums } from '../money/budget.ts';
import type { Micro } from '../money/money.ts';
import type { LedgerStore } from '../store/ports/ledger.ts';
import { isBudgetDue, type WatchedKey } from './budget.ts';

interface Budgets {
  readonly account: string;
  /** By the ids of their sums. */
  readonly keys: ReadonlyMap<string, WatchedKey>;
  /** ms since the epoch. */
  readonly at: number;
}

/** No call runs longer. */
const RUNNING_MS_MAX = HOUR_MS;
const RUNNING_MAX = 1000;

/** By id. Running calls are read only if a sum with what they have reserved is due for an alert. */
export async function readSettledSums(
  ledger: Pick<LedgerStore, 'budgets' | 'wallet' | 'charges'>,
  { account, keys, at }: Budgets,
): Promise<ReadonlyMap<string, BudgetSum>> {
  const readSums = async () => indexSums(await ledger.budgets([...keys.keys()]));
  const before = await readSums();
  const isDue = ([id, key]: [string, WatchedKey]) => isBudgetDue(key, before.get(id));
  if (![...keys].some(isDue) || !(await ledger.wallet(account))?.held) return before;
  const filter = { state: 'held', from: at - RUNNING_MS_MAX } as const;
  const running = await ledger.charges(account, { limit: RUNNING_MAX, filter });
  // A call that began or ended meanwhile is missing in one of the two.
  const after = await readSums();

  function settle(sum: BudgetSum): BudgetSum {
    const later = after.get(sum.key);
    const { spent } = later?.period === sum.period && later.spent < sum.spent ? later : sum;
    return { ...sum, spent: spent - sumReserved(sum) };
  }

  function sumReserved({ key: id, period }: BudgetSum): Micro {
    const own = running.filter((call) => call.period === period && getBudgetKeyId({ ...call, id: call.key }) === id);
    return own.reduce((sum, { reserved }) => sum + reserved, 0n);
  }

  return new Map([...before].map(([id, sum]) => [id, settle(sum)]));
}
