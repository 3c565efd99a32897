// Reads that belong together: all of them see the database at one moment.
import type { ClientSession, Db } from 'mongodb';
import { read } from './call.ts';
import type { Connection } from './connection.ts';

export interface SnapshotReading {
  readonly db: Db;
  readonly signal: AbortSignal;
  readonly session?: ClientSession;
}

/** Passes what every read of the snapshot needs; `ms` is the deadline of them all, including retries. */
export function readSnapshot<T>(
  { db, scanner }: Pick<Connection, 'db' | 'scanner'>,
  ms: number,
  work: (reading: SnapshotReading) => Promise<T>,
): Promise<T> {
  return read(async (signal) => {
    const session = scanner.startSession({ snapshot: true });
    try {
      // A database handle with a read concern would override the snapshot.
      return await work({ db: scanner.db(db.databaseName), session, signal });
    } finally {
      await session.endSession();
    }
  }, ms);
}
