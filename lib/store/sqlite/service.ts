// What the processes of the service keep about themselves: rate limit windows, live owners and settings.
import type { DatabaseSync } from 'node:sqlite';
import type { LimitWindow, Setting } from '../store.ts';
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
  // A window lost with the machine's power costs a minute of leniency; waiting for the disk would cost every call.
  const durability = 'normal';
  return {
    hitLimit: (bucket: string, windowMs: number, now: number): LimitWindow =>
      write(() => windowOf(hit.get({ bucket, endsAt: now + windowMs, latest: now + 2 * windowMs, now })), durability),
    // Read by the writing thread, because hits that were sent before must be in it.
    openLimits: (now: number): LimitWindow[] => open.all(now).map(windowOf),
    mergeLimits: (windows: readonly LimitWindow[], now: number): void =>
      write(() => {
        drop.run(now);
        for (const { bucket, endsAt, count } of windows) if (endsAt > now) merge.run({ bucket, endsAt, count });
      }, durability),
  };
}

function windowOf(row: Record<string, unknown> | undefined): LimitWindow {
  return { bucket: row?.bucket as string, endsAt: row?.endsAt as number, count: row?.count as number };
}

/** Rows of owners that are gone stay for a while: the clocks of processes may differ. */
const OWNER_KEPT_MS = 3_600_000;

export function ownerWrites({ db, write }: Connection) {
  const renew = db.prepare('INSERT INTO owners (id, until) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET until = ?2');
  const forget = db.prepare('DELETE FROM owners WHERE until < ?');
  const others = db.prepare('SELECT count(*) AS alive FROM owners WHERE id <> ? AND until >= ?');
  const remove = db.prepare('DELETE FROM owners WHERE id = ?');
  return {
    renewOwner: (id: string, until: number, now: number): number =>
      write(() => {
        forget.run(now - OWNER_KEPT_MS);
        renew.run(id, until);
        return Number(others.get(id, now)?.alive);
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
