// Migrations of SQLite: usage counts failures, costs and attempts by route, the tokens of recordings, and the sums of all
// wallets together; it has UTC days and weeks beside its hours, and the sums of all have weeks beside their days.
import type { DatabaseSync } from 'node:sqlite';
import { WEEK_MS } from '../../base/durations.ts';
import { BUCKET_COUNT } from '../../base/time-buckets.ts';
import { SERVICE_SUBJECTS } from '../ports/usage.ts';
import { findWeek, SERVICE_COUNTS } from '../service-sums.ts';
import { DAYS_OF_HOURS, type UsageFilling, WEEKS_OF_DAYS } from '../usage-grains.ts';
import { changeChecks, matchAny } from './checks.ts';

export const TIME_COLUMNS: readonly string[] = Array.from({ length: BUCKET_COUNT }, (_, at) => `first_${at}`);

const times = TIME_COLUMNS.map((name) => `${name} INTEGER NOT NULL`).join(', ');

const add = (grain: 'hour' | 'day', subject: 'model' | 'wallet') => {
  const at = grain === 'hour' ? 'hour' : 'hour - hour % 86400000';
  const name = subject === 'wallet' ? 'account' : subject;
  const zeros = TIME_COLUMNS.map(() => '0').join(', ');
  return `INSERT INTO service_sums SELECT '${name}', '${grain}', ${at}, ${subject}, sum(calls), 0, sum(charged),
    sum(refunded), 0, 0, 0, ${zeros} FROM usage_hours GROUP BY ${at}, ${subject};`;
};

/** Wallets are folded again, except those whose calls have partly left for an archive: they keep their sums. */
export const USAGE_OF_SERVICE = `
  ALTER TABLE call_attempts ADD COLUMN reason TEXT;
  ALTER TABLE usage_hours ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_hours ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_hours ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_cursors ADD COLUMN jobs TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE usage_cursors ADD COLUMN partial INTEGER NOT NULL DEFAULT 0 CHECK (partial IN (0, 1));

  CREATE TABLE route_hours (
    wallet TEXT NOT NULL,
    hour INTEGER NOT NULL,
    upstream TEXT NOT NULL,
    model TEXT NOT NULL,
    ending TEXT NOT NULL,
    reason TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    ${times},
    PRIMARY KEY (wallet, hour, upstream, model, ending, reason)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE service_sums (
    subject TEXT NOT NULL CHECK (subject = 'model' OR subject = 'account' OR subject = 'route'),
    grain TEXT NOT NULL CHECK (grain = 'hour' OR grain = 'day'),
    at INTEGER NOT NULL,
    name TEXT NOT NULL,
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    refunded INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    ${times},
    PRIMARY KEY (subject, grain, at, name)
  ) STRICT, WITHOUT ROWID;

  DELETE FROM usage_hours WHERE wallet NOT IN (SELECT wallet FROM openings);
  DELETE FROM usage_cursors WHERE wallet NOT IN (SELECT wallet FROM openings);
  UPDATE usage_cursors SET partial = 1;
  ${add('hour', 'model')} ${add('day', 'model')} ${add('hour', 'wallet')} ${add('day', 'wallet')}
  CREATE INDEX usage_hours_by_time ON usage_hours (hour);
  CREATE INDEX route_hours_by_time ON route_hours (hour);
  CREATE INDEX entries_of_payments ON entries (at) WHERE kind IN ('topup', 'pay', 'payback', 'dispute');
`;

/** What hours and days counted when days began, and weeks too. */
const COUNTED = [
  ...['calls', 'charged', 'refunded', 'failed', 'cost', 'unpriced', 'tokens_input', 'tokens_cache_read'],
  ...['tokens_cache_write', 'tokens_cache_write_1h', 'tokens_output', 'tokens_reasoning', 'images', 'seconds'],
];

const describeTable = (grain: 'day' | 'week') => `
  CREATE TABLE usage_${grain}s (
    wallet TEXT NOT NULL,
    ${grain} INTEGER NOT NULL,
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    ${COUNTED.map((name) => `${name} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (wallet, ${grain}, key, model, kind)
  ) STRICT, WITHOUT ROWID;
`;

export const USAGE_DAYS_TABLE = describeTable('day');
export const USAGE_WEEKS_TABLE = describeTable('week');

/** Rows of one part of a migration, and the rest of those of the last day or week. */
const ROWS_PER_PART = 20_000;

/** Nobody adds to hours before the migration is over. */
export function fillUsageDays(db: DatabaseSync): boolean {
  return fillUsage(db, DAYS_OF_HOURS);
}

export function fillUsageWeeks(db: DatabaseSync): boolean {
  return fillUsage(db, WEEKS_OF_DAYS);
}

/** Makes the sums of a grain from those of the finer one, in their order; false at the end. */
function fillUsage(db: DatabaseSync, { from: finer, to: grain, ms }: UsageFilling): boolean {
  const done = db
    .prepare(`SELECT wallet, ${grain} AS at FROM usage_${grain}s ORDER BY wallet DESC, ${grain} DESC LIMIT 1`)
    .get();
  const from = done ? [done.wallet as string, Number(done.at) + ms] : ['', 0];
  const next = db
    .prepare(
      `SELECT wallet, ${finer} - ${finer} % ${ms} AS at FROM usage_${finer}s WHERE (wallet, ${finer}) >= (?, ?)
        ORDER BY wallet, ${finer} LIMIT 1 OFFSET ?`,
    )
    .get(...from, ROWS_PER_PART);
  const until = next ? [next.wallet as string, Number(next.at) + ms] : [];
  const sums = COUNTED.map((name) => `sum(${name})`);
  db.prepare(
    `INSERT INTO usage_${grain}s (wallet, ${grain}, key, model, kind, ${COUNTED.join()})
      SELECT wallet, ${finer} - ${finer} % ${ms} AS part, key, model, kind, ${sums.join()} FROM usage_${finer}s
      WHERE (wallet, ${finer}) >= (?, ?) ${next ? `AND (wallet, ${finer}) < (?, ?)` : ''}
      GROUP BY wallet, part, key, model, kind`,
  ).run(...from, ...until);
  return next !== undefined;
}

/** Usage counts audio apart; nobody counted that of earlier calls. */
export const USAGE_OF_AUDIO = ['usage_hours', 'usage_days', 'usage_weeks']
  .map((table) => `ALTER TABLE ${table} ADD COLUMN tokens_audio INTEGER NOT NULL DEFAULT 0;`)
  .join('\n');

/** Lets the sums of all wallets be by the week too. */
export function allowServiceWeeks(db: DatabaseSync): void {
  changeChecks(db, 'service_sums', [["grain = 'day'", matchAny('grain', ['day', 'week'])]]);
}

/** Makes the next week of each subject from its days: nobody adds to days before the migration is over. */
export function fillServiceWeeks(db: DatabaseSync): boolean {
  const last = db.prepare("SELECT max(at) AS at FROM service_sums WHERE subject = ? AND grain = 'week'");
  const next = db.prepare("SELECT min(at) AS at FROM service_sums WHERE subject = ? AND grain = 'day' AND at >= ?");
  const counts = [...SERVICE_COUNTS, ...TIME_COLUMNS];
  const add = db.prepare(
    `INSERT INTO service_sums (subject, grain, at, name, ${counts.join()})
      SELECT subject, 'week', ?2, name, ${counts.map((name) => `sum(${name})`).join()} FROM service_sums
      WHERE subject = ?1 AND grain = 'day' AND at >= ?2 AND at < ?3 GROUP BY subject, name`,
  );
  let isMore = false;
  for (const subject of SERVICE_SUBJECTS) {
    const filled = last.get(subject)?.at as number | null | undefined;
    const from = typeof filled === 'number' ? filled + WEEK_MS : 0;
    const day = next.get(subject, from)?.at as number | null | undefined;
    if (typeof day !== 'number') continue;
    add.run(subject, findWeek(day), findWeek(day) + WEEK_MS);
    isMore = true;
  }
  return isMore;
}
