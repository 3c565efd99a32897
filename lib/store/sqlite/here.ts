// A database as a thread has it, in the calling thread: for a process that has nothing else to do meanwhile.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OperatorError } from '../../operator-error.ts';
import { StoreError } from '../store.ts';
import type { ConnectionOptions } from './connection.ts';
import { openReader, openWriter, type Reads, type Writes } from './procedures.ts';
import type { Procedures } from './protocol.ts';
import type { Thread } from './thread.ts';

interface Opened<P extends Procedures> {
  readonly db: { close(): void };
  readonly procedures: P;
}

export function writeHere(connection: ConnectionOptions): Thread<Writes> {
  return createHere(() => openWriter(connection));
}

export function readHere(connection: ConnectionOptions): Thread<Reads> {
  return createHere(() => openReader(connection));
}

function createHere<P extends Procedures>(open: () => Opened<P>): Thread<P> {
  const unfinished = new Set<Promise<unknown>>();
  let opened: Opened<P> | undefined;
  let closing: Promise<void> | undefined;

  async function call(name: string, args: readonly unknown[]): Promise<unknown> {
    // Calls stay asynchronous: whoever makes thousands lets timers and signals through.
    await nextTurn();
    opened ??= open();
    const { procedures } = opened;
    try {
      return await procedures[name]?.(...(args as never[]));
    } catch (error) {
      if (error instanceof StoreError || error instanceof OperatorError) throw error;
      throw new StoreError(error instanceof Error ? error.message : String(error), 'no', error);
    }
  }

  async function end(): Promise<void> {
    await Promise.allSettled(unfinished);
    opened?.db.close();
  }

  return {
    start: () => undefined,
    call: (name, ...args) => {
      if (closing) return Promise.reject(new StoreError('the store is closed', 'no'));
      const result = call(name, args) as Promise<never>;
      unfinished.add(result);
      const forget = () => void unfinished.delete(result);
      result.then(forget, forget);
      return result;
    },
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}
