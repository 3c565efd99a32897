// Metrics of payments: orders, credits, webhooks, payments in review, and failures of providers.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { PaymentStore } from '../store/ports/payments.ts';
import type { UpstreamFaultKind } from '../upstream/contract/fault.ts';
import { FAULT_KINDS } from '../upstream/host/fault.ts';
import { createMissingSeries, type SeriesFacts } from './series.ts';

export interface PaymentMetrics {
  readonly payments: PaymentCounts;
  /** Counts the payments in review at each scrape. */
  watchReviews(payments: Pick<PaymentStore, 'list'>): void;
}

/** Receives the events of the payments service. */
interface PaymentCounts {
  readonly onOrder: (provider: string, origin: 'manual' | 'auto') => void;
  readonly onCredit: (provider: string) => void;
  readonly onWebhook: (provider: string, outcome: (typeof WEBHOOK_OUTCOMES)[number]) => void;
  /** A request to a provider failed or was refused. */
  readonly onFailure: (provider: string, kind: UpstreamFaultKind) => void;
}

const ORIGINS = ['manual', 'auto'] as const;
const WEBHOOK_OUTCOMES = ['done', 'again', 'rejected'] as const;
/** Limits the read; a larger number is reported as this one. */
const REVIEWS_MAX = 1000;

export function createPaymentMetrics(registry: Registry, { providers }: SeriesFacts): PaymentMetrics {
  const registers = [registry];
  function counter<Label extends string>(
    name: string,
    help: string,
    { label, values }: { readonly label?: Label; readonly values: readonly string[] },
  ): Counter<'provider' | Label> {
    return new Counter({
      name,
      help,
      labelNames: ['provider', ...(label ? [label] : [])],
      registers,
      collect() {
        const each = (provider: string) => values.map((value) => ({ provider, ...(label && { [label]: value }) }));
        createMissingSeries(this as Counter<string>, [...(providers?.().keys() ?? [])].flatMap(each));
      },
    });
  }
  const orders = counter('tollgate_payment_orders_total', 'Orders made, by who made them (manual or auto).', {
    label: 'origin',
    values: ORIGINS,
  });
  const credits = counter(
    'tollgate_payment_credits_total',
    'Payments credited because their provider confirmed them.',
    {
      values: [''],
    },
  );
  const webhooks = counter('tollgate_payment_notices_total', 'Webhooks, by outcome (done, again or rejected).', {
    label: 'outcome',
    values: WEBHOOK_OUTCOMES,
  });
  const failures = counter(
    'tollgate_payment_failures_total',
    'Times a provider did not do what it was asked, by kind.',
    {
      label: 'kind',
      values: FAULT_KINDS,
    },
  );
  return {
    payments: {
      onOrder: (provider, origin) => orders.inc({ provider, origin }),
      onCredit: (provider) => credits.inc({ provider }),
      onWebhook: (provider, outcome) => webhooks.inc({ provider, outcome }),
      onFailure: (provider, kind) => failures.inc({ provider, kind }),
    },
    watchReviews(payments) {
      new Gauge({
        name: 'tollgate_payments_in_review',
        help: 'Payments of the store that wait for an operator, at most 1000.',
        registers,
        async collect() {
          await payments.list({ phases: ['review'], limit: REVIEWS_MAX }).then(
            (found) => this.set(found.length),
            // Without an answer of the store, an old number would look like a new one.
            () => this.remove(),
          );
        },
      });
    },
  };
}
