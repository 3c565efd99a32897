// The table of refused requests.

export const REFUSAL_TABLE = `
  CREATE TABLE refusals (
    account TEXT NOT NULL,
    hour INTEGER NOT NULL,
    key TEXT NOT NULL,
    code TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    last_at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (account, hour, key, code)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX refusals_by_hour ON refusals (hour);
`;
