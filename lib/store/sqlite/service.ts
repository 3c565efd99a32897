// What the processes of the service keep about themselves: rate limit windows, live owners and settings.
import type { DatabaseSync } from 'node:sqlite';
import type { Batch, LimitWindow, Others, OwnerLease, Setting } from '../store.ts';
import { createOnce } from './batches.ts';
import type { Connection } from './connection.ts';

export function limitWrites({ db, write }: Connection) {
  // A window that ends far in the future is from before the clock was set back.
  const hit = db.prepare(
    `INSERT INTO limits (bucket, ends_at, count) VALUES (:bucket, :endsAt, 1) ON CONFLICT (bucket) DO UPDATE SET
      count = iif(ends_at > :now AND ends_at <= :latest, count + 1, 1),
      ends_at = iif(ends_at > :now AND ends_at <= :latest, ends_at, :endsAt)
    RETURNING bucket, ends_at AS endsAt, count`,
  );
  // Hits of two windows that are both open all belong to the one that opened first.
  const merge = db.prepare(
    `INSERT INTO limits (bucket, ends_at, count) VALUES (:bucket, :endsAt, :count) ON CONFLICT (bucket) DO UPDATE SET
      count = count + :count, ends_at = min(ends_at, :endsAt)`,
  );
  const open = db.prepare('SELECT bucket, ends_at AS endsAt, count FROM limits WHERE ends_at > ? ORDER BY bucket');
  const drop = db.prepare('DELETE FROM limits WHERE ends_at <= ?');
  const once = createOnce(db);
  // A window lost with the machine's power costs a minute of leniency; waiting for the disk would cost every call.
  const durability = 'normal';
  return {
    hitLimit: (bucket: string, windowMs: number, now: number): LimitWindow =>
      write(() => windowOf(hit.get({ bucket, endsAt: now + windowMs, latest: now + 2 * windowMs, now })), durability),
    // Read by the writing thread, because hits that were sent before must be in it.
    openLimits: (now: number): LimitWindow[] => open.all(now).map(windowOf),
    mergeLimits: (windows: readonly LimitWindow[], now: number, batch?: Batch): void =>
      write(() => {
        drop.run(now);
        once(batch, () => {
          for (const { bucket, endsAt, count } of windows) if (endsAt > now) merge.run({ bucket, endsAt, count });
        });
      }, durability),
  };
}

function windowOf(row: Record<string, unknown> | undefined): LimitWindow {
  return { bucket: row?.bucket as string, endsAt: row?.endsAt as number, count: row?.count as number };
}

/** Rows of owners that are gone stay for a while: so long a call of theirs may still be looked into. */
const OWNER_KEPT_MS = 3_600_000;

/** Owners that are alive at `:now`. */
export const ALIVE = 'until >= :now AND until <= :now + 2 * lease_ms';

export function ownerWrites({ db, write }: Connection) {
  const renew = db.prepare(
    `INSERT INTO owners (id, until, lease_ms, alone) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET until = ?2, lease_ms = ?3, alone = ?4`,
  );
  const forget = db.prepare('DELETE FROM owners WHERE until < ?');
  const look = db.prepare(
    `SELECT count(*) AS others, coalesce(sum(alone), 0) AS alone FROM owners WHERE id <> :id AND ${ALIVE}`,
  );
  const remove = db.prepare('DELETE FROM owners WHERE id = ?');
  return {
    renewOwner: ({ id, leaseMs, alone }: OwnerLease, now: number): Others =>
      write(() => {
        forget.run(now - OWNER_KEPT_MS);
        renew.run(id, now + leaseMs, leaseMs, Number(alone));
        const seen = look.get({ id, now });
        return { now, others: seen?.others as number, alone: seen?.alone as number };
      }),
    removeOwner: (id: string): void => {
      write(() => remove.run(id));
    },
  };
}

export function settingWrites({ db, write }: Connection) {
  const set = db.prepare(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = ?2',
  );
  return {
    setSetting: (name: string, value: string): void => {
      write(() => set.run(name, value));
    },
  };
}

export function settingReads(db: DatabaseSync) {
  const get = db.prepare('SELECT value FROM settings WHERE name = ?');
  const all = db.prepare('SELECT name, value FROM settings ORDER BY name');
  return {
    setting: (name: string): string | undefined => get.get(name)?.value as string | undefined,
    settings: (): Setting[] => all.all().map((row) => ({ name: row.name as string, value: row.value as string })),
  };
}
