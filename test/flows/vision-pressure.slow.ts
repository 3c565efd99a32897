// Two hundred callers with large images at once: the process keeps to its memory, its loop runs, and streams beside
// them keep their pace.
import { type ChildProcess, fork } from 'node:child_process';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'chai';
import { ask, joinText, MESSAGES, open, parseEvents, readHead, until } from '../../testkit/client.ts';
import { chatCatalog } from '../../testkit/gateway.ts';
import { type MeasuredGateway, startMeasured } from '../../testkit/measured-gateway.ts';
import { asked, said } from '../../testkit/talk.ts';
import { chatChunk, chatEnd, SSE } from '../../testkit/upstream.ts';
import type { Crowd, CrowdJob, CrowdResult } from './vision-crowd.ts';

const MIB = 1024 * 1024;
const CALLERS = 200;
const KEYS = 20;
const STREAMS = 10;
const SECONDS = 15;
/** As the documentation says: the budget, and what the process takes beside it. */
const BUDGET_MB = 96;
const RSS_MAX = (BUDGET_MB + 512) * MIB;
const TICK_P99_MS_MAX = 50;
/** Of a refusal, in the gateway: a body waits for room for ten seconds. */
const REFUSED_P99_MS_MAX = 15_000;
const WORD_MS = 20;
/** Between two words of a stream, where nothing else wants the processors: those of the loop and of the socket. */
const GAP_P99_MS_MAX = 2 * TICK_P99_MS_MAX;

describe('vision under pressure', () => {
  let crowd: ChildProcess;
  let words: Server;
  let gateway: MeasuredGateway;

  before(async function () {
    this.timeout(30_000);
    crowd = fork(new URL('./vision-crowd.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const { origin } = await said<Crowd>(crowd);
    words = createServer(speak).listen(0, '127.0.0.1');
    await new Promise((resolve) => words.once('listening', resolve));
    const { models, upstreams } = chatCatalog(`http://127.0.0.1:${(words.address() as AddressInfo).port}`) as {
      models: readonly object[];
      upstreams: { readonly up: { readonly settings: object } };
    };
    const eye = (id: string, route: object) => ({ ...models[0], id, aliases: [], routes: [route], vision: true });
    const { up } = upstreams;
    gateway = await startMeasured({
      catalog: {
        upstreams: {
          up,
          eyes: { ...up, settings: { ...up.settings, baseUrl: `${origin}/v1` } },
          box: { plugin: 'sandbox' },
        },
        models: [
          ...models,
          eye('eye-up', { upstream: 'eyes', model: 'eye' }),
          eye('eye-box', { upstream: 'box', model: 'vision' }),
        ],
        vision: ['eye-up', 'eye-box'],
      },
      env: { IMAGE_TRUSTED_ORIGINS: origin, BODY_MEMORY_MB: `${BUDGET_MB}` },
      accounts: KEYS + 1,
    });
  });
  after(async () => {
    crowd.disconnect();
    words.closeAllConnections();
    words.close();
    await gateway.stop();
  });

  it('refuses requests without room in time, and serves everybody else as before', async function () {
    this.timeout((SECONDS + 60) * 1000);
    const { url, keys } = gateway;
    const good = keys[KEYS] as string;
    const visit = (job: Pick<CrowdJob, 'callers' | 'seconds'>) =>
      asked<CrowdResult>(crowd, { url, keys: keys.slice(0, KEYS), ...job } satisfies CrowdJob);
    // The first images load what reads them.
    await visit({ callers: 1, seconds: 1 });
    const streams = Array.from({ length: STREAMS }, () => readStream(url + MESSAGES, good));
    await gateway.loop();
    const here = monitorEventLoopDelay({ resolution: 5 });
    here.enable();
    let rss = 0;
    const watching = setInterval(() => {
      rss = Math.max(rss, gateway.rssBytes());
    }, 50);

    const { statuses, answeredBy } = await visit({ callers: CALLERS, seconds: SECONDS - 2 });
    clearInterval(watching);
    const loop = await gateway.loop();
    here.disable();
    const gaps = (await Promise.all(streams)).flat().sort((a, b) => a - b);
    const refusedMs = countRefusals(await gateway.log());
    const figures = {
      ...loop,
      hereP99: here.percentile(99) / 1e6,
      refusedP99: p99(refusedMs),
      gapP99: p99(gaps),
      gapMost: gaps.at(-1) ?? 0,
      rssMb: rss / MIB,
      refused: refusedMs.length,
    };
    console.log(`      ${JSON.stringify({ ...statuses, ...answeredBy })}`);
    console.log(
      `      ${Object.entries(figures)
        .map(([name, value]) => `${name} ${value.toFixed(1)}`)
        .join(', ')}`,
    );

    // 400: the server of the images took too long.
    expect(Object.keys(statuses).filter((status) => !['0', '200', '400', '503'].includes(status))).to.deep.equal([]);
    expect(statuses[503]).to.be.above(CALLERS / 2);
    expect(Object.keys(answeredBy)).to.have.members(['eye-up', 'eye-box']);
    expect(rss).to.be.below(RSS_MAX);
    expect(figures.refusedP99).to.be.below(REFUSED_P99_MS_MAX);
    expect(loop.tickP99).to.be.below(TICK_P99_MS_MAX);
    // Where others want the processors too, a clock tells of them.
    if ((loadavg()[0] as number) < availableParallelism() + 1) {
      expect(loop.delayP99).to.be.below(TICK_P99_MS_MAX);
      expect(figures.gapP99).to.be.below(GAP_P99_MS_MAX);
    }
    await until(async () => (await gateway.checkMoney().catch(() => 'held')) !== 'held', 10_000);
  });
});

/** A word now and then, for as long as the images come. */
function speak(_request: unknown, response: ServerResponse): void {
  response.on('error', () => undefined);
  response.writeHead(200, SSE);
  const speaking = setInterval(() => response.write(chatChunk('word ')), WORD_MS);
  setTimeout(() => {
    clearInterval(speaking);
    response.end(chatEnd({ output: 500 }));
  }, SECONDS * 1000);
  response.on('close', () => clearInterval(speaking));
}

const p99 = (sorted: readonly number[]) => sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0;

/** How long the gateway took for each refusal, by its log. */
function countRefusals(log: string): readonly number[] {
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return lines.flatMap(({ status, ms }) => (status === 503 ? [ms as number] : [])).sort((a, b) => a - b);
}

/** Reads a stream to its end; resolves with the pauses between its fragments, in ms. */
async function readStream(url: string, key: string): Promise<readonly number[]> {
  const response = await readHead(open(url, { key, body: ask('hi', { stream: true, max_tokens: 32_000 }) }));
  const gaps: number[] = [];
  let text = '';
  let last = performance.now();
  for await (const chunk of response) {
    text += chunk;
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  expect(joinText(parseEvents(text)).length).to.be.above(100);
  return gaps;
}
