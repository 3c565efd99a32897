// Migrates a database to the schema of this version. Every step is idempotent, so that processes may start concurrently.
import { isDeepStrictEqual } from 'node:util';
import { type Db, type Document, MongoServerError, ReadConcern } from 'mongodb';
import { OperatorError } from '../../base/operator-error.ts';
import type { ChargeKind } from '../../money/decide.ts';
import { StoreError } from '../store.ts';
import { CALL_ATTEMPTS_COLLECTION } from './attempt-schema.ts';
import { call, delay, MAJORITY, send, withDeadline } from './call.ts';
import { CATALOG_VERSIONS } from './catalog-version-schema.ts';
import type { Connection } from './connection.ts';
import { QUERY_PLAN_KILLED } from './failure.ts';
import type { CollectionSchema } from './fields.ts';
import { MANAGEMENT_KEYS, MANAGEMENT_REPLIES } from './management-schema.ts';
import { PAPERS } from './paper-schema.ts';
import { PROMO_COLLECTIONS } from './promo-schema.ts';
import { RATES } from './rate-schema.ts';
import { REFUSALS } from './refusal-schema.ts';
import {
  addAllowance,
  addCreator,
  addEndUserLimit,
  addGrantFields,
  addOffer,
  addOpened,
  addPriceList,
  addRequestLimits,
  addRoles,
  addTelegram,
  addTermsMark,
  BY_ALLOWANCE,
  BY_PRICE_LIST,
  CHARGE_WITH_CAPS,
  CHARGE_WITH_EXCESS,
  COLLECTIONS,
  DEVICES,
  FORMER_USERS,
  MOVES_MONEY,
  USAGE_HOURS_WITH_CACHES,
  WALLETS_WITH_PLAY_MONEY,
} from './schema.ts';
import { addStatusesAndMarks, readValidator } from './status-schema.ts';
import {
  addUsageOfAudio,
  allowServiceWeeks,
  coverServiceSums,
  fillServiceWeeks,
  fillUsageDays,
  fillUsageWeeks,
  migrateUsage,
  ROUTE_HOURS,
  SERVICE_SUMS,
  USAGE_DAYS,
  USAGE_WEEKS,
} from './usage-schema.ts';

/** A long step does a part of its work, and resolves to true if there is more. */
type Migration = (db: Db, signal: AbortSignal) => Promise<unknown>;

/** Version n of the schema consists of the first n steps; a released step never changes. */
export const MIGRATIONS: readonly Migration[] = [
  async (db, signal) => {
    for (const schema of COLLECTIONS) await makeCollection(db, schema, signal);
  },
  (db, signal) => makeCollection(db, DEVICES, signal),
  (db, signal) => makeCollection(db, FORMER_USERS, signal),
  async (db, signal) => {
    const byVerdict = { key: { verdict: 1, _id: -1 }, name: 'by_verdict' };
    await send(db, { createIndexes: 'notices', indexes: [byVerdict], ...MAJORITY }, { signal });
    const untold = { key: { provider: 1, phase: 1, createdAt: -1 }, name: 'by_phase' };
    await send(db, { createIndexes: 'payments', indexes: [untold], ...MAJORITY }, { signal });
  },
  markPlayMoney,
  // The index covers only running calls that may cost more than their holds.
  async (db, signal) => {
    const partialFilterExpression = { state: 'held', excess: { $gt: 0 } };
    const index = { key: { wallet: 1 }, name: 'exposed', partialFilterExpression };
    await send(db, { collMod: 'charges', validator: CHARGE_WITH_EXCESS, ...MAJORITY }, { signal });
    await send(db, { createIndexes: 'charges', indexes: [index], ...MAJORITY }, { signal });
  },
  addStatusesAndMarks,
  (db, signal) => addChargeKind(db, 'embedding', signal),
  async (db, signal) => {
    const { name: collMod, validator } = USAGE_HOURS_WITH_CACHES;
    await send(db, { collMod, validator, ...MAJORITY }, { signal });
  },
  (db, signal) => makeCollection(db, CALL_ATTEMPTS_COLLECTION, signal),
  (db, signal) => makeCollection(db, RATES, signal),
  addCaps,
  addEndUsers,
  async (db, signal) => {
    for (const name of ['accounts', 'keys'] as const) {
      const validator = addRequestLimits(name, await readValidator(db, name, signal));
      await send(db, { collMod: name, validator, ...MAJORITY }, { signal });
    }
  },
  async (db, signal) => {
    const validator = addPriceList(await readValidator(db, 'accounts', signal));
    await send(db, { collMod: 'accounts', validator, ...MAJORITY }, { signal });
    await send(db, { createIndexes: 'accounts', indexes: [BY_PRICE_LIST], ...MAJORITY }, { signal });
  },
  async (db, signal) => {
    const validator = addOpened(await readValidator(db, 'wallets', signal));
    await send(db, { collMod: 'wallets', validator, ...MAJORITY }, { signal });
  },
  async (db, signal) => {
    for (const schema of [MANAGEMENT_KEYS, MANAGEMENT_REPLIES]) await makeCollection(db, schema, signal);
  },
  (db, signal) => addChargeKind(db, 'service', signal),
  addMembers,
  addGrants,
  async (db, signal) => {
    for (const schema of [ROUTE_HOURS, SERVICE_SUMS]) await makeCollection(db, schema, signal);
    await migrateUsage(db, signal);
  },
  async (db, signal) => {
    for (const schema of PROMO_COLLECTIONS) await makeCollection(db, schema, signal);
  },
  (db, signal) => makeCollection(db, CATALOG_VERSIONS, signal),
  async (db, signal) => {
    const money = { key: { wallet: 1, at: 1, seq: 1 }, name: 'of_money', partialFilterExpression: MOVES_MONEY };
    await send(db, { createIndexes: 'entries', indexes: [money], ...MAJORITY }, { signal });
  },
  async (db, signal) => {
    const validator = addAllowance(await readValidator(db, 'accounts', signal));
    await send(db, { collMod: 'accounts', validator, ...MAJORITY }, { signal });
    await send(db, { createIndexes: 'accounts', indexes: [BY_ALLOWANCE], ...MAJORITY }, { signal });
  },
  async (db, signal) => {
    const validator = addTelegram(await readValidator(db, 'users', signal));
    await send(db, { collMod: 'users', validator, ...MAJORITY }, { signal });
  },
  (db, signal) => makeCollection(db, PAPERS, signal),
  async (db, signal) => {
    for (const name of ['accounts', 'memberships'] as const) {
      const validator = addTermsMark(await readValidator(db, name, signal));
      await send(db, { collMod: name, validator, ...MAJORITY }, { signal });
    }
  },
  (db, signal) => makeCollection(db, USAGE_DAYS, signal),
  fillUsageDays,
  allowServiceWeeks,
  fillServiceWeeks,
  coverServiceSums,
  (db, signal) => makeCollection(db, USAGE_WEEKS, signal),
  fillUsageWeeks,
  addUsageOfAudio,
  (db, signal) => makeCollection(db, REFUSALS, signal),
];

export const SCHEMA_VERSION = MIGRATIONS.length;

const STEP_MS = 30_000;
const SCHEMA = 'schema';
const NAMESPACE_EXISTS = 48;
const UNAUTHORIZED = 13;
/** Another process builds or drops an index of the collection, or changes it. */
const BUSY: ReadonlySet<unknown> = new Set([12_587, 117, 112, QUERY_PLAN_KILLED]);
const RETRY_MS = 50;
/** How long the version of a store that another process is making may take to show. */
const CLAIM_MS = 10_000;

interface Version {
  readonly _id: string;
  readonly version: number;
}

/** Takes the client without a socket timeout: a part of a step may take longer than a call. */
export async function migrate({ db: { databaseName }, scanner }: Pick<Connection, 'db' | 'scanner'>): Promise<void> {
  const db = scanner.db(databaseName, { readConcern: new ReadConcern('majority') });
  try {
    let version = await claimDatabase(db);
    while (version < SCHEMA_VERSION) {
      const step = MIGRATIONS[version] as Migration;
      await runStep(db, step);
      version += 1;
      await writeVersion(db, version);
    }
  } catch (error) {
    throw isUnauthorized(error) ? permissionError('set up', db) : error;
  }
}

/** Each part of a long step has the time of a step. */
async function runStep(db: Db, step: Migration): Promise<void> {
  while ((await withDeadline(STEP_MS, (signal) => runWhenFree(() => step(db, signal), signal))) === true);
}

/**
 * Retries while another process runs the same step: the server does not change a collection while it builds an index,
 * and ends what reads by an index that is dropped.
 */
async function runWhenFree<T>(step: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof MongoServerError && BUSY.has(error.code)) || signal.aborted) throw error;
      await delay(RETRY_MS);
    }
  }
}

function isUnauthorized(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : error;
  return cause instanceof MongoServerError && cause.code === UNAUTHORIZED;
}

function permissionError(what: string, { databaseName }: Db): OperatorError {
  const need = what === 'set up' ? ': it needs the roles readWrite and dbAdmin on it' : '';
  return new OperatorError(`The user of the database URL may not ${what} the database ${databaseName}${need}.`);
}

/** Refuses a database without a Tollgate store; resolves to its schema version. Writes nothing. */
export async function requireStore(db: Db): Promise<number> {
  const version = await readVersion(db).catch((error) => {
    throw isUnauthorized(error) ? permissionError('read', db) : error;
  });
  // 0: a process was killed before it had created the collections.
  if (version !== undefined && version > 0) return version;
  throw new OperatorError(
    `There is no Tollgate store in the database ${db.databaseName}: the server, "tollgate account create" and "tollgate import" make one.`,
  );
}

/** For read-only use, which does not migrate: older rows may lack values, such as whether a wallet holds play money. */
export async function requireMigrated(db: Db): Promise<void> {
  const version = await requireStore(db);
  if (version === SCHEMA_VERSION) return;
  throw new OperatorError(
    `The database ${db.databaseName} has schema version ${version}: start this Tollgate on it once.`,
  );
}

/** Resolves to the schema version; claims an empty database first. */
async function claimDatabase(db: Db): Promise<number> {
  for (const end = performance.now() + CLAIM_MS; ; await delay(RETRY_MS)) {
    const found = await readVersion(db);
    if (found !== undefined) return found;
    const names = await call({ repeatable: true }, async (signal) => {
      const collections = await db.listCollections({}, { nameOnly: true, signal }).toArray();
      return collections.map(({ name }) => name);
    });
    // Only the collection that holds the version: whoever made it has not written the version yet, or was killed before.
    if (names.every((name) => name === SCHEMA)) {
      await writeVersion(db, 0);
      return 0;
    }
    // Another process may be making the store: it writes the version first, and shows it once a majority has it.
    if (!names.includes(SCHEMA) || performance.now() > end) throw foreignError(db);
  }
}

function foreignError({ databaseName }: Db): OperatorError {
  return new OperatorError(`The database ${databaseName} has collections of another program. Choose an empty one.`);
}

async function readVersion(db: Db): Promise<number | undefined> {
  const row = await call({ repeatable: true }, (signal) =>
    db.collection<Version>(SCHEMA).findOne({ _id: 'version' }, { signal }),
  );
  if (row && row.version > SCHEMA_VERSION) {
    throw new OperatorError(
      `The database ${db.databaseName} has schema version ${row.version}, this version of Tollgate knows ` +
        `${SCHEMA_VERSION}: start a newer Tollgate on it.`,
    );
  }
  return row?.version;
}

async function writeVersion(db: Db, version: number): Promise<void> {
  const update = { q: { _id: 'version' }, u: { $max: { version } }, upsert: true };
  await call({ repeatable: true }, (signal) =>
    send(db, { update: SCHEMA, updates: [update], ...MAJORITY }, { signal }),
  );
}

/** Marks the wallets that hold money of test payments, or the gift of the demo account. */
async function markPlayMoney(db: Db, signal: AbortSignal): Promise<void> {
  const { name: collMod, validator } = WALLETS_WITH_PLAY_MONEY;
  await send(db, { collMod, validator, ...MAJORITY }, { signal });
  const said = { $regex: '"test":true' };
  const tests = { credited: { $gt: 0 }, $or: [{ test: true }, { state: said }] };
  const found = db.collection('payments').aggregate([{ $match: tests }, { $group: { _id: '$wallet' } }], { signal });
  const paid = (await found.toArray()).map(({ _id }) => _id);
  const demo = await db
    .collection<{ _id: string; value: string }>('settings')
    .findOne({ _id: 'demo-account' }, { signal });
  const ids = [...paid, ...(demo ? [demo.value] : [])];
  const updates = [{ q: { _id: { $in: ids } }, u: { $set: { playMoney: true } }, multi: true }];
  await send(db, { update: 'wallets', updates, ...MAJORITY }, { signal });
}

async function addChargeKind(db: Db, kind: ChargeKind, signal: AbortSignal): Promise<void> {
  const {
    $and: [charge, ...rules],
  } = await readValidator(db, 'charges', signal);
  const kinds = new Set([...charge.kind.$in, kind]);
  const validator = { $and: [{ ...charge, kind: { $in: [...kinds] } }, ...rules] };
  await send(db, { collMod: 'charges', validator, ...MAJORITY }, { signal });
}

async function addCaps(db: Db, signal: AbortSignal): Promise<void> {
  const { $and: rules } = await readValidator(db, 'charges', signal);
  const others = rules.filter((rule: Document) => !isDeepStrictEqual(rule, CHARGE_WITH_CAPS));
  await send(db, { collMod: 'charges', validator: { $and: [...others, CHARGE_WITH_CAPS] }, ...MAJORITY }, { signal });
}

async function addEndUsers(db: Db, signal: AbortSignal): Promise<void> {
  const validator = addEndUserLimit(await readValidator(db, 'keys', signal));
  await send(db, { collMod: 'keys', validator, ...MAJORITY }, { signal });
}

async function addMembers(db: Db, signal: AbortSignal): Promise<void> {
  for (const [name, change] of [
    ['memberships', addRoles],
    ['links', addOffer],
    ['keys', addCreator],
  ] as const) {
    const validator = change(await readValidator(db, name, signal));
    await send(db, { collMod: name, validator, ...MAJORITY }, { signal });
  }
  const partialFilterExpression = { account: { $type: 'string' } };
  const index = { key: { account: 1 }, name: 'of_account', partialFilterExpression };
  await send(db, { createIndexes: 'links', indexes: [index], ...MAJORITY }, { signal });
}

async function addGrants(db: Db, signal: AbortSignal): Promise<void> {
  for (const name of ['wallets', 'entries', 'openings', 'checkpoints'] as const) {
    const validator = addGrantFields(name, await readValidator(db, name, signal));
    await send(db, { collMod: name, validator, ...MAJORITY }, { signal });
  }
  const index = { key: { grantsDue: 1 }, name: 'by_grants_due', partialFilterExpression: { grantsDue: { $gt: 0 } } };
  await send(db, { createIndexes: 'wallets', indexes: [index], ...MAJORITY }, { signal });
}

async function makeCollection(db: Db, schema: CollectionSchema, signal: AbortSignal): Promise<void> {
  const { name, validator, indexes = [] } = schema;
  try {
    await send(db, { create: name, validator, ...MAJORITY }, { signal });
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error;
  }
  if (indexes.length > 0) await send(db, { createIndexes: name, indexes, ...MAJORITY }, { signal });
}
