// The steps of a call on its way to the first byte, for calls one at a time, by what Node and undici announce.
import { subscribe } from 'node:diagnostics_channel';
import { closeSync, fdatasyncSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** What each step took, in ms. */
export type Steps = Readonly<Record<string, readonly number[]>>;

/** Each ends a step, in this order. */
const ENDS = ['arrival', 'hold asked', 'hold made', 'upstream asked', 'upstream answers', 'first piece'] as const;
const STEPS = [
  'request: parser, hapi, key, limit, body, estimate, turns for company',
  'hold: to the thread of the store and back',
  "head of the reply, upstream's request",
  'the upstream, with the way there',
  'until its first piece is read',
] as const;

const SYNCS = 200;
/** Longer than the system's clock for a file's times stands still: within it, the second write changes none. */
const SYNC_PAUSE_MS = 5;
/** Two pages of a log. */
const SYNCED_BYTES = 8192;

const calls: number[][] = [];
let isFollowing = false;

/** Follows calls until `endSteps`; both sides of the store's thread are seen from the main one. */
export function startSteps(): object {
  isFollowing = true;
  subscribe('http.server.request.start', () => calls.push([performance.now()]));
  followThreads();
  subscribe('undici:request:create', () => stamp('upstream asked'));
  subscribe('undici:request:headers', () => stamp('upstream answers'));
  subscribe('undici:request:bodyChunkReceived', () => stamp('first piece'));
  return {};
}

/** And how long a write of two pages takes until it is durable, the file's times included or not. */
export async function endSteps(folder: string): Promise<Steps> {
  isFollowing = false;
  const whole = calls.filter((call) => call.length === ENDS.length);
  const steps = STEPS.map((name, at): [string, number[]] => [
    name,
    whole.map((call) => (call[at + 1] ?? 0) - (call[at] ?? 0)),
  ]);
  const syncs = { 'a write with its fsync': fsyncSync, 'a write with its fdatasync': fdatasyncSync };
  for (const [name, sync] of Object.entries(syncs)) steps.push([name, await timeOf(folder, sync)]);
  return Object.fromEntries(steps);
}

function stamp(end: (typeof ENDS)[number]): void {
  const call = calls.at(-1);
  if (isFollowing && call?.length === ENDS.indexOf(end)) call.push(performance.now());
}

/** The gateway's threads are running already, so their messages are seen where they are sent. */
function followThreads(): void {
  const heard = new WeakSet<Worker>();
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (this: Worker, ...args: Parameters<typeof post>) {
    if (!heard.has(this)) {
      heard.add(this);
      this.prependListener('message', () => stamp('hold made'));
    }
    stamp('hold asked');
    return post.apply(this, args);
  } as typeof post;
}

async function timeOf(folder: string, sync: (file: number) => void): Promise<number[]> {
  const path = `${folder}/synced`;
  const [file, bytes] = [openSync(path, 'w'), Buffer.alloc(SYNCED_BYTES)];
  // The log of a store is written over: its length stays.
  for (let at = 0; at < SYNCS; at += 1) writeSync(file, bytes);
  fsyncSync(file);
  const times: number[] = [];
  for (let at = 0; at < SYNCS; at += 1) {
    await sleep(SYNC_PAUSE_MS);
    const from = performance.now();
    writeSync(file, bytes, 0, bytes.length, at * bytes.length);
    sync(file);
    times.push(performance.now() - from);
  }
  closeSync(file);
  rmSync(path);
  return times;
}
