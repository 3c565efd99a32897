// The SQLite store: one thread writes, one reads, and a third does long reads, so that other calls do not wait for them.
// The command line runs everything in its own thread.
import { resolve } from 'node:path';
import { getDefaultMediaFolder } from '../backup-file.ts';
import { withGracefulClose } from '../graceful-close.ts';
import { withoutWrites } from '../read-only.ts';
import type { Store, StoreOptions } from '../store.ts';
import { reportBackupProgress } from './backup.ts';
import type { ConnectionOptions } from './connection.ts';
import { openMediaFiles } from './media-files.ts';
import { mediaStore } from './media-store.ts';
import { createRemotePorts, type Threads } from './remote-store.ts';
import { createThread } from './thread.ts';
import type { ThreadPorts } from './thread-ports.ts';

export interface SqliteOptions extends StoreOptions {
  /** The file is an unfinished backup, which only the process that makes it may open. */
  readonly temporary?: boolean;
  /** How long a write waits for other processes before it fails. */
  readonly busyMs?: number;
}

const BUSY_MS = 4000;
/** Larger batches save at most a fifth and delay later operations. */
const BATCH_MAX = 256;

/** Opens the file, creating it if necessary. Rejects with `OperatorError` if it cannot be used. */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<Store> {
  const { busyMs = BUSY_MS, existing = false, readOnly = false, inProcess = false } = options;
  const { temporary = false, repeatable = false } = options;
  const file = resolve(path);
  const mediaFolder = resolve(options.mediaFolder ?? getDefaultMediaFolder(file));
  const connection: ConnectionOptions = { path: file, mediaFolder, busyMs, existing, readOnly, temporary, repeatable };
  const threads = inProcess ? await openInProcess(connection) : openThreads(connection);
  const { writer, reader, scanner } = threads;
  // A read-only store does not start its writer.
  await (readOnly ? reader : writer).start();
  // A call to the reader will reject with the same error.
  reader.start().catch(() => undefined);
  const store = createStore(createRemotePorts(threads), mediaFolder);
  return withGracefulClose(readOnly ? withoutWrites(store) : store, async () => {
    await Promise.all([reader.close(), scanner.close()]);
    // The last connection to close merges the log into the file.
    await writer.close();
  });
}

function openThreads(connection: ConnectionOptions): Threads {
  return {
    writer: createThread({ role: 'writer', connection }),
    reader: createThread({ role: 'reader', connection }),
    scanner: createThread({ role: 'scanner', connection }),
  };
}

async function openInProcess(connection: ConnectionOptions): Promise<Threads> {
  // Imported lazily: with threads, only these need the module.
  const { createInProcessThread: createHere } = await import('./in-process-thread.ts');
  const reader = createHere({ role: 'reader', connection });
  return { writer: createHere({ role: 'writer', connection }), reader, scanner: reader };
}

function createStore({ ledger, media, file, ...ports }: ThreadPorts, mediaFolder: string): Omit<Store, 'close'> {
  return {
    ...ports,
    ledger: { ...ledger, lane: 'store', batchMax: BATCH_MAX },
    media: mediaStore(media, openMediaFiles(mediaFolder)),
    ping: file.ping,
    gateways: file.gateways,
    backup: (target, onProgress) =>
      reportBackupProgress(
        (pages) => file.backup(resolve(target), pages),
        onProgress && ((pages) => onProgress({ ...pages, unit: 'pages' })),
      ),
  };
}
