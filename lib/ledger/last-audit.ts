// The result of the last audit of the ledger, stored so that every process can show it.
import type { Store } from '../store/store.ts';
import { type AuditReport, verifyLedger } from './audit.ts';

export interface LastAudit {
  /** When it ended, ms since the epoch. */
  readonly at: number;
  readonly problems: number;
  /** In micro-roubles, as a decimal string. */
  readonly drift: string;
}

const SETTING = 'last_audit';

/** Audits everything, unless another audit is given. */
export async function auditLedger(
  store: Store,
  verify: (store: Store) => Promise<AuditReport> = verifyLedger,
): Promise<AuditReport> {
  const report = await verify(store);
  const { problems, more, drift } = report;
  const last: LastAudit = { at: Date.now(), problems: problems.length + more, drift: `${drift}` };
  await store.settings.set(SETTING, JSON.stringify(last));
  return report;
}

/** Undefined before the first audit. */
export async function readLastAudit({ settings }: Pick<Store, 'settings'>): Promise<LastAudit | undefined> {
  const noted = await settings.get(SETTING);
  return noted === undefined ? undefined : JSON.parse(noted);
}
