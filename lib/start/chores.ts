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
import { createCleaner } from '../store/cleaner.ts';
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
  const onError = (err: unknown) => log.warn({ err }, 'could not remove expired media');
  const mediaCleaner = createCleaner({ expiring: store.media, onError, onRemoved: metrics?.media.onRemoved });
  const onKeysError = (err: unknown) => log.warn({ err }, 'could not remove expired idempotency keys');
  const idempotencyCleaner = createCleaner({ expiring: store.idempotency, onError: onKeysError });
  const runs = { clean: (now: number, limit: number) => store.ledger.removeRuns(now - 2 * RUN_MS, limit) };
  const onRunsError = (err: unknown) => log.warn({ err }, 'could not remove the budgets of earlier runs');
  const onRefusalsError = (err: unknown) => log.warn({ err }, 'could not remove the counts of refused requests');
  const onRepliesError = (err: unknown) => log.warn({ err }, 'could not remove expired replies of the management API');
  const replyCleaner = createCleaner({ expiring: store.management, onError: onRepliesError });
  const cleaners = [
    mediaCleaner,
    idempotencyCleaner,
    replyCleaner,
    createCleaner({ expiring: runs, onError: onRunsError }),
    createCleaner({ expiring: store.refusals, onError: onRefusalsError }),
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
