// The tables of promo codes.

export const PROMO_TABLES = `
  CREATE TABLE promo_codes (
    code TEXT NOT NULL PRIMARY KEY,
    amount INTEGER NOT NULL CHECK (amount > 0),
    uses INTEGER NOT NULL CHECK (uses > 0),
    used INTEGER NOT NULL CHECK (used BETWEEN 0 AND uses),
    until INTEGER,
    days INTEGER CHECK (days > 0),
    opens INTEGER NOT NULL CHECK (opens IN (0, 1)),
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER
  ) STRICT;

  CREATE TABLE promo_uses (
    code TEXT NOT NULL,
    account TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (code, account)
  ) STRICT;
`;
