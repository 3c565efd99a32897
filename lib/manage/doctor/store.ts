// Checks of the store: whether it answers, what the last audit found, and who may sign in.
import { HOUR_MS } from '../../base/durations.ts';
import type { Config } from '../../config.ts';
import { readLastAudit } from '../../ledger/last-audit.ts';
import { describeStore, openOwnStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { describeError, type Finding, failed, ok, warning } from './check.ts';

/** Runs checks on the store, which is only read; what it finds says why it could not be opened. */
export async function withStore(
  config: Config,
  work: (store: Store) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  let store: Store;
  try {
    store = await openOwnStore(config, { inProcess: true, readOnly: true });
  } catch (error) {
    return [failed('store', describeError(error), 'Check DATABASE_URL, and start the service once.')];
  }
  try {
    return await work(store);
  } catch (error) {
    return [failed('store', describeError(error), 'Check the database.')];
  } finally {
    await store.close().catch(() => undefined);
  }
}

const SLOW_MS = 200;
const AUDIT_MS_MAX = 26 * HOUR_MS;

export async function checkStore(store: Store, { databaseUrl }: Config): Promise<readonly Finding[]> {
  const startedAt = performance.now();
  await store.ping();
  const ms = Math.round(performance.now() - startedAt);
  const detail = `${describeStore(databaseUrl)} answers in ${ms} ms`;
  const answers =
    ms > SLOW_MS ? warning('store', detail, 'Move it closer: every call waits for it twice.') : ok('store', detail);
  const gateways = (await store.gateways()).length;
  const running =
    gateways > 0
      ? ok('gateways', `${gateways} ${gateways === 1 ? 'process runs' : 'processes run'} on this store`)
      : warning('gateways', 'none runs on this store', 'Start the service.');
  return [answers, running, await checkAudit(store, gateways > 0), await checkOperators(store)];
}

async function checkAudit(store: Store, isRunning: boolean): Promise<Finding> {
  const last = await readLastAudit(store);
  if (last === undefined) return ok('ledger', 'not audited yet; a gateway does it every hour');
  const at = new Date(last.at).toISOString();
  if (last.problems > 0) {
    return failed(
      'ledger',
      `problems: ${last.problems}, found at ${at}`,
      'Run "tollgate ledger verify"; see docs/operations/incidents.md.',
    );
  }
  if (isRunning && Date.now() - last.at > AUDIT_MS_MAX) {
    return warning('ledger', `last audited at ${at}`, 'Look for "could not finish the audit" in the log.');
  }
  return ok('ledger', `added up at ${at}`);
}

async function checkOperators({ users }: Store): Promise<Finding> {
  const operators = await users.operators();
  if (operators === 0)
    return warning(
      'operators',
      'none',
      'Open the link that the start printed, or run "tollgate operator create EMAIL".',
    );
  return operators === 1
    ? warning('operators', 'only one', 'Create another: "tollgate operator create EMAIL".')
    : ok('operators', `${operators}`);
}
