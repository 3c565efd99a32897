// The well-behaved callers of a siege, in their own process: each makes a short call, pauses, and makes the next.
import { Agent, request } from 'undici';

export interface CallersJob {
  readonly url: string;
  readonly key: string;
  readonly callers: number;
  /** Before these, to be told apart. */
  readonly startSeconds: number;
  readonly seconds: number;
}

export interface CallersResult {
  readonly calls: number;
  readonly failed: number;
  /** The reasons, each once. */
  readonly reasons: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the calls that began in the first seconds, which the other times leave out. */
  readonly startMostMs: number;
}

/** On average. */
const PAUSE_MS = 100;

const dispatcher = new Agent({ connections: null, pipelining: 1 });
const body = JSON.stringify({ model: 'call', max_tokens: 16, messages: [{ role: 'user', content: 'Say something.' }] });

async function run({ url, key, callers, startSeconds, seconds }: CallersJob): Promise<CallersResult> {
  const startedBy = performance.now() + startSeconds * 1000;
  const until = startedBy + seconds * 1000;
  const times: number[] = [];
  let startMostMs = 0;
  let failed = 0;
  const reasons = new Set<string>();
  const call = async () => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    const reply = await request(`${url}/api/v1/chat/completions`, { method: 'POST', headers, body, dispatcher });
    const text = await reply.body.text();
    if (reply.statusCode !== 200) throw new Error(`${reply.statusCode} ${text}`);
  };
  const caller = async (_: unknown, at: number) => {
    await sleep((PAUSE_MS * at) / callers);
    while (performance.now() < until) {
      const from = performance.now();
      await call().catch((error: Error) => {
        failed += 1;
        reasons.add(error.message);
      });
      const tookMs = performance.now() - from;
      if (from < startedBy) startMostMs = Math.max(startMostMs, tookMs);
      else times.push(tookMs);
      // Otherwise callers that once waited for the same stall would call at the same moments from then on.
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  times.sort((a, b) => a - b);
  const rank = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0;
  return { calls: times.length, failed, reasons: [...reasons], p50Ms: rank(0.5), p99Ms: rank(0.99), startMostMs };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

process.on('message', (job: CallersJob) => void run(job).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
