// Background chores: verify the ledger, give and end grants, remove expired media and idempotency keys, keep usage sums up to
// date.
import { createAllowanceSweep } from '../accounts/allowances.ts';
import { HOUR_MS } from '../base/durations.ts';
import type { Log } from '../http/log.ts';
import { verifyChanges } from '../ledger/audit-changes.ts';
import { createGrantChore } from '../ledger/grant-sweep.ts';
import { auditLedger } from '../ledger/last-audit.ts';
import { createUsageChore, type UsageChore } from '../ledger/usage-chore.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { RUN_MS } from '../money/budget.ts';
import { type CleanerOptions, createCleaner } from '../store/cleaner.ts';
import type { Store } from '../store/store.ts';

const AUDIT_EVERY_MS = HOUR_MS;
const PROBLEMS_LOGGED_MAX = 20;

export interface Chore {
  start(): void;
  stop(): void;
}

interface ChoreParts {
  readonly store: Store;
  readonly log: Log;
  readonly metrics: Metrics | undefined;
  /** Started and stopped with the others. */
  readonly more: readonly Chore[];
}

export function createChores({ store, log, metrics, more }: ChoreParts): Chore {
  const clean = (what: string, expiring: CleanerOptions['expiring'], onRemoved?: CleanerOptions['onRemoved']) =>
    createCleaner({ expiring, onError: (err) => log.warn({ err }, `could not remove ${what}`), onRemoved });
  const runs = { clean: (now: number, limit: number) => store.ledger.removeRuns(now - 2 * RUN_MS, limit) };
  const cleaners = [
    clean('expired media', store.media, metrics?.media.onRemoved),
    clean('expired idempotency keys', store.idempotency),
    clean('expired replies of the management API', store.management),
    clean('the budgets of earlier runs', runs),
    clean('the counts of refused requests', store.refusals),
  ];
  const onGrantsError = (err: unknown, wallet?: string) =>
    log.warn({ err, wallet }, 'could not end grants or give those of the month');
  const onAllowanceError = (err: unknown, account: string) =>
    log.warn({ err, account }, 'could not give the grant of the month');
  const { give: giveMonthly } = createAllowanceSweep(store, onAllowanceError);
  const grants = createGrantChore({ store, giveMonthly, onError: onGrantsError });
  const chores = [createAudits(store, log, metrics?.onAudit), grants, ...cleaners, ...more];
  return {
    start: () => chores.forEach((chore) => void chore.start()),
    stop: () => chores.forEach((chore) => void chore.stop()),
  };
}

/** Periodically verifies what has changed in the ledger. */
function createAudits(store: Store, log: Log, onAudit?: (problems: number) => void): Chore {
  let timer: NodeJS.Timeout | undefined;
  const audit = async () => {
    const { ok, problems } = await auditLedger(store, verifyChanges);
    onAudit?.(problems.length);
    if (!ok) log.error({ problems: problems.slice(0, PROBLEMS_LOGGED_MAX) }, 'the ledger does not add up');
  };
  const onError = (err: unknown) => log.warn({ err }, 'could not finish the audit of the ledger');
  return {
    start() {
      timer = setInterval(() => void audit().catch(onError), AUDIT_EVERY_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}

export function openUsage(store: Store, log: Log, { sweeps }: { readonly sweeps: boolean }): UsageChore {
  const onError = (err: unknown) => log.warn({ err }, 'could not update the usage sums');
  return createUsageChore({ store, onError, sweeps });
}
