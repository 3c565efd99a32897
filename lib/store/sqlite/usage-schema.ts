// A migration of SQLite: usage counts failures, costs and attempts by route, and the sums of all wallets together.
import { BUCKET_COUNT } from '../../base/time-buckets.ts';

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
