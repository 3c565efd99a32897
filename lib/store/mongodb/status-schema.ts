// A migration of MongoDB: the journal records changes of the status of a wallet, and entries and rows of payments and jobs
// get marks, by which the audit notices values that were changed outside the ledger.
import type { Db, Document } from 'mongodb';
import { decideStatusChange } from '../status.ts';
import { MAJORITY, send } from './call.ts';
import { type Row, readWalletDocument, toEntryDocument } from './rows.ts';

const MARKED = ['payments', 'auto_topups', 'saved_methods', 'consents', 'jobs', 'keys', 'openings', 'archives'];
const MARK = { bsonType: ['null', 'string'] };

export async function addStatusesAndMarks(db: Db, signal: AbortSignal): Promise<void> {
  const entry = await readValidator(db, 'entries', signal);
  const kinds = new Set([...entry.kind.$in, 'suspend', 'resume']);
  const validator = { ...entry, kind: { $in: [...kinds] }, status: { $in: [null, 'active', 'suspended'] } };
  await send(db, { collMod: 'entries', validator, ...MAJORITY }, { signal });
  for (const name of MARKED) {
    const marked = addMarkField(await readValidator(db, name, signal));
    await send(db, { collMod: name, validator: marked, ...MAJORITY }, { signal });
  }
  await addBaseline(db, signal);
}

/** Reads the current validator: another step may have changed it since version 1. */
export async function readValidator(db: Db, name: string, signal: AbortSignal): Promise<Document> {
  const [found] = await db.listCollections({ name }, { signal }).toArray();
  return (found && 'options' in found && found.options?.validator) || {};
}

/** Adds an optional field to a validator. */
function addMarkField(validator: Document): Document {
  const rules = (validator.$and ?? [validator]) as Document[];
  return {
    $and: rules.map(({ $jsonSchema: schema, ...rule }) =>
      schema ? { $jsonSchema: { ...schema, properties: { ...schema.properties, mark: MARK } } } : rule,
    ),
  };
}

/** Adds the missing entry of wallets suspended by an earlier version. The entry is written first, so that a retry works. */
async function addBaseline(db: Db, signal: AbortSignal): Promise<void> {
  const wallets = db.collection<Row>('wallets');
  const entries = db.collection<Row>('entries');
  for await (const row of wallets.find({ status: 'suspended' }, { signal })) {
    const wallet = readWalletDocument(row);
    if (await entries.findOne({ wallet: wallet.id, seq: wallet.seq, status: 'suspended' }, { signal })) continue;
    const { entry } = decideStatusChange({ ...wallet, status: 'active' }, 'suspended');
    if (!entry) continue;
    const added = { q: { _id: entry.opId }, u: toEntryDocument(entry), upsert: true };
    await send(db, { update: 'entries', updates: [added], ...MAJORITY }, { signal });
    const moved = { q: { _id: wallet.id, seq: row.seq }, u: { $set: { seq: entry.seq } } };
    await send(db, { update: 'wallets', updates: [moved], ...MAJORITY }, { signal });
  }
}
