// A database in the calling thread, for a process that has nothing else to do.
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { type DatabaseCalls, openDatabaseCalls, type ThreadOptions } from './database-calls.ts';
import { toError, toFailure } from './failure.ts';
import type { Thread } from './thread.ts';

export function createInProcessThread(options: ThreadOptions): Thread {
  let opened: DatabaseCalls | undefined;
  const open = () => {
    opened ??= openDatabaseCalls(options);
    return opened;
  };
  return {
    async start() {
      open();
    },
    async call(port, name, args) {
      // Calls stay asynchronous, so that a loop of thousands does not block timers and signals.
      await waitOneTick();
      try {
        return await open().run(port, name, args);
      } catch (error) {
        throw toError(toFailure(error));
      }
    },
    async close() {
      opened?.db.close();
      opened = undefined;
    },
  };
}
