// The tables of the management API.

export const MANAGEMENT_TABLES = `
  CREATE TABLE management_keys (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    last4 TEXT NOT NULL,
    scopes TEXT NOT NULL,
    account TEXT,
    addresses TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT;
  CREATE INDEX management_keys_of_account ON management_keys (account);

  CREATE TABLE management_replies (
    id TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL,
    reply TEXT,
    lease INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX management_replies_by_end ON management_replies (expires_at);
  `;
