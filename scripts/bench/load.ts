// The benchmark's clients, in a process of their own: so many calls at once, each read to its end.
import { Agent, request } from 'undici';

export interface LoadJob {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly stream: boolean;
  readonly calls: number;
  readonly atOnce: number;
  /** Leave after so many bytes of the answer. */
  readonly leaveAfterBytes?: number;
  /** Open them all and keep them open until the next message. */
  readonly hold?: boolean;
}

export interface LoadResult {
  readonly ms: number;
  readonly failed: number;
  /** Of single calls, in ms. */
  readonly p50: number;
  readonly p99: number;
  /** Until the first byte of the body. */
  readonly firstP50: number;
}

const dispatcher = new Agent({ connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
let release: (() => void) | undefined;

async function run(job: LoadJob): Promise<LoadResult> {
  const totals: number[] = [];
  const firsts: number[] = [];
  let failed = 0;
  let next = 0;
  const startedAt = performance.now();
  const worker = async () => {
    while (next < job.calls) {
      next += 1;
      const at = performance.now();
      const first = await call(job).catch(() => undefined);
      if (first === undefined) failed += 1;
      else firsts.push(first - at);
      totals.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: job.atOnce }, worker));
  const rank = (list: number[], share: number) =>
    list.sort((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? 0;
  const ms = performance.now() - startedAt;
  return { ms, failed, p50: rank(totals, 0.5), p99: rank(totals, 0.99), firstP50: rank(firsts, 0.5) };
}

/** Resolves with the time of the first byte; rejects when the call fails. */
async function call({ url, key, model, stream, leaveAfterBytes }: LoadJob): Promise<number> {
  const payload = { model, stream, max_tokens: 600, messages: [{ role: 'user', content: 'Say something, please.' }] };
  const { statusCode, body } = await request(`${url}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(payload),
    dispatcher,
  });
  if (statusCode !== 200) throw new Error(`status ${statusCode}: ${await body.text()}`);
  let first = 0;
  let bytes = 0;
  for await (const chunk of body) {
    if (first === 0) first = performance.now();
    bytes += chunk.length;
    if (leaveAfterBytes !== undefined && bytes >= leaveAfterBytes) break;
  }
  return first;
}

/** Opens streams and keeps them until told to let go. */
async function hold(job: LoadJob): Promise<void> {
  const bodies = [];
  for (let at = 0; at < job.calls; at += 1) {
    const payload = { model: job.model, stream: true, messages: [{ role: 'user', content: 'Hold on.' }] };
    const { body } = await request(`${job.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': job.key },
      body: JSON.stringify(payload),
      dispatcher,
    });
    body.on('error', () => undefined);
    body.resume();
    bodies.push(body);
  }
  process.send?.({ held: bodies.length });
  await new Promise<void>((resolve) => {
    release = resolve;
  });
  for (const body of bodies) body.destroy();
  process.send?.({ held: 0 });
}

process.on('message', (job: LoadJob | 'release') => {
  if (job === 'release') release?.();
  else if (job.hold) void hold(job);
  else void run(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
