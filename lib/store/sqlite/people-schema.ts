// The tables of devices on which users have signed in, and of removed users; roles and caps of members; chats of users.
import type { DatabaseSync } from 'node:sqlite';
import { ROLES } from '../ports/users.ts';
import { changeChecks, matchAny } from './checks.ts';

export const DEVICE_TABLE = `
  CREATE TABLE devices (
    hash TEXT NOT NULL PRIMARY KEY,
    user TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `;

export const FORMER_USER_TABLE = `
  CREATE TABLE former_users (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    removed_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `;

/** The zone of a cap is set when an invitation is accepted. */
const MEMBER_COLUMNS = `
  ALTER TABLE memberships ADD COLUMN cap INTEGER;
  ALTER TABLE memberships ADD COLUMN cap_reset TEXT;
  ALTER TABLE memberships ADD COLUMN cap_zone TEXT;
  ALTER TABLE links ADD COLUMN role TEXT;
  ALTER TABLE links ADD COLUMN cap INTEGER;
  ALTER TABLE links ADD COLUMN cap_reset TEXT;
  ALTER TABLE keys ADD COLUMN created_by TEXT;
  CREATE INDEX links_of_account ON links (account) WHERE account IS NOT NULL;
`;

/** Earlier memberships are those of owners. */
export function addMembers(db: DatabaseSync): void {
  changeChecks(db, 'memberships', [["role = 'owner'", matchAny('role', ROLES)]]);
  db.exec(MEMBER_COLUMNS);
}

/** JSON of the chat in which a user gets alerts. */
export const TELEGRAM_COLUMN = `
  ALTER TABLE users ADD COLUMN telegram TEXT CHECK (json_valid(telegram));
`;

/** The audit sees by a mark that what is said once was changed outside the store; earlier rows have none yet. */
export const TERMS_MARKS = `
  ALTER TABLE accounts ADD COLUMN mark TEXT;
  ALTER TABLE memberships ADD COLUMN mark TEXT;
`;
