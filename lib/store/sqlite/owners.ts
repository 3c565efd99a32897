// The live gateways, in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { HOUR_MS } from '../../base/durations.ts';
import type { OtherOwners, OwnerLease } from '../ports/owners.ts';
import type { Connection } from './connection.ts';
import type { PortWrites } from './thread-ports.ts';

/** Rows of dead owners are kept this long, so that their calls can still be investigated. */
const OWNER_KEPT_MS = HOUR_MS;

/** Owners that are alive at `:now`. */
export const ALIVE = 'until >= :now AND until <= :now + 2 * lease_ms';

export function ownerWrites({ db, write }: Connection): PortWrites<'owners'> {
  const renew = db.prepare(
    `INSERT INTO owners (id, until, lease_ms, alone) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET until = ?2, lease_ms = ?3, alone = ?4`,
  );
  const forget = db.prepare('DELETE FROM owners WHERE until < ?');
  const countOthers = db.prepare(
    `SELECT count(*) AS others, coalesce(sum(alone), 0) AS alone FROM owners
    WHERE id <> :id AND substr(id, 1, length(:id) + 1) <> :id || '-' AND ${ALIVE}`,
  );
  const remove = db.prepare('DELETE FROM owners WHERE id = ?');
  return {
    renew: ({ id, leaseMs, alone }: OwnerLease): OtherOwners =>
      write(() => {
        const now = Date.now();
        forget.run(now - OWNER_KEPT_MS);
        renew.run(id, now + leaseMs, leaseMs, Number(alone));
        const seen = countOthers.get({ id, now });
        return { now, others: seen?.others as number, alone: seen?.alone as number };
      }),
    remove: (id: string): void => {
      write(() => remove.run(id));
    },
  };
}

export function createListAliveOwners(db: DatabaseSync): () => string[] {
  const alive = db.prepare(`SELECT id FROM owners WHERE ${ALIVE} ORDER BY id`);
  return () => alive.all({ now: Date.now() }).map(({ id }) => id as string);
}
