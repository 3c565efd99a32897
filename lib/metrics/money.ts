// Metrics of the ledger: charges and refunds of calls, and the duration of commits.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CallCost, Hold, Ledger, Settlement } from '../ledger/ledger.ts';
import { toRub } from '../money/money.ts';
import { TOKEN_NAMES } from '../money/token-usage.ts';
import type { JobStore } from '../store/ports/jobs.ts';
import type { Store } from '../store/store.ts';
import { createCostMetrics } from './costs.ts';
import { createMissingSeries, modelSeries, type SeriesFacts } from './series.ts';

export interface MoneyMetrics {
  readonly onAudit: (problems: number) => void;
  watchStore(store: Store): Store;
  watchLedger(ledger: Ledger): Ledger;
  watchJobCosts(jobs: JobStore): JobStore;
}

export function createMoneyMetrics(registry: Registry, facts: SeriesFacts): MoneyMetrics {
  const costs = createCostMetrics(registry, facts);
  const watchLedger = createLedgerWatch(registry, facts);
  return {
    onAudit: createAuditMetrics(registry),
    watchStore: createCommitWatch(registry),
    watchLedger: (ledger) => costs.watchLedger(watchLedger(ledger)),
    watchJobCosts: costs.watchJobCosts,
  };
}

function createAuditMetrics(registry: Registry): (problems: number) => void {
  const registers = [registry];
  const problems = new Gauge({
    name: 'tollgate_ledger_problems',
    help: 'The difference found by the last verification of the ledger; absent before the first.',
    // Without a label the gauge would be 0 from the start, as if the ledger had been verified.
    labelNames: ['audit'],
    registers,
  });
  return (found) => problems.set({ audit: 'last' }, found);
}

function createCommitWatch(registry: Registry): (store: Store) => Store {
  const registers = [registry];
  const commits = new Histogram({
    name: 'tollgate_ledger_commit_seconds',
    help: 'How long the store took for a batch of operations, by result (ok, or failed and retried).',
    labelNames: ['result'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  for (const result of ['ok', 'failed']) commits.zero({ result });
  const operations = new Counter({
    name: 'tollgate_ledger_operations_total',
    help: 'Operations that were committed.',
    registers,
  });

  return (store) => ({
    ...store,
    ledger: {
      ...store.ledger,
      async apply(batch) {
        const startedAt = performance.now();
        let result = 'failed';
        try {
          const outcomes = await store.ledger.apply(batch);
          result = 'ok';
          operations.inc(batch.length);
          return outcomes;
        } finally {
          commits.observe({ result }, (performance.now() - startedAt) / 1000);
        }
      },
    },
  });
}

/** The label of each count in a stored usage. */
const TOKEN_KINDS = Object.values(TOKEN_NAMES).map((name) => ({ name, kind: name.replace('tokens_', '') }));

function createTokenCount(registry: Registry, facts: SeriesFacts): (model: string, used: CallCost) => void {
  const tokens = new Counter({
    name: 'tollgate_billed_tokens_total',
    help: 'Tokens that calls were charged for, by kind; reasoning is part of the output.',
    labelNames: ['model', 'kind'],
    registers: [registry],
    collect() {
      const models = modelSeries(facts, 'text');
      createMissingSeries(
        this,
        models.flatMap(({ model }) => TOKEN_KINDS.map(({ kind }) => ({ model, kind }))),
      );
    },
  });
  return (model, { usage }) => {
    for (const { kind, name } of TOKEN_KINDS) {
      const count = usage[name];
      if (typeof count === 'number') tokens.inc({ model, kind }, count);
    }
  };
}

function showQueue(registry: Registry, ledger: Pick<Ledger, 'size'>): void {
  new Gauge({
    name: 'tollgate_ledger_queue_operations',
    help: 'Operations that have no outcome yet.',
    registers: [registry],
    collect() {
      this.set(ledger.size());
    },
  });
}

function createLedgerWatch(registry: Registry, facts: SeriesFacts): (ledger: Ledger) => Ledger {
  const registers = [registry];
  const counter = (name: string, help: string) =>
    new Counter({
      name,
      help,
      labelNames: ['model'],
      registers,
      collect() {
        createMissingSeries(this, modelSeries(facts));
      },
    });
  const charged = counter('tollgate_charged_rubles_total', 'What calls were charged, in RUB.');
  const refunded = counter(
    'tollgate_refunded_rubles_total',
    'Holds that went back in full, and charges that were refunded, in RUB.',
  );
  const overshoot = counter('tollgate_overshoot_rubles_total', 'What was charged above the hold, in RUB.');
  const countTokens = createTokenCount(registry, facts);
  const unconfirmed = new Counter({
    name: 'tollgate_settlements_unconfirmed_total',
    help: 'Ends of calls that were answered before the store had confirmed them; they are retried.',
    registers,
  });
  const expired = new Counter({
    name: 'tollgate_holds_expired_total',
    help: 'Holds of dead processes returned by the sweeper of this one.',
    registers,
  });

  function countSettlement({ charge: { model } }: Hold, end: Settlement): Settlement {
    if (end.charged > 0n) charged.inc({ model }, toRub(end.charged));
    else refunded.inc({ model }, toRub(end.reserved));
    if (end.charged > end.reserved) overshoot.inc({ model }, toRub(end.charged - end.reserved));
    if (!end.confirmed) unconfirmed.inc();
    return end;
  }

  return (ledger) => {
    showQueue(registry, ledger);
    return {
      ...ledger,
      async settle(hold, used) {
        const end = await ledger.settle(hold, used);
        if (end.charged > 0n) countTokens(hold.charge.model, used);
        return countSettlement(hold, end);
      },
      release: async (hold, attempts) => countSettlement(hold, await ledger.release(hold, attempts)),
      async charge(request, job) {
        const paid = await ledger.charge(request, job);
        charged.inc({ model: request.model }, toRub(paid.charge.charged));
        return paid;
      },
      async refund(request) {
        const refund = await ledger.refund(request);
        const { amount = 0n, model } = refund;
        if (model !== undefined) refunded.inc({ model }, toRub(amount));
        return refund;
      },
      async expireOrphans(page) {
        const found = await ledger.expireOrphans(page);
        expired.inc(found);
        return found;
      },
    };
  };
}
