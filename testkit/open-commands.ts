// Notices calls of the MongoDB store that end before the server has answered their commands, and commands of one
// transaction that are sent at once: nobody would hear of their failure, and the commit may overtake them.
import { AsyncLocalStorage } from 'node:async_hooks';
import { ClientSession, Db, type Document } from 'mongodb';
import { mapCalls } from '../lib/store/port-calls.ts';
import type { Store } from '../lib/store/store.ts';

/** The commands that are under way. */
type Open = Set<Document>;

const ofCall = new AsyncLocalStorage<Open>();
const ofSession = new WeakMap<object, Open>();

/** Each call of the store rejects if it leaves a command behind. */
export function watchCommands(store: Store): Store {
  return mapCalls(store, (call, { port, name }) => (...args) => {
    const open: Open = new Set();
    return ofCall.run(open, async () => {
      const result = await call(...args);
      refuseOpen(open, `${port}.${name} has ended`);
      return result;
    });
  });
}

function refuseOpen(open: Open | undefined, what: string): void {
  const [command] = open ?? [];
  if (command) throw new Error(`${what} before the server has answered: ${JSON.stringify(Object.entries(command)[0])}`);
}

/** Leases of transactions are written beside them. */
function isBeside(command: Document): boolean {
  return command.update === 'sessions' || command.delete === 'sessions' || 'killSessions' in command;
}

const { command: send } = Db.prototype;
Db.prototype.command = async function (this: Db, command, options) {
  const { session, signal } = (options ?? {}) as { readonly session?: ClientSession; readonly signal?: AbortSignal };
  const opens = [ofCall.getStore(), session && findOpen(session)].filter((open) => open !== undefined);
  if (session) refuseOpen(ofSession.get(session), 'the next command of a transaction is sent');
  const forget = () => {
    for (const open of opens) open.delete(command);
  };
  if (!isBeside(command)) for (const open of opens) open.add(command);
  // What is out of time is given up.
  signal?.addEventListener('abort', forget);
  try {
    return await send.call(this, command, options);
  } finally {
    forget();
  }
};

const { commitTransaction } = ClientSession.prototype;
ClientSession.prototype.commitTransaction = async function (this: ClientSession, options) {
  refuseOpen(ofSession.get(this), 'a transaction is committed');
  return commitTransaction.call(this, options);
};

function findOpen(session: ClientSession): Open {
  const open = ofSession.get(session) ?? new Set();
  ofSession.set(session, open);
  return open;
}
