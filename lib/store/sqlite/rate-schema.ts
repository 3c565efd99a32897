// The table of exchange rates.

export const RATE_TABLE = `
  CREATE TABLE rates (
    currency TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    rub INTEGER NOT NULL CHECK (rub > 0),
    since TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (currency, seq)
  ) STRICT, WITHOUT ROWID;
`;
