// The SQLite store: one thread writes, one reads, and a third does what takes long, so that nothing waits for it.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { type LedgerStore, type Store, StoreError } from '../store.ts';
import type { Reads, Writes } from './procedures.ts';
import { createThread, type Thread } from './thread.ts';
import { decodeOutcomes, encodeOperations } from './wire.ts';

export interface SqliteOptions {
  /** How long a write waits for other processes before it fails. */
  readonly busyMs?: number;
}

const BUSY_MS = 4000;
/** Larger batches save a fifth at most, and those behind them wait longer. */
const BATCH_MAX = 256;

/** Opens the file, making it if there is none. Rejects with `OperatorError` when it cannot be used. */
export async function openSqliteStore(path: string, { busyMs = BUSY_MS }: SqliteOptions = {}): Promise<Store> {
  const connection = { path: resolve(path), busyMs };
  const writer = createThread<Writes>({ role: 'writer', connection });
  await writer.call('ping');
  const reader = createThread<Reads>({ role: 'reader', connection });
  reader.start();
  const scanner = createThread<Reads>({ role: 'scanner', connection });

  async function close(): Promise<void> {
    await Promise.all([reader.close(), scanner.close()]);
    // The last connection that closes puts the log into the file.
    await writer.close();
  }

  return {
    ledger: ledgerOf(writer, reader, scanner),
    accounts: {
      create: ({ id, name, createdAt }) => writer.call('createAccount', id, name, createdAt),
      get: (id) => reader.call('account', id),
      list: () => scanner.call('accounts'),
      setStatus: (id, status) => writer.call('setAccountStatus', id, status),
    },
    keys: {
      add: (key, activeMax) => writer.call('addKey', key, activeMax),
      find: (hash) => reader.call('findKey', hash),
      list: (account) => reader.call('keys', account),
      revoke: (id, at) => writer.call('revokeKey', id, at),
      use: (uses, batch) => writer.call('useKeys', uses, batch),
    },
    limits: {
      hit: (bucket, windowMs, now) => writer.call('hitLimit', bucket, windowMs, now),
      open: (now) => writer.call('openLimits', now),
      merge: (windows, now, batch) => writer.call('mergeLimits', windows, now, batch),
    },
    owners: {
      renew: (owner) => writer.call('renewOwner', owner, Date.now()),
      remove: (id) => writer.call('removeOwner', id),
    },
    settings: {
      get: (name) => reader.call('setting', name),
      set: (name, value) => writer.call('setSetting', name, value),
      list: () => reader.call('settings'),
    },
    ping: () => reader.call('ping'),
    backup: (file) => scanner.call('backup', resolve(file)),
    close,
  };
}

function ledgerOf(writer: Thread<Writes>, reader: Thread<Reads>, scanner: Thread<Reads>): LedgerStore {
  return {
    lane: 'store',
    batchMax: BATCH_MAX,
    apply: createApply(writer),
    wallet: (id) => reader.call('wallet', id),
    charge: (id) => reader.call('charge', id),
    entries: (wallet, { before, limit }) => reader.call('entries', wallet, before, limit),
    entriesOfCharge: (chargeId) => reader.call('entriesOfCharge', chargeId),
    chargedAt: (wallet, at) => reader.call('chargedAt', wallet, at),
    orphans: (page) => reader.call('orphans', page),
    audit: ({ after, limit }) => scanner.call('audit', after, limit),
  };
}

function createApply(writer: Thread<Writes>): LedgerStore['apply'] {
  return async (batch) => {
    assert(batch.length <= BATCH_MAX);
    const kept = batch.filter((item) => item.tried || !item.abandoned);
    if (kept.length === 0) return batch.map(() => undefined);
    const untried = kept.filter((item) => !item.tried);
    for (const item of untried) item.tried = true;
    try {
      const operations = kept.map((item) => item.op);
      const outcomes = decodeOutcomes(await writer.call('apply', encodeOperations(operations)), operations);
      if (kept.length === batch.length) return outcomes;
      const byItem = new Map(kept.map((item, index) => [item, outcomes[index]]));
      return batch.map((item) => byItem.get(item));
    } catch (error) {
      // What an earlier attempt may have applied stays tried: this one's failure says nothing about it.
      if (error instanceof StoreError && error.applied === 'no') for (const item of untried) item.tried = false;
      throw error;
    }
  };
}
