// The SQLite store: one thread writes, one reads, and a third does long work, so that nothing waits for that.
// A command, which would wait anyway, has it all in its own thread.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { mediaBeside } from '../backup-file.ts';
import type { AlertStore } from '../ports/alerts.ts';
import type { ArchiveStore } from '../ports/archives.ts';
import type { IdempotencyStore } from '../ports/idempotency.ts';
import type { JobStore } from '../ports/jobs.ts';
import type { JournalStore } from '../ports/journal.ts';
import type { LedgerStore } from '../ports/ledger.ts';
import type { PaymentRows, PaymentStore } from '../ports/payments.ts';
import type { UsageStore } from '../ports/usage.ts';
import { withoutWrites } from '../read-only.ts';
import { type Opening, type Store, StoreError } from '../store.ts';
import { watchPages } from './backup.ts';
import type { ConnectionOptions } from './connection.ts';
import { type MediaFiles, openMediaFiles } from './media-files.ts';
import { mediaStore } from './media-store.ts';
import type { Reads, Writes } from './procedures.ts';
import { createThread, type Thread } from './thread.ts';
import { decodeOutcomes, encodeOperations } from './wire.ts';

export interface SqliteOptions extends Opening {
  /** It is an unfinished backup, which nobody else may open. */
  readonly temporary?: boolean;
  /** How long a write waits for other processes before it fails. */
  readonly busyMs?: number;
}

const BUSY_MS = 4000;
/** Larger batches save a fifth at most and delay those behind them. */
const BATCH_MAX = 256;

/** Opens the file, creating it if necessary. Rejects with `OperatorError` if it cannot be used. */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<Store> {
  const { busyMs = BUSY_MS, existing = false, readOnly = false, here = false } = options;
  const { temporary = false, repeatable = false } = options;
  const file = resolve(path);
  const mediaFolder = resolve(options.mediaFolder ?? mediaBeside(file));
  const connection: ConnectionOptions = { path: file, mediaFolder, busyMs, existing, readOnly, temporary, repeatable };
  const { writer, reader, scanner } = here ? await openHere(connection) : openThreads(connection);
  // A store that is open for reading only has no writer.
  await (readOnly ? reader : writer).call('ping');
  reader.start();
  const store = createStore({ writer, reader, scanner, files: openMediaFiles(mediaFolder) });
  return readOnly ? withoutWrites(store) : store;
}

/** Each opens its connection at its first call. */
interface Connections {
  readonly writer: Thread<Writes>;
  readonly reader: Thread<Reads>;
  readonly scanner: Thread<Reads>;
}

function openThreads(connection: ConnectionOptions): Connections {
  return {
    writer: createThread<Writes>({ role: 'writer', connection }),
    reader: createThread<Reads>({ role: 'reader', connection }),
    scanner: createThread<Reads>({ role: 'scanner', connection }),
  };
}

async function openHere(connection: ConnectionOptions): Promise<Connections> {
  // What the threads load otherwise.
  const { readHere, writeHere } = await import('./here.ts');
  const reader = readHere(connection);
  return { writer: writeHere(connection), reader, scanner: reader };
}

interface Parts extends Connections {
  readonly files: MediaFiles;
}

function createStore(parts: Parts): Store {
  const { writer, reader, scanner } = parts;

  async function close(): Promise<void> {
    await Promise.all([reader.close(), scanner.close()]);
    // The last connection to close merges the log into the file.
    await writer.close();
  }

  return {
    ledger: ledgerOf(parts),
    journal: journalOf(parts),
    checkpoints: {
      changes: (after, limit) => scanner.call('checkpointChanges', after, limit),
      page: (after, limit) => scanner.call('checkpointPage', after, limit),
      put: (checkpoints) => writer.call('putCheckpoints', checkpoints),
    },
    accounts: {
      create: ({ id, name, createdAt }) => writer.call('createAccount', id, name, createdAt),
      put: (accounts) => writer.call('putAccounts', accounts),
      get: (id) => reader.call('account', id),
      list: () => scanner.call('accounts'),
      page: (page) => scanner.call('accountPage', page),
      setStatus: (id, status) => writer.call('setAccountStatus', id, status),
      setPlayMoney: (id, isPlay) => writer.call('setPlayMoney', id, isPlay),
      setAutoTopup: (id, autoTopup) => writer.call('setAutoTopup', id, autoTopup),
    },
    keys: {
      add: (key, activeMax) => writer.call('addKey', key, activeMax),
      find: (hash) => reader.call('findKey', hash),
      get: (id) => reader.call('key', id),
      list: (account) => reader.call('keys', account),
      owners: (page) => scanner.call('keyOwners', page),
      unmarked: (page) => scanner.call('keysUnmarked', page),
      revoke: (id, at) => writer.call('revokeKey', id, at),
      replace: (id, key, activeMax) => writer.call('replaceKey', id, key, activeMax),
      limit: (id, change, now) => writer.call('limitKey', id, change, now),
      put: (id, limits) => writer.call('putKey', id, limits),
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
    jobs: jobsOf(parts),
    payments: paymentsOf(parts),
    media: mediaStore(parts),
    usage: usageOf(parts),
    ...{ alerts: alertsOf(parts), idempotency: idempotencyOf(parts), archives: archivesOf(parts) },
    ...peopleOf(parts),
    ping: () => reader.call('ping'),
    gateways: () => reader.call('gateways'),
    backup: (file, onProgress) =>
      watchPages(
        (pages) => scanner.call('backup', resolve(file), pages),
        onProgress && ((pages) => onProgress({ ...pages, unit: 'pages' })),
      ),
    close,
  };
}

function journalOf({ scanner }: Parts): JournalStore {
  return {
    size: () => scanner.call('journalSize'),
    page: (from, limit) => scanner.call('journalPage', from, limit),
    rows: (from, limit) => scanner.call('journalRows', from, limit),
    pageOf: (wallet, seq, limit) => scanner.call('journalPageOf', wallet, seq, limit),
    used: (wallet, seq, limit) => scanner.call('journalUsed', wallet, seq, limit),
    unknownCharges: (after, limit) => scanner.call('unknownCharges', after, limit),
    keys: (after, limit) => scanner.call('journalKeys', after, limit),
  };
}

function jobsOf({ writer, reader, scanner }: Parts): JobStore {
  return {
    get: (id) => reader.call('job', id),
    claim: (claim) => writer.call('claimJobs', claim, Date.now()),
    change: (change) => writer.call('changeJob', change),
    renew: (renewal) => writer.call('renewJob', renewal, Date.now()),
    open: () => reader.call('openJobs'),
    page: (page) => scanner.call('jobPage', page),
    unmarked: (page) => scanner.call('jobsUnmarked', page),
    put: (jobs) => writer.call('putJobs', jobs),
  };
}

function paymentsOf({ writer, reader, scanner }: Parts): PaymentStore {
  return {
    create: (payment, auto) => writer.call('createPayment', payment, auto),
    get: (id) => reader.call('payment', id),
    find: (provider, ref) => reader.call('paymentByRef', provider, ref),
    hasUntold: (provider, since) => reader.call('hasUntold', provider, since),
    list: (list) => scanner.call('payments', list),
    claim: (claim) => writer.call('claimPayments', claim, Date.now()),
    renew: (renewal) => writer.call('renewPayment', renewal, Date.now()),
    change: (change) => writer.call('changePayment', change),
    saveMethod: (method) => writer.call('saveMethod', method),
    method: (id) => reader.call('savedMethod', id),
    methods: (wallet) => reader.call('savedMethods', wallet),
    removeMethod: (id, at) => writer.call('removeMethod', id, at),
    addConsent: (consent) => writer.call('addConsent', consent),
    consents: (wallet) => reader.call('consents', wallet),
    autoTopup: (wallet) => reader.call('autoTopup', wallet),
    changeAutoTopup: (auto) => writer.call('changeAutoTopup', auto),
    addNotice: (notice) => writer.call('addNotice', notice),
    judgeNotice: (id, verdict) => writer.call('judgeNotice', id, verdict),
    notice: (id) => reader.call('notice', id),
    notices: (page) => scanner.call('notices', page),
    cleanNotices: (before, keep) => writer.call('cleanNotices', before, keep),
    page: async <Sort extends keyof PaymentRows>(sort: Sort, page: Parameters<PaymentStore['page']>[1]) =>
      (await scanner.call('paymentRows', sort, page)) as PaymentRows[Sort][],
    unmarked: (sort, page) => scanner.call('paymentsUnmarked', sort, page),
    put: (sort, rows) => writer.call('putPaymentRows', sort, rows),
  };
}

function usageOf({ writer, scanner }: Parts): UsageStore {
  return {
    cursor: (wallet) => scanner.call('usageCursor', wallet),
    add: (step) => writer.call('addUsage', step),
    sums: (wallet, query) => scanner.call('usageSums', wallet, query),
    behind: (after, limit) => scanner.call('usageBehind', after, limit),
    whole: (wallet) => scanner.call('usageWhole', wallet),
    put: (wallet, usage) => writer.call('putUsage', wallet, usage),
    forget: (wallet) => writer.call('forgetUsage', wallet),
  };
}

function archivesOf({ writer, reader, scanner }: Parts): ArchiveStore {
  return {
    list: () => reader.call('archives'),
    unmarked: (sort, page) => scanner.call('archivesUnmarked', sort, page),
    begin: (archive) => writer.call('beginArchive', archive),
    put: (archive) => writer.call('putArchive', archive),
    drop: (id) => writer.call('dropArchive', id),
    opening: (wallet) => reader.call('opening', wallet),
    openings: (page) => scanner.call('openings', page),
    open: (opening, from) => writer.call('openWallet', opening, from),
    remove: (wallet, calls) => writer.call('removeCalls', wallet, calls),
    restoreRows: (rows) => writer.call('restoreRows', rows),
    restore: (opening) => writer.call('restoreOpening', opening),
  };
}

function alertsOf({ writer, reader, scanner }: Parts): AlertStore {
  return {
    get: (account) => reader.call('alerts', account),
    change: (settings) => writer.call('changeAlerts', settings),
    page: (page) => scanner.call('alertPage', page),
    alarms: (account) => reader.call('alarms', account),
    move: (alarm) => writer.call('moveAlarm', alarm),
    put: (settings, alarms) => writer.call('putAlerts', settings, alarms),
  };
}

function idempotencyOf({ writer, reader, scanner }: Parts): IdempotencyStore {
  return {
    get: (id) => reader.call('repeat', id),
    keep: (of, reply) => writer.call('keepReply', of, reply),
    clean: (now, limit) => writer.call('cleanRepeats', now, limit),
    page: (page) => scanner.call('repeatPage', page),
    put: (repeats) => writer.call('putRepeats', repeats),
  };
}

function peopleOf({ writer, reader, scanner }: Parts): Pick<Store, 'users' | 'sessions' | 'auditLog'> {
  return {
    users: {
      add: (user) => writer.call('addUser', user),
      addFirstOperator: (user) => writer.call('addFirstOperator', user),
      get: (id) => reader.call('user', id),
      find: (email) => reader.call('userByEmail', email),
      change: (user) => writer.call('changeUser', user),
      suspend: (user) => writer.call('suspendUser', user),
      remove: (user, at) => writer.call('removeUser', user, at),
      former: (id) => reader.call('formerUser', id),
      formerPage: (page) => scanner.call('formerUserPage', page),
      putFormer: (users) => writer.call('putFormerUsers', users),
      page: (page) => scanner.call('userPage', page),
      operators: () => reader.call('operators'),
      join: (membership) => writer.call('joinAccount', membership),
      leave: (membership) => writer.call('leaveAccount', membership),
      membershipsOf: (user) => reader.call('membershipsOf', user),
      membersOf: (account) => reader.call('membersOf', account),
      memberships: (page) => scanner.call('memberships', page),
    },
    sessions: {
      add: (session) => writer.call('addSession', session),
      get: (hash) => reader.call('session', hash),
      list: (user) => reader.call('sessions', user),
      touch: (hash, change) => writer.call('touchSession', hash, change),
      remove: (hash) => writer.call('removeSession', hash),
      removeOf: (user, except) => writer.call('removeSessionsOf', user, except),
      addLink: (link) => writer.call('addLink', link),
      link: (hash) => reader.call('link', hash),
      takeLink: (hash) => writer.call('takeLink', hash),
      removeLinks: (of) => writer.call('removeLinks', of),
      count: (name, rule) => writer.call('countAttempt', name, rule),
      uncount: (name) => writer.call('uncountAttempt', name),
      attempts: (name) => reader.call('attempts', name),
      forget: (name) => writer.call('forgetAttempts', name),
      putDevice: (device) => writer.call('putDevice', device),
      device: (hash) => reader.call('device', hash),
      clean: async ({ now, since }) => {
        await writer.call('cleanSessions', now);
        await writer.call('cleanLinks', now);
        await writer.call('cleanDevices', now);
        await writer.call('cleanAttempts', since);
      },
    },
    auditLog: {
      append: (row) => writer.call('appendAudit', row),
      put: (rows) => writer.call('putAudit', rows),
      page: (page) => scanner.call('auditPage', page),
    },
  };
}

function ledgerOf({ writer, reader, scanner }: Parts): LedgerStore {
  return {
    lane: 'store',
    batchMax: BATCH_MAX,
    apply: createApply(writer),
    wallet: (id) => reader.call('wallet', id),
    charge: (id) => reader.call('charge', id),
    // A filter that matches little reads the wallet's whole journal.
    charges: (wallet, page) => scanner.call('charges', wallet, page),
    entry: (opId) => reader.call('entry', opId),
    entries: (wallet, { before, limit }) => reader.call('entries', wallet, before, limit),
    entriesOfCharge: (chargeId) => reader.call('entriesOfCharge', chargeId),
    chargedAt: (wallet, at) => reader.call('chargedAt', wallet, at),
    budgets: (keys) => reader.call('budgets', keys),
    orphans: (page) => reader.call('orphans', page),
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
      // What an earlier attempt may have applied stays `tried`: the failure of this one says nothing about it.
      if (error instanceof StoreError && error.applied === 'no') for (const item of untried) item.tried = false;
      throw error;
    }
  };
}
