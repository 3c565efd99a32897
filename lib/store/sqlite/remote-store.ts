// The ports of a SQLite store in the calling thread: each call is sent by name to the thread that answers it.
import type { Thread } from './thread.ts';
import { type ListedPorts, SCANS, THREAD_READS, THREAD_WRITES, type ThreadPorts } from './thread-ports.ts';

/** Each thread opens its connection when it is started, or at its first call. */
export interface Threads {
  readonly writer: Thread;
  readonly reader: Thread;
  readonly scanner: Thread;
}

type Calls = Readonly<Record<string, readonly string[]>>;

export function createRemotePorts({ writer, reader, scanner }: Threads): ThreadPorts {
  const scans: Calls = SCANS;
  const writes: Calls = THREAD_WRITES;
  const ports = Object.entries<readonly string[]>(THREAD_READS).map(([port, reads]) => {
    const callOn = (thread: Thread, name: string) => [name, (...args: unknown[]) => thread.call(port, name, args)];
    const read = (name: string) => callOn(scans[port]?.includes(name) ? scanner : reader, name);
    const write = (name: string) => callOn(writer, name);
    return [port, Object.fromEntries([...reads.map(read), ...(writes[port] ?? []).map(write)])];
  });
  const listed: ListedPorts = Object.fromEntries(ports);
  return listed;
}
