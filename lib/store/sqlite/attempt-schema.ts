// The table of attempts at upstreams in the SQLite store. (`attempts` has failed sign-ins.)
import { ATTEMPT_ENDINGS, CERTAINTIES } from '../../money/attempt.ts';
import { matchAny } from './checks.ts';

/** The ids of calls begin with their time, so new rows are added at the end of the table. */
export const CALL_ATTEMPTS_TABLE = `
  CREATE TABLE call_attempts (
    charge TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    wallet TEXT NOT NULL,
    last INTEGER NOT NULL CHECK (last = 0 OR last = 1),
    model TEXT NOT NULL,
    upstream TEXT,
    upstream_model TEXT,
    key_place INTEGER,
    request_id TEXT,
    at INTEGER NOT NULL,
    ending TEXT NOT NULL CHECK (${matchAny('ending', ATTEMPT_ENDINGS)}),
    first_ms INTEGER,
    total_ms INTEGER NOT NULL,
    usage TEXT,
    certainty TEXT NOT NULL CHECK (${matchAny('certainty', CERTAINTIES)}),
    currency TEXT,
    prices TEXT,
    rate INTEGER CHECK (rate > 0),
    cost INTEGER CHECK (cost >= 0),
    cost_rub INTEGER CHECK (cost_rub >= 0),
    mark TEXT NOT NULL,
    PRIMARY KEY (charge, number),
    CHECK ((currency IS NULL) = (prices IS NULL)),
    CHECK ((currency IS NULL) = (rate IS NULL)),
    CHECK ((currency IS NULL) = (cost IS NULL)),
    CHECK ((currency IS NULL) = (cost_rub IS NULL))
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX call_attempts_by_time ON call_attempts (at);
`;
