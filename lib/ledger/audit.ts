// The audit: holds every wallet against its journal and its open holds, and says what does not add up.

import type { Micro } from '../money/money.ts';
import type { Store, WalletAudit } from '../store/store.ts';

export interface AuditReport {
  readonly ok: boolean;
  readonly wallets: number;
  readonly entries: number;
  /** The sum of all differences found, without sign. */
  readonly drift: Micro;
  readonly problems: readonly AuditProblem[];
}

export interface AuditProblem {
  readonly wallet: string;
  readonly problem: string;
}

const PAGE = 200;

export async function verifyLedger(store: Store): Promise<AuditReport> {
  const report = { wallets: 0, entries: 0, drift: 0n, problems: [] as AuditProblem[] };
  let after = '';
  while (true) {
    const page = await store.ledger.audit({ after, limit: PAGE });
    for (const row of page) {
      const found = auditWallet(row);
      report.wallets += 1;
      report.entries += row.entries;
      report.drift += found.drift;
      report.problems.push(...found.problems.map((problem) => ({ wallet: row.wallet.id, problem })));
      after = row.wallet.id;
    }
    if (page.length < PAGE) break;
  }
  return { ok: report.problems.length === 0, ...report };
}

/** What is wrong with one wallet, and by how much. */
export function auditWallet(row: WalletAudit): { readonly drift: Micro; readonly problems: readonly string[] } {
  const { wallet } = row;
  const problems: string[] = [];
  let drift = 0n;
  const differs = (name: string, found: Micro, wanted: Micro) => {
    if (found === wanted) return;
    drift += found > wanted ? found - wanted : wanted - found;
    problems.push(`${name}: ${found} instead of ${wanted}`);
  };
  differs('avail + held + charged', wallet.avail + wallet.held + wallet.charged, wallet.topped + wallet.adjusted);
  for (const column of ['avail', 'held', 'charged', 'topped', 'adjusted'] as const) {
    differs(column, wallet[column], row[column]);
  }
  differs('held by open charges', wallet.held, row.holds);
  differs('charged by settled charges', wallet.charged, row.settled);
  if (row.unbalanced > 0) problems.push(`${row.unbalanced} entries do not balance`);
  if (row.seqMax !== wallet.seq || row.entries !== wallet.seq || (row.entries > 0 && row.seqMin !== 1)) {
    problems.push(`seq ${wallet.seq} with ${row.entries} entries from ${row.seqMin} to ${row.seqMax}`);
  }
  if (wallet.avail < -row.overshoot) problems.push(`avail ${wallet.avail} is below the overshoot ${-row.overshoot}`);
  return { drift, problems };
}
