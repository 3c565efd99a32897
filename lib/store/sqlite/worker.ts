// The entry point of a worker thread: opens its database and answers one call at a time.
import { parentPort } from 'node:worker_threads';
import { type DatabaseCalls, openDatabaseCalls, type ThreadOptions } from './database-calls.ts';
import { type Failure, toFailure } from './failure.ts';

/** The first call is `thread.open` and the last `thread.close`; all others are calls of ports. */
export type Request = readonly [id: number, ...ThreadCall];
export type ThreadCall = readonly [port: string, name: string, args: readonly unknown[]];
export type Reply = readonly [id: number, value: unknown, failure?: Failure];

const port = parentPort as NonNullable<typeof parentPort>;
let opened: DatabaseCalls | undefined;

port.on('message', async ([id, ...call]: Request) => {
  try {
    port.postMessage([id, await answer(call)] satisfies Reply);
  } catch (error) {
    // If a transaction cannot be rolled back, the connection is useless.
    if (opened?.db.isTransaction) process.exit(1);
    port.postMessage([id, undefined, toFailure(error)] satisfies Reply);
  }
});

function answer([port, name, args]: ThreadCall): unknown {
  if (port === 'thread' && name === 'open') {
    opened = openDatabaseCalls(args[0] as ThreadOptions);
    return undefined;
  }
  if (!opened) throw new Error('the database is not open');
  if (port !== 'thread') return opened.run(port, name, args);
  opened.db.close();
  opened = undefined;
  return undefined;
}
