// The payment tables of the SQLite store; CHECKs repeat the rules of payments.
import { PAYMENT_PHASES } from '../../money/payment-rules.ts';
import { matchAny } from './checks.ts';

export const PAYMENT_TABLES = `
  CREATE TABLE payments (
    id TEXT NOT NULL PRIMARY KEY,
    wallet TEXT NOT NULL,
    provider TEXT NOT NULL,
    phase TEXT NOT NULL CHECK (${matchAny('phase', PAYMENT_PHASES)}),
    amount INTEGER NOT NULL CHECK (amount > 0),
    shop TEXT NOT NULL,
    test INTEGER NOT NULL CHECK (test IN (0, 1)),
    origin TEXT NOT NULL CHECK (origin IN ('manual', 'auto')),
    facts TEXT NOT NULL,
    ref TEXT,
    pay_url TEXT,
    expires_at INTEGER,
    state TEXT,
    reason TEXT,
    credited INTEGER NOT NULL CHECK (credited >= 0),
    refunded INTEGER NOT NULL CHECK (refunded >= 0 AND refunded <= credited),
    shortfall INTEGER NOT NULL CHECK (shortfall >= 0 AND shortfall <= refunded),
    refunds TEXT NOT NULL,
    dispute TEXT,
    owner TEXT,
    lease INTEGER,
    due_at INTEGER CHECK (due_at > 0),
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    CHECK ((owner IS NULL) = (lease IS NULL)),
    CHECK ((credited > 0) = (
      ${matchAny('phase', ['credited', 'partly_refunded', 'refunded', 'disputed', 'reversed', 'kept'])}
    )),
    CHECK (credited = 0 OR ref IS NOT NULL),
    CHECK (due_at IS NOT NULL OR NOT (${matchAny('phase', ['created', 'succeeded'])}))
  ) STRICT;
  CREATE UNIQUE INDEX payments_by_ref ON payments (provider, ref) WHERE ref IS NOT NULL;
  CREATE INDEX payments_due ON payments (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX payments_of_wallet ON payments (wallet, created_at);
  CREATE INDEX payments_by_time ON payments (created_at, id);

  CREATE TABLE saved_methods (
    id TEXT NOT NULL PRIMARY KEY,
    wallet TEXT NOT NULL,
    provider TEXT NOT NULL,
    ref TEXT NOT NULL,
    kind TEXT NOT NULL,
    brand TEXT,
    last4 TEXT,
    expiry TEXT,
    fingerprint TEXT,
    created_at INTEGER NOT NULL,
    removed_at INTEGER,
    UNIQUE (provider, ref)
  ) STRICT;
  CREATE INDEX saved_methods_of_wallet ON saved_methods (wallet);

  CREATE TABLE consents (
    id TEXT NOT NULL PRIMARY KEY,
    wallet TEXT NOT NULL,
    user TEXT NOT NULL,
    kind TEXT NOT NULL,
    text_version TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    address TEXT NOT NULL
  ) STRICT;
  CREATE INDEX consents_of_wallet ON consents (wallet);

  CREATE TABLE auto_topups (
    id TEXT NOT NULL PRIMARY KEY,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    threshold INTEGER NOT NULL CHECK (threshold >= 0),
    amount INTEGER NOT NULL CHECK (amount >= 0),
    cap INTEGER NOT NULL CHECK (cap >= 0),
    method TEXT,
    consent TEXT,
    "order" TEXT,
    next_at INTEGER NOT NULL,
    declines INTEGER NOT NULL CHECK (declines >= 0),
    paused_at INTEGER,
    reason TEXT,
    day TEXT NOT NULL,
    day_count INTEGER NOT NULL CHECK (day_count >= 0),
    month TEXT NOT NULL,
    month_sum INTEGER NOT NULL CHECK (month_sum >= 0),
    version INTEGER NOT NULL CHECK (version > 0),
    CHECK (enabled = 0 OR method IS NOT NULL)
  ) STRICT;
  CREATE INDEX auto_topups_by_method ON auto_topups (method) WHERE method IS NOT NULL;

  CREATE TABLE notices (
    id TEXT NOT NULL PRIMARY KEY,
    provider TEXT NOT NULL,
    at INTEGER NOT NULL,
    address TEXT NOT NULL,
    headers TEXT NOT NULL,
    body TEXT NOT NULL,
    verdict TEXT NOT NULL,
    detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX notices_by_time ON notices (at);
`;
