// Estimates the clock of the server, so that processes on several machines use one clock for windows.
import type { MongoClient } from 'mongodb';
import { read } from './call.ts';

export interface ServerClock {
  /** The difference between the clock of the server and that of this process, in ms. */
  offsetMs(): number;
}

/** The time of the server, as an expression. */
export const NOW = { $toLong: '$$NOW' };

/** Reads the current time of the server. */
export async function readNow(client: MongoClient): Promise<number> {
  const { localTime } = await read((signal) => client.db('admin').command({ hello: 1 }, { signal }));
  return (localTime as Date).getTime();
}

/** Smaller differences are ignored: they cannot be told from network latency. */
const AGREE_MS = 250;
const SAMPLES = 10;

export function watchClock(client: MongoClient): ServerClock {
  /** Relative to the monotonic clock, so that setting the clock of this machine changes nothing. */
  const samples: number[] = [];
  client.on('serverHeartbeatSucceeded', ({ reply }) => {
    if (!reply.isWritablePrimary || !(reply.localTime instanceof Date)) return;
    samples.push(reply.localTime.getTime() - performance.now());
    if (samples.length > SAMPLES) samples.shift();
  });
  return {
    offsetMs() {
      if (samples.length === 0) return 0;
      // Latency only makes the difference smaller, so the largest one is the most accurate.
      const offset = Math.round(Math.max(...samples) + performance.now() - Date.now());
      return Math.abs(offset) < AGREE_MS ? 0 : offset;
    },
  };
}
