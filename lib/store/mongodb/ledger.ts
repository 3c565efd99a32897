// What the ledger reads from MongoDB: rows of a wallet, sums over time, orphans, and the numbers of the audit.
import type { Document } from 'mongodb';
import { type Operation, operationId } from '../../money/decide.ts';
import type { LedgerStore, WalletAudit } from '../store.ts';
import { read } from './call.ts';
import type { Connection } from './connection.ts';
import { chargeOf, entryOf, fromSum, walletOf } from './rows.ts';
import { CHARGING } from './schema.ts';
import { aliveAt } from './service.ts';

/** A document of a collection whose ids are texts. */
export interface Row extends Document {
  readonly _id: string;
}

type Reads = Omit<LedgerStore, 'lane' | 'batchMax' | 'apply'>;

const CHARGE_KINDS = ['reserve', 'charge', 'settle', 'release', 'expire', 'refund'] as const;
/** Of a page of the journal. */
const PAGE_MS = 2900;
/** Of what goes over many rows. */
export const SCAN_MS = 60_000;

export function ledgerReads(connection: Connection): Reads {
  const { db } = connection;
  const wallets = db.collection<Row>('wallets');
  const charges = db.collection<Row>('charges');
  const entries = db.collection<Row>('entries');
  return {
    async wallet(id) {
      const row = await read((signal) => wallets.findOne({ _id: id }, { signal }));
      return row ? walletOf(row) : undefined;
    },
    async charge(id) {
      const row = await read((signal) => charges.findOne({ _id: id }, { signal }));
      return row ? chargeOf(row) : undefined;
    },
    async entries(wallet, { before, limit }) {
      const filter = { wallet, seq: { $lt: before ?? Number.MAX_SAFE_INTEGER } };
      const found = (signal: AbortSignal) => entries.find(filter, { signal }).sort({ seq: -1 }).limit(limit).toArray();
      return (await read(found, PAGE_MS)).map(entryOf);
    },
    async entriesOfCharge(chargeId) {
      const ids = CHARGE_KINDS.map((kind) => operationId({ kind, chargeId } as Operation));
      const filter = { _id: { $in: ids } };
      return (await read((signal) => entries.find(filter, { signal }).sort({ seq: 1 }).toArray())).map(entryOf);
    },
    async chargedAt(wallet, at) {
      const filter = { wallet, at: { $lte: at }, ...CHARGING };
      const sort = { at: -1, seq: -1 } as const;
      const row = await read((signal) => entries.findOne(filter, { signal, sort }));
      return row ? row.chargedAfter : 0n;
    },
    async orphans({ now, leaseMs, after, limit }) {
      const owners = await read((signal) =>
        db
          .collection<Row>('owners')
          .find({ $expr: aliveAt(now) }, { signal, projection: { _id: 1 } })
          .toArray(),
      );
      const alive = owners.map((owner) => owner._id);
      const over = [{ lease: { $lt: now } }, { lease: { $gt: now + 2 * leaseMs } }];
      const rest = after && [{ lease: { $gt: after.lease } }, { lease: after.lease, _id: { $gt: after.id } }];
      const filter = { state: 'held', owner: { $nin: alive }, $and: [{ $or: over }, ...(rest ? [{ $or: rest }] : [])] };
      const sort = { lease: 1, _id: 1 } as const;
      const found = await read((signal) => charges.find(filter, { signal }).sort(sort).limit(limit).toArray());
      return found.map(chargeOf);
    },
    audit: (page) => audit(connection, page),
  };
}

const sum = (expression: string | Document) => ({ $sum: expression });

const JOURNAL = {
  _id: '$wallet',
  entries: sum({ $literal: 1 }),
  seqMin: { $min: '$seq' },
  seqMax: { $max: '$seq' },
  avail: sum('$avail'),
  held: sum('$held'),
  charged: sum('$charged'),
  topped: sum('$topped'),
  adjusted: sum('$adjusted'),
  overshoot: sum('$overshoot'),
  unbalanced: sum({
    $cond: [{ $eq: [{ $add: ['$avail', '$held', '$charged'] }, { $add: ['$topped', '$adjusted'] }] }, 0, 1],
  }),
};

const CHARGES = {
  _id: '$wallet',
  holds: sum({ $cond: [{ $eq: ['$state', 'held'] }, '$reserved', 0] }),
  settled: sum({ $cond: [{ $eq: ['$state', 'settled'] }, '$charged', 0] }),
};

/** One snapshot for a page: wallets and their rows are read as they were at one moment. */
function audit({ scanner, db }: Connection, page: { after: string; limit: number }): Promise<WalletAudit[]> {
  return read(async (signal) => {
    const session = scanner.startSession({ snapshot: true });
    // A read concern of its own would take the place of the snapshot.
    const snapshot = scanner.db(db.databaseName);
    const rowsOf = (collection: string, pipeline: Document[]) =>
      snapshot.collection(collection).aggregate<Row>(pipeline, { session, signal, allowDiskUse: true }).toArray();
    const byWallet = async (collection: string, group: Document, ids: readonly string[]) => {
      const rows = await rowsOf(collection, [{ $match: { wallet: { $in: ids } } }, { $group: group }]);
      return new Map(rows.map((row) => [row._id, row]));
    };
    try {
      const match = { $match: { _id: { $gt: page.after } } };
      const wallets = await rowsOf('wallets', [match, { $sort: { _id: 1 } }, { $limit: page.limit }]);
      const ids = wallets.map((wallet) => wallet._id);
      const journals = await byWallet('entries', JOURNAL, ids);
      const charges = await byWallet('charges', CHARGES, ids);
      return wallets.map((row) => auditOf(row, journals.get(row._id), charges.get(row._id)));
    } finally {
      await session.endSession();
    }
  }, SCAN_MS);
}

function auditOf(row: Document, journal: Document = {}, charges: Document = {}): WalletAudit {
  const money = (value: unknown) => fromSum(value ?? 0);
  const count = (value: unknown) => Number(value ?? 0);
  return {
    wallet: walletOf(row),
    ...{ entries: count(journal.entries), seqMin: count(journal.seqMin), seqMax: count(journal.seqMax) },
    ...{ avail: money(journal.avail), held: money(journal.held), charged: money(journal.charged) },
    ...{ topped: money(journal.topped), adjusted: money(journal.adjusted), overshoot: money(journal.overshoot) },
    unbalanced: count(journal.unbalanced),
    ...{ holds: money(charges.holds), settled: money(charges.settled) },
  };
}
