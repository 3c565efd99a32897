// The server's clock as seen from here, so that processes on several machines judge windows by one clock.
import type { MongoClient } from 'mongodb';
import { read } from './call.ts';

export interface ServerClock {
  /** What to add to this process's time to get the server's, in ms. */
  offsetMs(): number;
}

/** The server's time, as an expression. */
export const NOW = { $toLong: '$$NOW' };

/** The server's current time. */
export async function readNow(client: MongoClient): Promise<number> {
  const { localTime } = await read((signal) => client.db('admin').command({ hello: 1 }, { signal }));
  return (localTime as Date).getTime();
}

/** Smaller differences are ignored: they cannot be told from network latency. */
const AGREE_MS = 250;
const SAMPLES = 10;

export function watchClock(client: MongoClient): ServerClock {
  /** By the monotonic clock, so that setting this machine's clock changes nothing. */
  const samples: number[] = [];
  client.on('serverHeartbeatSucceeded', ({ reply }) => {
    if (!reply.isWritablePrimary || !(reply.localTime instanceof Date)) return;
    samples.push(reply.localTime.getTime() - performance.now());
    if (samples.length > SAMPLES) samples.shift();
  });
  return {
    offsetMs() {
      if (samples.length === 0) return 0;
      // A message can only be late, which makes the difference smaller, so the largest is nearest to the truth.
      const offset = Math.round(Math.max(...samples) + performance.now() - Date.now());
      return Math.abs(offset) < AGREE_MS ? 0 : offset;
    },
  };
}
