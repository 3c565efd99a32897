// Damages rows of a real store behind its back, as a bad disk or a manual edit would, and repairs them.
import { DatabaseSync } from 'node:sqlite';
import { type Collection, Long, MongoClient } from 'mongodb';

export interface WalletShift {
  readonly held?: bigint;
  readonly avail?: bigint;
  readonly charged?: bigint;
  readonly seq?: bigint;
}

/** Adds to a wallet's columns against every rule of the store; resolves to a function that undoes it. */
export async function damageWallet(url: string, wallet: string, shift: WalletShift): Promise<() => Promise<void>> {
  await shiftWallet(url, wallet, shift);
  const columns = Object.entries(shift) as [keyof WalletShift, bigint][];
  return () => shiftWallet(url, wallet, Object.fromEntries(columns.map(([column, by]) => [column, -by])));
}

/** Removes the wallet and leaves everything else. */
export function loseWallet(url: string, wallet: string): Promise<void> {
  return behind(url, {
    sqlite: (db) => void db.prepare('DELETE FROM wallets WHERE id = ?').run(wallet),
    mongodb: (wallets) => wallets.deleteOne({ _id: wallet }),
  });
}

function shiftWallet(url: string, wallet: string, shift: WalletShift): Promise<void> {
  const { held = 0n, avail = 0n, charged = 0n, seq = 0n } = shift;
  const [heldLong, availLong, chargedLong] = [held, avail, charged].map((micro) => Long.fromBigInt(micro));
  const $inc = { held: heldLong, avail: availLong, charged: chargedLong, seq: Number(seq) };
  return behind(url, {
    sqlite(db) {
      const columns = 'held = held + ?, avail = avail + ?, charged = charged + ?, seq = seq + ?';
      db.prepare(`UPDATE wallets SET ${columns} WHERE id = ?`).run(held, avail, charged, seq, wallet);
    },
    mongodb: (wallets) => wallets.updateOne({ _id: wallet }, { $inc }, { bypassDocumentValidation: true }),
  });
}

interface Hands {
  readonly sqlite: (db: DatabaseSync) => void;
  readonly mongodb: (wallets: Collection<{ _id: string }>) => Promise<unknown>;
}

async function behind(url: string, { sqlite, mongodb }: Hands): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 10_000, enableForeignKeyConstraints: false });
    db.exec('PRAGMA ignore_check_constraints = ON');
    try {
      return sqlite(db);
    } finally {
      db.close();
    }
  }
  const client = await MongoClient.connect(url);
  try {
    await mongodb(client.db().collection<{ _id: string }>('wallets'));
  } finally {
    await client.close();
  }
}
