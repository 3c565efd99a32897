// Whether the two halves of the books fit: each ended call has its attempts once, and charges and costs of all days add
// up.
import { reportCosts } from '../lib/ledger/cost-report.ts';
import type { Attempt } from '../lib/money/attempt.ts';
import type { Charge } from '../lib/money/decide.ts';
import type { AttemptPosition } from '../lib/store/ports/attempts.ts';
import type { Store } from '../lib/store/store.ts';

type Parts = Pick<Store, 'accounts' | 'attempts' | 'ledger'>;

const PAGE = 1000;

/** `attemptsOf`: how many attempts an ended call has; what is wrong, in words. */
export async function checkCosts(
  store: Parts,
  attemptsOf: (charge: Charge) => readonly number[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  const attempts = await readAllAttempts(store);
  const byCall = Map.groupBy(attempts, ({ charge }) => charge);
  let charged = 0n;
  for (const { id: wallet } of await store.accounts.list()) {
    for (const charge of await readCharges(store, wallet)) {
      const count = byCall.get(charge.id)?.length ?? 0;
      const wanted = charge.state === 'held' ? [0] : attemptsOf(charge);
      if (!wanted.includes(count)) problems.push(`${charge.id} is ${charge.state}, and has ${count} attempts`);
      byCall.delete(charge.id);
      if (charge.state === 'settled') charged += charge.charged;
    }
  }
  for (const id of byCall.keys()) problems.push(`${id} has attempts, but no charge`);
  for (const by of ['day', 'model', 'account'] as const) {
    const { total } = await reportCosts(store.attempts, { by });
    const cost = attempts.reduce((sum, attempt) => sum + (attempt.cost?.costRub ?? 0n), 0n);
    const booked = total.reported + total.estimated + total.possible;
    if (booked !== cost) problems.push(`by ${by}: ${booked} instead of ${cost} was booked as cost`);
    if (total.charged !== charged) problems.push(`by ${by}: ${total.charged} instead of ${charged} was charged`);
  }
  return problems;
}

async function readAllAttempts({ attempts }: Parts): Promise<readonly Attempt[]> {
  const found: Attempt[] = [];
  for (let after: AttemptPosition | undefined; ; ) {
    const page: readonly Attempt[] = await attempts.page({ limit: PAGE, ...(after && { after }) });
    found.push(...page);
    after = page.at(-1);
    if (page.length < PAGE) return found;
  }
}

async function readCharges({ ledger }: Parts, wallet: string): Promise<readonly Charge[]> {
  const found: Charge[] = [];
  for (let before: string | undefined; ; ) {
    const page: readonly Charge[] = await ledger.charges(wallet, {
      limit: PAGE,
      ...(before !== undefined && { before }),
    });
    found.push(...page);
    before = page.at(-1)?.id;
    if (page.length < PAGE) return found;
  }
}
