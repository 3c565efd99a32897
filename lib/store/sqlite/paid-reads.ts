// What was paid into a wallet, and what grants paid of its calls: the reads behind acts, in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { parseGrantParts, sumParts } from '../../money/grants.ts';
import type { Micro } from '../../money/money.ts';
import { prepareBig } from './connection.ts';
import { MOVES_MONEY } from './schema.ts';

export function createPaidReads(db: DatabaseSync) {
  const paid = prepareBig(
    db,
    `SELECT coalesce(sum(topped + adjusted), 0) AS amount FROM entries WHERE wallet = ? AND ${MOVES_MONEY} AND at < ?`,
  );
  const given = db.prepare(`SELECT 1 FROM entries WHERE wallet = ? AND ${MOVES_MONEY} AND kind = 'grant' LIMIT 1`);
  const shares = db.prepare(
    `SELECT entries.charged > 0 AS isCharge, charges.grants AS grants FROM entries JOIN charges ON charges.id = entries.charge
    WHERE entries.wallet = ? AND entries.charged <> 0 AND entries.at >= ? AND entries.at < ? AND charges.grants IS NOT NULL`,
  );
  return {
    paidBefore: (wallet: string, at: number): Micro => (paid.get(wallet, at)?.amount as bigint | undefined) ?? 0n,
    hadGrants: (wallet: string): boolean => given.get(wallet) !== undefined,
    grantsCharged(wallet: string, { from, to }: { from: number; to: number }): Micro {
      let sum = 0n;
      for (const { isCharge, grants } of shares.iterate(wallet, from, to)) {
        const share = sumParts(parseGrantParts(grants as string));
        sum += isCharge === 1 ? share : -share;
      }
      return sum;
    },
  };
}
