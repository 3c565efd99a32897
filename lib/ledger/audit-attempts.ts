// The audit of attempts at upstreams: each belongs to a call that has ended, its cost follows from its usage and pinned
// prices, and a call that was charged has all of its attempts.
import { type Attempt, type AttemptCost, markAttempt } from '../money/attempt.ts';
import { computeCost, convertToRub, readCost } from '../money/cost.ts';
import type { Charge } from '../money/decide.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import type { Store } from '../store/store.ts';
import { walkFound } from '../store/walks.ts';
import type { ReportProblem } from './audit-rules.ts';

const ROWS_PER_PAGE = 500;

/** Checks the attempts of the calls on a page; `since`: calls that started from then on must have some. */
export function checkAttemptsOfPage(page: JournalPage, since: number, report: ReportProblem): void {
  const attempts = Map.groupBy(page.attempts, ({ charge }) => charge);
  const settled = new Set(page.entries.filter(({ kind }) => kind === 'settle').map(({ charge }) => charge));
  for (const charge of page.charges) {
    const rows = attempts.get(charge.id) ?? [];
    const asksUpstream = charge.kind !== 'service';
    const isMissing = asksUpstream && rows.length === 0 && settled.has(charge.id) && charge.createdAt >= since;
    const problems = isMissing
      ? ['it was charged, but it has no attempt at an upstream']
      : listAttemptProblems(charge, rows);
    for (const problem of problems) report(charge.wallet, `call ${charge.id}: ${problem}`);
  }
}

/** What is wrong with the attempts of a call, which are in order. */
export function listAttemptProblems(charge: Charge, attempts: readonly Attempt[]): readonly string[] {
  if (attempts.length > 0 && charge.state === 'held') return ['it is held, but has attempts already'];
  return attempts.flatMap((attempt, index) => {
    const problem = checkAttempt(attempt, charge) ?? checkPlace(attempt, index, attempts.length);
    return problem === undefined ? [] : [`attempt ${attempt.number}: ${problem}`];
  });
}

function checkAttempt(attempt: Attempt, { wallet }: Charge): string | undefined {
  if (attempt.mark !== markAttempt(attempt)) return 'its mark says other values';
  if (attempt.wallet !== wallet) return `it is of ${attempt.wallet}`;
  const { cost, usage } = attempt;
  return cost === null ? undefined : checkCost(cost, usage);
}

function checkPlace({ number, last }: Attempt, index: number, count: number): string | undefined {
  if (number !== index + 1) return `attempt ${index + 1} is missing`;
  return last === (index === count - 1) ? undefined : 'the attempt after it is missing';
}

function checkCost({ prices, rate, cost, costRub, currency }: AttemptCost, usage: string | null): string | undefined {
  const vector = readCost(JSON.parse(prices));
  if (!vector) return `its prices are ${prices}`;
  // Without usage there is no cost.
  const wanted = usage === null ? 0n : computeCost({ prices: vector }, JSON.parse(usage));
  if (wanted !== cost) return `its cost is ${cost} micro-${currency}, but its usage costs ${wanted}`;
  const rub = convertToRub(cost, rate);
  return rub === costRub ? undefined : `its cost is ${costRub} micro-roubles instead of ${rub}`;
}

/** The opposite direction: every attempt belongs to a call. */
export async function findAttemptsOfUnknownCalls({ attempts }: Pick<Store, 'attempts'>, report: ReportProblem) {
  const unknown = walkFound((after) => attempts.unknownCharges(after, ROWS_PER_PAGE));
  for await (const { charge, wallet } of unknown) report(wallet, `call ${charge}: it has attempts, but no charge`);
}
