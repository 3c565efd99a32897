// Adds up what calls brought in and what they cost, by group.
import type { Micro } from '../money/money.ts';
import type { AttemptStore, CostQuery, CostSum } from '../store/ports/attempts.ts';

export interface CostRow extends CostSum {
  /** What was charged, less what was reported and estimated; what is only possible is not subtracted. */
  readonly margin: Micro;
}

export interface CostReport {
  /** Days in order, other groups by what they were charged. */
  readonly rows: readonly CostRow[];
  /** Its group is empty. */
  readonly total: CostRow;
}

export async function reportCosts(attempts: Pick<AttemptStore, 'sums'>, query: CostQuery): Promise<CostReport> {
  const rows = (await attempts.sums(query)).map(withMargin);
  return { rows: rows.sort(query.by === 'day' ? compareGroups : compareCharged), total: withMargin(addSums(rows)) };
}

function withMargin(sum: CostSum): CostRow {
  return { ...sum, margin: sum.charged - sum.reported - sum.estimated };
}

function addSums(rows: readonly CostSum[]): CostSum {
  const total = { calls: 0, attempts: 0, charged: 0n, reported: 0n, estimated: 0n, possible: 0n, unpriced: 0 };
  for (const row of rows) {
    total.calls += row.calls;
    total.attempts += row.attempts;
    total.unpriced += row.unpriced;
    total.charged += row.charged;
    total.reported += row.reported;
    total.estimated += row.estimated;
    total.possible += row.possible;
  }
  return { group: '', ...total };
}

const compareGroups = (one: CostSum, other: CostSum) => (one.group < other.group ? -1 : 1);

function compareCharged(one: CostSum, other: CostSum): number {
  if (one.charged === other.charged) return compareGroups(one, other);
  return one.charged > other.charged ? -1 : 1;
}
