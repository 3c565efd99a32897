// Metrics of what attempts at upstreams cost, by model, upstream and certainty.
import { Counter, type Registry } from 'prom-client';
import type { Ledger } from '../ledger/ledger.ts';
import { CERTAINTIES, type Certainty, type NewAttempt } from '../money/attempt.ts';
import { toRub } from '../money/money.ts';
import type { JobStore } from '../store/ports/jobs.ts';
import { createMissingSeries, listRoutes, type SeriesFacts } from './series.ts';

interface CostMetrics {
  /** Wraps a ledger to count the attempts of calls that have ended. */
  watchLedger(ledger: Ledger): Ledger;
  /** Wraps the store's port to count what a finished job has cost. */
  watchJobCosts(jobs: JobStore): JobStore;
}

const COSTLY: readonly Certainty[] = CERTAINTIES.filter((certainty) => certainty !== 'none');

export function createCostMetrics(registry: Registry, facts: SeriesFacts): CostMetrics {
  const registers = [registry];
  const rubles = new Counter({
    name: 'tollgate_upstream_cost_rubles_total',
    help: 'What attempts at upstreams cost, in RUB, by how certain that is.',
    labelNames: ['model', 'upstream', 'certainty'],
    registers,
    collect() {
      const series = listRoutes(facts).flatMap((route) => COSTLY.map((certainty) => ({ ...route, certainty })));
      createMissingSeries(this, series);
    },
  });
  const booked = new Counter({
    name: 'tollgate_upstream_attempts_booked_total',
    help: 'Attempts at upstreams in the books, by how certain their cost is.',
    labelNames: ['certainty'],
    registers,
    collect() {
      createMissingSeries(
        this,
        CERTAINTIES.map((certainty) => ({ certainty })),
      );
    },
  });

  function count(attempts: readonly NewAttempt[] = []): void {
    for (const { model, upstream, certainty, cost } of attempts) {
      booked.inc({ certainty });
      if (cost && certainty !== 'none') rubles.inc({ model, upstream: upstream ?? '', certainty }, toRub(cost.costRub));
    }
  }

  return {
    watchLedger: (ledger) => ({
      ...ledger,
      async settle(hold, due) {
        const end = await ledger.settle(hold, due);
        count(due.attempts);
        return end;
      },
      async release(hold, attempts) {
        const end = await ledger.release(hold, attempts);
        count(attempts);
        return end;
      },
      async refund(request) {
        const refund = await ledger.refund(request);
        if (refund.amount !== undefined) count(request.attempts);
        return refund;
      },
    }),
    watchJobCosts: (jobs) => ({
      ...jobs,
      async change(change, known, attempts) {
        const outcome = await jobs.change(change, known, attempts);
        // A running job has no certain cost yet; one that fails is counted with its refund.
        if (change.kind === 'complete' && outcome.status === 'done') count(attempts);
        return outcome;
      },
    }),
  };
}
