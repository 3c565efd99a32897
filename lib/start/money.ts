// Opens what moves money: the ledger, this process as the owner of its holds, payments, and automatic top-ups.

import type { Limiter } from '../accounts/rate-limiter.ts';
import type { Alerts } from '../alerts/alerts.ts';
import { alertCardChange } from '../alerts/card.ts';
import type { LiveCatalog } from '../catalog/live.ts';
import type { Config } from '../config.ts';
import type { Log } from '../http/log.ts';
import { createLedger, type Ledger, type LedgerOptions } from '../ledger/ledger.ts';
import { createOwner } from '../ledger/owner.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createAutoTopup } from '../payments/auto-topup.ts';
import { createPayments } from '../payments/payments.ts';
import type { Store } from '../store/store.ts';

interface MoneyParts {
  readonly store: Store;
  readonly log: Log;
  readonly catalog: LiveCatalog;
  readonly metrics: Metrics | undefined;
  readonly alerts: Alerts;
  readonly publicUrl: () => string;
  readonly isReal: () => boolean;
  readonly onPeers: Limiter['setPeers'] | undefined;
}

export function openMoney({ ownerId, leaseMs }: Pick<Config, 'ownerId' | 'leaseMs'>, parts: MoneyParts) {
  const { store, log, catalog, metrics, alerts, publicUrl, isReal, onPeers } = parts;
  const ledger = openLedger({ store, ownerId, leaseMs, log, isReal }, metrics);
  const owner = createOwner({ store: store.owners, ledger, ownerId, leaseMs, log, onPeers });
  const payments = createPayments({
    store,
    providers: catalog.payments,
    publicUrl,
    ownerId,
    leaseMs,
    clock: owner,
    log,
    // Not awaited: the payment must not wait for the alert.
    onSaved: (method) => void alertCardChange({ alerts, log }, 'card.saved', method),
    counts: metrics?.payments,
  });
  const topups = createAutoTopup({
    store,
    payments,
    bounds: () => catalog.current().autoTopup,
    now: owner.now,
    log,
    alerts,
  });
  payments.onChange(topups.onPayment);
  return { ledger, owner, payments, topups };
}

function openLedger(options: LedgerOptions, metrics: Metrics | undefined): Ledger {
  if (!metrics) return createLedger(options);
  return metrics.watchLedger(createLedger({ ...options, store: metrics.watchStore(options.store) }));
}
