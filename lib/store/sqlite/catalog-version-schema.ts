// The table of the catalog's part that operators write on pages.

export const CATALOG_VERSIONS_TABLE = `
  CREATE TABLE catalog_versions (
    seq INTEGER NOT NULL PRIMARY KEY CHECK (seq > 0),
    at INTEGER NOT NULL,
    user TEXT NOT NULL,
    note TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
`;
