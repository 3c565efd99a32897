// What suites of a process share is closed after the last of them. A worker of Mocha just ends, with its children.

type Close = () => Promise<unknown>;

const closers: Close[] = [];

export function closeAtEnd(close: Close): void {
  closers.push(close);
}

export async function closeShared(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}
