// The tables about earlier entries of the journal: how far it was audited, and what was archived.
import { ARCHIVE_STATES } from '../ports/archives.ts';
import { matchAny } from './checks.ts';

export const ARCHIVE_TABLES = `
  CREATE TABLE checkpoints (
    wallet TEXT NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL CHECK (seq > 0),
    avail INTEGER NOT NULL,
    held INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    topped INTEGER NOT NULL,
    adjusted INTEGER NOT NULL,
    overshoot INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE openings (
    wallet TEXT NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL CHECK (seq > 0),
    avail INTEGER NOT NULL,
    held INTEGER NOT NULL CHECK (held >= 0),
    charged INTEGER NOT NULL CHECK (charged >= 0),
    topped INTEGER NOT NULL CHECK (topped >= 0),
    adjusted INTEGER NOT NULL,
    overshoot INTEGER NOT NULL CHECK (overshoot >= 0),
    lasting INTEGER NOT NULL CHECK (lasting >= 0),
    budgets TEXT NOT NULL,
    kept TEXT,
    CHECK (avail + held + charged = topped + adjusted)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE archives (
    id TEXT NOT NULL PRIMARY KEY,
    file TEXT NOT NULL,
    before INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (${matchAny('state', ARCHIVE_STATES)}),
    started_at INTEGER NOT NULL,
    sha256 TEXT,
    calls INTEGER NOT NULL CHECK (calls >= 0),
    entries INTEGER NOT NULL CHECK (entries >= 0),
    charged INTEGER NOT NULL,
    first INTEGER,
    last INTEGER,
    CHECK (state = 'writing' OR sha256 IS NOT NULL)
  ) STRICT;
  CREATE UNIQUE INDEX archives_unfinished ON archives ((1)) WHERE state <> 'done';
`;
