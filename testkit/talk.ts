// Requests and replies between a process and its forked child: each message sent is answered by the next one.
import type { ChildProcess } from 'node:child_process';

/** The next message; rejects if the process ends without one. */
export function said<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a process ended with ${code} before it answered`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}

export function asked<T>(child: ChildProcess, message: object | string): Promise<T> {
  const answer = said<T>(child);
  child.send(message);
  return answer;
}
