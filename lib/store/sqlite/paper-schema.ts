// The table of papers for companies.
import { PAPER_KINDS } from '../ports/papers.ts';
import { matchAny } from './checks.ts';

export const PAPER_TABLE = `
  CREATE TABLE papers (
    kind TEXT NOT NULL CHECK (${matchAny('kind', PAPER_KINDS)}),
    id TEXT NOT NULL,
    number INTEGER CHECK (number > 0),
    account TEXT,
    state TEXT NOT NULL,
    at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    content TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT;
  CREATE UNIQUE INDEX papers_by_number ON papers (kind, number) WHERE number IS NOT NULL;
  CREATE INDEX papers_by_time ON papers (kind, at, id);
  CREATE INDEX papers_of_account ON papers (account, kind, at, id) WHERE account IS NOT NULL;
  CREATE INDEX papers_by_state ON papers (kind, state, at, id);
`;
