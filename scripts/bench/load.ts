// The benchmark's clients, in their own process: a number of concurrent calls, each read to its end.
import { Agent, request } from 'undici';

export interface LoadJob {
  readonly url: string;
  readonly path: string;
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly model: string;
  readonly stream: boolean;
  readonly calls: number;
  readonly atOnce: number;
  /** Instead of a number of calls: repeats for this long. */
  readonly seconds?: number;
  /** Leave after this many bytes of the answer. */
  readonly leaveAfterBytes?: number;
  /** Open all of them and keep them open until the next message. */
  readonly hold?: boolean;
}

export interface LoadResult {
  readonly ms: number;
  readonly total: number;
  readonly failed: number;
  /** What the first of those said; absent if none failed. */
  readonly failure?: string;
  /** Of single calls, in ms. */
  readonly p50: number;
  readonly p99: number;
  /** Until the first byte of the body. */
  readonly firstP50: number;
  /** Of all answers. */
  readonly bytes: number;
}

const FAILURE_CHARS = 500;

const dispatcher = new Agent({ connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
let release: (() => void) | undefined;

async function run(job: LoadJob): Promise<LoadResult> {
  const totals: number[] = [];
  const firsts: number[] = [];
  let failed = 0;
  let failure: string | undefined;
  let bytes = 0;
  let next = 0;
  const startedAt = performance.now();
  const until = startedAt + (job.seconds ?? 0) * 1000;
  const worker = async () => {
    while (next < job.calls || performance.now() < until) {
      next += 1;
      const at = performance.now();
      const read = await call(job, until).catch((error: unknown) => {
        failure ??= String(error).slice(0, FAILURE_CHARS);
      });
      if (read === undefined) failed += 1;
      else {
        firsts.push(read.firstAt - at);
        bytes += read.bytes;
      }
      totals.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: job.atOnce }, worker));
  const rank = (list: number[], share: number) =>
    list.sort((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? 0;
  const ms = performance.now() - startedAt;
  const total = totals.length;
  return {
    ms,
    total,
    failed,
    failure,
    p50: rank(totals, 0.5),
    p99: rank(totals, 0.99),
    firstP50: rank(firsts, 0.5),
    bytes,
  };
}

interface Read {
  readonly firstAt: number;
  readonly bytes: number;
}

/** Rejects if the call fails; a job with a deadline leaves at that time. */
async function call(job: LoadJob, until: number): Promise<Read> {
  const { leaveAfterBytes, seconds } = job;
  const { statusCode, body } = await ask(job, 'Say something, please.');
  if (statusCode !== 200) throw new Error(`status ${statusCode}: ${await body.text()}`);
  let firstAt = 0;
  let bytes = 0;
  for await (const chunk of body) {
    if (firstAt === 0) firstAt = performance.now();
    bytes += chunk.length;
    if (leaveAfterBytes !== undefined && bytes >= leaveAfterBytes) break;
    if (seconds !== undefined && performance.now() > until) break;
  }
  return { firstAt, bytes };
}

function ask({ url, path, key, headers, model, stream }: LoadJob, content: string): ReturnType<typeof request> {
  const payload = { model, stream, max_tokens: 600, messages: [{ role: 'user', content }] };
  const keys = { 'x-api-key': key, authorization: `Bearer ${key}` };
  return request(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== '' && keys), ...headers },
    body: JSON.stringify(payload),
    dispatcher,
  });
}

/** Opens streams and keeps them open until told to stop. */
async function hold(job: LoadJob): Promise<void> {
  const bodies = [];
  for (let at = 0; at < job.calls; at += 1) {
    const { body } = await ask(job, 'Hold on.');
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
