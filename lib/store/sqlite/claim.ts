// Claims rows that are due, by lease, in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { canJudgeOwners, IMPLAUSIBLE_WAIT_MS } from '../claim.ts';
import type { JobClaim, JobRenewal } from '../ports/jobs.ts';
import { prepareBig } from './connection.ts';
import { ALIVE } from './owners.ts';

type Row = Record<string, unknown>;

/** Claims rows of a table with `due_at`, `owner`, `lease` and `version`, in a transaction; in no particular order. */
export function createClaim(
  db: DatabaseSync,
  table: 'jobs' | 'payments',
  columns: string,
): (request: JobClaim, now: number) => Row[] {
  const prepare = table === 'payments' ? prepareBig : (from: DatabaseSync, sql: string) => from.prepare(sql);
  const free = `(:working IS NULL OR ${table}.id NOT IN (SELECT value FROM json_each(:working)))
    AND (owner IS NULL OR (:unowned = 0 AND (lease < :now OR lease > :now + 2 * :leaseMs)
    AND (NOT EXISTS (SELECT 1 FROM owners WHERE owners.id = ${table}.owner AND ${ALIVE})
      OR (owner = :owner AND :working IS NOT NULL))))`;
  const claim = prepare(
    db,
    `UPDATE ${table} SET owner = :owner, lease = :now + :leaseMs, version = version + 1 WHERE id IN (
      SELECT id FROM ${table} WHERE (due_at <= :now OR due_at > :now + ${IMPLAUSIBLE_WAIT_MS[table]}) AND ${free} ORDER BY due_at, id LIMIT :limit
    ) RETURNING ${columns}`,
  );
  return (request, now) => {
    const { owner, leaseMs, limit, working } = request;
    const unowned = Number(!canJudgeOwners(request, now));
    const list = working ? JSON.stringify(working) : null;
    return claim.all({ owner, leaseMs, limit, working: list, unowned, now });
  };
}

export function createRenew(
  db: DatabaseSync,
  table: 'jobs' | 'payments',
): (renewal: JobRenewal, now: number) => boolean {
  const renew = db.prepare(`UPDATE ${table} SET lease = ? WHERE id = ? AND version = ? AND owner = ?`);
  return ({ id, version, owner, leaseMs }, now) => renew.run(now + leaseMs, id, version, owner).changes === 1;
}
