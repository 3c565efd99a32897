// The tables of the SQLite store, as a list of migrations; CHECKs repeat the rules of the ledger.
import type { DatabaseSync } from 'node:sqlite';
import { ARCHIVE_TABLES } from './archive-schema.ts';
import { CALL_ATTEMPTS_TABLE } from './attempt-schema.ts';
import { CATALOG_VERSIONS_TABLE } from './catalog-version-schema.ts';
import { changeChecks, matchAny } from './checks.ts';
import { addGrants } from './grant-schema.ts';
import { MANAGEMENT_TABLES } from './management-schema.ts';
import { PAPER_TABLE } from './paper-schema.ts';
import { PAYMENT_TABLES } from './payment-schema.ts';
import { addMembers, DEVICE_TABLE, FORMER_USER_TABLE, TELEGRAM_COLUMN, TERMS_MARKS } from './people-schema.ts';
import { PROMO_TABLES } from './promo-schema.ts';
import { RATE_TABLE } from './rate-schema.ts';
import { REFUSAL_TABLE } from './refusal-schema.ts';
import { addStatusesAndMarks } from './status-schema.ts';
import {
  allowServiceWeeks,
  fillServiceWeeks,
  fillUsageDays,
  fillUsageWeeks,
  USAGE_DAYS_TABLE,
  USAGE_OF_AUDIO,
  USAGE_OF_SERVICE,
  USAGE_WEEKS_TABLE,
} from './usage-schema.ts';

/** Marks a file as ours: `toll`. */
export const APPLICATION_ID = 0x746f6c6c;

/** The possible cost of running calls above their holds; the index covers only such calls. */
const EXCESS = `
  ALTER TABLE charges ADD COLUMN excess INTEGER CHECK (excess > 0);
  CREATE INDEX charges_exposed ON charges (wallet, excess) WHERE state = 'held' AND excess IS NOT NULL;
`;

/**
 * The further budgets that a call counts in, as JSON of `CapPeriod[]`. A CHECK would make the step read every charge.
 */
const CAPS = 'ALTER TABLE charges ADD COLUMN caps TEXT;';

/** The budget of each end user of a key. */
const END_USERS = `
  ALTER TABLE keys ADD COLUMN end_user_cap INTEGER CHECK (end_user_cap > 0);
  ALTER TABLE keys ADD COLUMN end_user_reset TEXT CHECK (
    (end_user_cap IS NULL) = (end_user_reset IS NULL)
    AND (end_user_reset IS NULL OR ${matchAny('end_user_reset', ['none', 'day', 'week', 'month'])})
  );
`;

/** Limits on the requests of keys and of accounts, as JSON. */
const REQUEST_LIMITS = ['keys', 'accounts']
  .map((name) => `ALTER TABLE ${name} ADD COLUMN request_limits TEXT;`)
  .join('');

/** The price list of an account. The index covers only accounts with one. */
const PRICE_LIST = `
  ALTER TABLE accounts ADD COLUMN price_list TEXT;
  CREATE INDEX accounts_price_list ON accounts (price_list) WHERE price_list IS NOT NULL;
`;

/** Wallets that take calls without a first top-up. */
const OPENED = 'ALTER TABLE wallets ADD COLUMN opened INTEGER NOT NULL DEFAULT 0 CHECK (opened IN (0, 1));';

/** What an account gets each month. The index covers only accounts that get something. */
const ALLOWANCE = `
  ALTER TABLE accounts ADD COLUMN allowance_amount INTEGER CHECK (allowance_amount > 0);
  ALTER TABLE accounts ADD COLUMN allowance_reason TEXT;
  CREATE INDEX accounts_allowance ON accounts (id) WHERE allowance_amount IS NOT NULL;
`;

/** Usage counts tokens of the prompt cache and of reasoning apart; nobody counted those of earlier calls. */
const ADDED_UNITS = ['tokens_cache_read', 'tokens_cache_write', 'tokens_cache_write_1h', 'tokens_reasoning'];
const USAGE_OF_CACHES = ADDED_UNITS.map(
  (name) => `ALTER TABLE usage_hours ADD COLUMN ${name} INTEGER NOT NULL DEFAULT 0;`,
).join('\n');

/** The kinds of entries in version 1, and the kinds without a call. */
const CHARGELESS_1 = ['topup', 'adjust', 'pay', 'payback', 'dispute'];
const KINDS_1 = [...CHARGELESS_1, 'reserve', 'charge', 'settle', 'release', 'expire', 'refund'];

/** The entries that move money otherwise than by calls: the index is used only with this condition. */
export const MOVES_MONEY = "kind IN ('topup', 'adjust', 'grant', 'grant_end', 'pay', 'payback', 'dispute')";

/** A long step does a part of its work, which is committed by itself, and returns true if there is more. */
export type Migration = string | ((db: DatabaseSync) => unknown);

/** Version n of the schema consists of the first n steps; a released step never changes. */
export const MIGRATIONS: readonly Migration[] = [
  `
  CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    auto_topup_enabled INTEGER NOT NULL DEFAULT 0 CHECK (auto_topup_enabled IN (0, 1)),
    auto_topup_amount INTEGER NOT NULL DEFAULT 0 CHECK (auto_topup_amount >= 0),
    auto_topup_threshold INTEGER NOT NULL DEFAULT 0 CHECK (auto_topup_threshold >= 0)
  ) STRICT;

  CREATE TABLE wallets (
    id TEXT NOT NULL PRIMARY KEY,
    avail INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
    charged INTEGER NOT NULL DEFAULT 0 CHECK (charged >= 0),
    topped INTEGER NOT NULL DEFAULT 0 CHECK (topped >= 0),
    adjusted INTEGER NOT NULL DEFAULT 0,
    seq INTEGER NOT NULL DEFAULT 0 CHECK (seq >= 0),
    status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
    CHECK (avail + held + charged = topped + adjusted)
  ) STRICT;

  CREATE TABLE keys (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    last4 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    requests_count INTEGER NOT NULL DEFAULT 0 CHECK (requests_count >= 0),
    last_used_at INTEGER,
    budget INTEGER CHECK (budget > 0),
    reset TEXT NOT NULL CHECK (reset IN ('none', 'day', 'week', 'month')),
    zone TEXT NOT NULL,
    expires_at INTEGER,
    models TEXT,
    budget_key TEXT
  ) STRICT;
  CREATE INDEX keys_of_account ON keys (account, created_at);

  CREATE TABLE charges (
    id TEXT NOT NULL PRIMARY KEY,
    wallet TEXT NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (${matchAny('kind', ['text', 'image', 'edit', 'video'])}),
    state TEXT NOT NULL CHECK (${matchAny('state', ['held', 'settled', 'released', 'expired', 'refunded'])}),
    reserved INTEGER NOT NULL CHECK (reserved > 0),
    charged INTEGER NOT NULL CHECK (charged >= 0),
    model TEXT NOT NULL,
    prices TEXT NOT NULL,
    usage TEXT,
    owner TEXT,
    lease INTEGER,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    period INTEGER,
    budget_key TEXT CHECK (budget_key IS NULL OR period IS NOT NULL),
    CHECK ((state = 'held') = (owner IS NOT NULL)),
    CHECK ((state = 'held') = (lease IS NOT NULL)),
    CHECK ((state = 'held') = (ended_at IS NULL)),
    CHECK (charged = 0 OR state IN ('settled', 'refunded'))
  ) STRICT;
  CREATE INDEX charges_held ON charges (lease) WHERE state = 'held';

  CREATE TABLE budgets (
    key TEXT NOT NULL PRIMARY KEY,
    wallet TEXT NOT NULL,
    period INTEGER NOT NULL,
    spent INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX budgets_of_wallet ON budgets (wallet);

  CREATE TABLE entries (
    op_id TEXT NOT NULL UNIQUE,
    wallet TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    kind TEXT NOT NULL CHECK (
      ${matchAny('kind', KINDS_1)}
    ),
    charge TEXT,
    at INTEGER NOT NULL,
    avail INTEGER NOT NULL,
    held INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    topped INTEGER NOT NULL,
    adjusted INTEGER NOT NULL,
    overshoot INTEGER NOT NULL CHECK (overshoot >= 0),
    charged_after INTEGER NOT NULL CHECK (charged_after >= 0),
    note TEXT,
    UNIQUE (wallet, seq),
    CHECK (avail + held + charged = topped + adjusted),
    CHECK ((charge IS NULL) = (${matchAny('kind', CHARGELESS_1)}))
  ) STRICT;
  CREATE INDEX entries_by_time ON entries (wallet, at, seq) WHERE charged <> 0;
  CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
  END;
  CREATE TRIGGER entries_remain BEFORE DELETE ON entries
    WHEN old.seq > coalesce((SELECT seq FROM openings WHERE wallet = old.wallet), 0)
  BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
  END;

  CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY,
    wallet TEXT NOT NULL,
    charge TEXT NOT NULL,
    model TEXT NOT NULL,
    upstream TEXT NOT NULL,
    phase TEXT NOT NULL CHECK (${matchAny('phase', ['starting', 'running', 'completed', 'failed'])}),
    shown TEXT NOT NULL CHECK (shown IN ('queued', 'processing')),
    progress INTEGER NOT NULL CHECK (progress BETWEEN 0 AND 100),
    ref TEXT,
    facts TEXT NOT NULL,
    result TEXT,
    error TEXT,
    owner TEXT,
    lease INTEGER,
    due_at INTEGER CHECK (due_at > 0),
    deadline INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    version INTEGER NOT NULL CHECK (version > 0),
    CHECK ((owner IS NULL) = (lease IS NULL)),
    CHECK ((phase IN ('completed', 'failed')) = (ended_at IS NOT NULL)),
    CHECK ((ended_at IS NULL) = (due_at IS NOT NULL)),
    CHECK (ended_at IS NULL OR owner IS NULL),
    CHECK ((phase = 'completed') = (result IS NOT NULL)),
    CHECK ((phase = 'failed') = (error IS NOT NULL))
  ) STRICT;
  CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL;

  ${PAYMENT_TABLES}

  CREATE TABLE media (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('image', 'video')),
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX media_by_end ON media (expires_at);

  CREATE TABLE limits (
    bucket TEXT NOT NULL PRIMARY KEY,
    ends_at INTEGER NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE owners (
    id TEXT NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL,
    lease_ms INTEGER NOT NULL CHECK (lease_ms > 0),
    alone INTEGER NOT NULL CHECK (alone IN (0, 1))
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE batches (
    writer TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL CHECK (number > 0),
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE usage_hours (
    wallet TEXT NOT NULL,
    hour INTEGER NOT NULL,
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    calls INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    refunded INTEGER NOT NULL,
    tokens_input INTEGER NOT NULL,
    tokens_output INTEGER NOT NULL,
    images INTEGER NOT NULL,
    seconds INTEGER NOT NULL,
    PRIMARY KEY (wallet, hour, key, model, kind)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE usage_cursors (
    wallet TEXT NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL CHECK (seq > 0)
  ) STRICT, WITHOUT ROWID;

  ${ARCHIVE_TABLES}

  CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    password TEXT,
    totp_secret TEXT,
    totp_step INTEGER NOT NULL,
    recovery TEXT NOT NULL,
    operator INTEGER NOT NULL CHECK (operator IN (0, 1)),
    status TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
    language TEXT NOT NULL CHECK (language IN ('ru', 'en')),
    time_zone TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE memberships (
    user TEXT NOT NULL,
    account TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role = 'owner'),
    PRIMARY KEY (user, account)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX members ON memberships (account);

  CREATE TABLE sessions (
    hash TEXT NOT NULL PRIMARY KEY,
    user TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    idle_ms INTEGER NOT NULL CHECK (idle_ms > 0),
    proven_at INTEGER,
    address TEXT NOT NULL,
    agent TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_of ON sessions (user);

  CREATE TABLE links (
    hash TEXT NOT NULL PRIMARY KEY,
    purpose TEXT NOT NULL,
    user TEXT,
    account TEXT,
    email TEXT,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE attempts (
    name TEXT NOT NULL PRIMARY KEY,
    count INTEGER NOT NULL CHECK (count > 0),
    last_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE audit_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    user TEXT NOT NULL,
    action TEXT NOT NULL,
    account TEXT,
    target TEXT NOT NULL,
    detail TEXT NOT NULL,
    address TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_of_account ON audit_log (account, seq) WHERE account IS NOT NULL;
  CREATE TRIGGER audit_stays BEFORE UPDATE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
  END;
  CREATE TRIGGER audit_remains BEFORE DELETE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
  END;

  CREATE TABLE alerts (
    account TEXT NOT NULL PRIMARY KEY,
    balance_below INTEGER CHECK (balance_below > 0),
    budgets INTEGER NOT NULL CHECK (budgets IN (0, 1)),
    webhook_url TEXT,
    webhook_secret TEXT,
    version INTEGER NOT NULL CHECK (version > 0),
    CHECK ((webhook_url IS NULL) = (webhook_secret IS NULL))
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE alarms (
    account TEXT NOT NULL,
    subject TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    PRIMARY KEY (account, subject)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE repeats (
    id TEXT NOT NULL PRIMARY KEY,
    wallet TEXT NOT NULL,
    charge TEXT NOT NULL,
    body TEXT NOT NULL,
    awaited INTEGER NOT NULL CHECK (awaited IN (0, 1)),
    reply TEXT,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX repeats_by_end ON repeats (expires_at);

  CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  DEVICE_TABLE,
  FORMER_USER_TABLE,
  `
  CREATE INDEX notices_vain ON notices (id) WHERE ${matchAny('verdict', ['rejected', 'foreign'])};
  CREATE INDEX payments_untold ON payments (provider, phase, created_at) WHERE ref IS NULL;
  `,
  // Wallets that hold money of test payments, or the gift of the demo account.
  `
  ALTER TABLE wallets ADD COLUMN play_money INTEGER NOT NULL DEFAULT 0 CHECK (play_money IN (0, 1));
  UPDATE wallets SET play_money = 1 WHERE id IN (SELECT value FROM settings WHERE name = 'demo-account') OR id IN (
    SELECT wallet FROM payments WHERE credited > 0 AND (test = 1 OR CASE WHEN json_valid(state) THEN json_extract(state, '$.test') END = 1)
  );
  `,
  EXCESS,
  addStatusesAndMarks,
  // Calls for embeddings.
  (db) => changeChecks(db, 'charges', [["kind = 'video'", matchAny('kind', ['video', 'embedding'])]]),
  USAGE_OF_CACHES,
  CALL_ATTEMPTS_TABLE,
  RATE_TABLE,
  CAPS,
  END_USERS,
  REQUEST_LIMITS,
  PRICE_LIST,
  OPENED,
  MANAGEMENT_TABLES,
  // Holds of the operator's own services.
  (db) => changeChecks(db, 'charges', [["kind = 'embedding'", matchAny('kind', ['embedding', 'service'])]]),
  addMembers,
  addGrants,
  USAGE_OF_SERVICE,
  PROMO_TABLES,
  CATALOG_VERSIONS_TABLE,
  // The statement of a month.
  `CREATE INDEX entries_of_money ON entries (wallet, at, seq) WHERE ${MOVES_MONEY};`,
  ALLOWANCE,
  TELEGRAM_COLUMN,
  PAPER_TABLE,
  TERMS_MARKS,
  USAGE_DAYS_TABLE,
  fillUsageDays,
  allowServiceWeeks,
  fillServiceWeeks,
  USAGE_WEEKS_TABLE,
  fillUsageWeeks,
  USAGE_OF_AUDIO,
  REFUSAL_TABLE,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** From this version on, rows can be read without a migration. */
export const READABLE_SINCE = MIGRATIONS.indexOf(REFUSAL_TABLE) + 1;
