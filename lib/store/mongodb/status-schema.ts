// A step of the schema of MongoDB: the journal has the changes of a wallet's status, and entries and rows of payments and
// jobs have marks, by which the audit sees values that were changed behind the ledger's back.
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

/** As it is: another step may have changed it since version 1. */
async function readValidator(db: Db, name: string, signal: AbortSignal): Promise<Document> {
  const [found] = await db.listCollections({ name }, { signal }).toArray();
  return (found && 'options' in found && found.options?.validator) || {};
}

/** The same schema with one more field, which need not be there. */
function addMarkField(validator: Document): Document {
  const rules = (validator.$and ?? [validator]) as Document[];
  return {
    $and: rules.map(({ $jsonSchema: schema, ...rule }) =>
      schema ? { $jsonSchema: { ...schema, properties: { ...schema.properties, mark: MARK } } } : rule,
    ),
  };
}

/** Wallets that were suspended without an entry get it now; the entry first, so that a repeat finds what is missing. */
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
