// The tables of devices on which users have signed in, and of removed users.

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
