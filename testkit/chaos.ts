// Upstreams that fail in turn, each time in another way, while calls arrive at a steady rate: one is always healthy.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANSWER } from './chaos-faults.ts';
import type { FromUpstreams, ToUpstreams } from './chaos-upstreams.ts';
import { ask, CHAT, joinText, MESSAGES, parseEvents, send } from './client.ts';
import type { TestAccount, TestGateway } from './gateway.ts';

export interface ChaosUpstreams {
  readonly urls: readonly string[];
  /** Resolves once those are healthy and the others fail. */
  turn(well: readonly number[]): Promise<void>;
  /** How often each fault occurred, and how many answers were complete. */
  report(): Promise<{ readonly met: ReadonlyMap<string, number>; readonly answers: number }>;
  close(): Promise<void>;
}

export async function startUpstreams(): Promise<ChaosUpstreams> {
  const child = fork(new URL('./chaos-upstreams.ts', import.meta.url), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { urls } = (await next(child)) as { urls: readonly string[] };
  const tell = async (message: ToUpstreams): Promise<FromUpstreams> => {
    const answered = next(child);
    child.send(message);
    return answered;
  };
  return {
    urls,
    async turn(well) {
      await tell({ well });
    },
    async report() {
      const { met, answers } = (await tell('report')) as { met: readonly [string, number][]; answers: number };
      return { met: new Map(met), answers };
    },
    async close() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

async function next(child: ChildProcess): Promise<FromUpstreams> {
  const [message] = await once(child, 'message');
  return message as FromUpstreams;
}

/** A model with one route to each; the last upstream has two keys. */
export function chaosCatalog(urls: readonly string[]): object {
  const entries = urls.map((url, index) => {
    const apiKey = index === 2 ? ['up-secret-key-2', 'up-secret-key-3'] : `up-secret-key-${index}`;
    return [`up-${index}`, { plugin: 'openai-compatible', settings: { baseUrl: `${url}/v1`, apiKey } }];
  });
  const routes = entries.map(([upstream]) => ({ upstream, model: 'm' }));
  const price = { input: '1000', output: '5000' };
  return {
    upstreams: Object.fromEntries(entries),
    models: [{ id: 'model-a', type: 'text', provider: 'Test', routes, price }],
  };
}

interface ChaosOptions {
  readonly upstreams: ChaosUpstreams;
  readonly gateway: TestGateway;
  readonly accounts: readonly TestAccount[];
  readonly perSecond: number;
  readonly seconds: number;
}

export interface ChaosReport {
  readonly calls: number;
  /** The errors of calls that failed. */
  readonly failures: readonly string[];
  /** The charge of each call. */
  readonly charges: readonly string[];
}

/** After a hiccup of the machine not all due calls start at once: the listener would drop some. */
const BURST_MAX = 20;
/** A machine too slow for the rate gets fewer calls instead of a growing backlog. */
const RUNNING_MAX = 1000;

export async function runChaos({ upstreams, perSecond, seconds, ...callers }: ChaosOptions): Promise<ChaosReport> {
  const [failures, charges]: [string[], string[]] = [[], []];
  const agent = new Agent({ keepAlive: true });
  const running = new Set<Promise<void>>();
  let calls = 0;
  const begin = (index: number) => {
    const thrown = (error: unknown) => ({ charge: '', failure: String(error) });
    const ended = callOnce({ ...callers, agent }, index)
      .catch(thrown)
      .then(({ charge, failure }) => {
        charges.push(charge);
        if (failure !== undefined) failures.push(failure);
        running.delete(ended);
      });
    running.add(ended);
  };

  const endAt = performance.now() + seconds * 1000;
  await upstreams.turn([0]);
  const turns = takeTurns({ upstreams, endAt, running });
  for (const startedAt = performance.now(); performance.now() < endAt; ) {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond);
    const until = Math.min(due, calls + BURST_MAX, calls + RUNNING_MAX - running.size);
    while (calls < until) begin(calls++);
    await sleep(10);
  }
  await turns;
  await Promise.all(running);
  agent.destroy();
  return { calls, failures, charges };
}

interface Turns {
  readonly upstreams: ChaosUpstreams;
  readonly endAt: number;
  /** The running calls. */
  readonly running: ReadonlySet<Promise<void>>;
}

const ALONE_MS = 700;

/** One is healthy; then also the next one, until all earlier calls have ended; then only that one. */
async function takeTurns({ upstreams, endAt, running }: Turns): Promise<void> {
  const count = upstreams.urls.length;
  for (let turn = 0; performance.now() < endAt; turn += 1) {
    await upstreams.turn([turn % count]);
    await sleep(ALONE_MS);
    await upstreams.turn([turn % count, (turn + 1) % count]);
    // So for each call one route is healthy from start to end.
    await Promise.all(running);
  }
}

interface Callers {
  readonly gateway: TestGateway;
  readonly accounts: readonly TestAccount[];
  readonly agent: Agent;
}

async function callOnce(
  { gateway, accounts, agent }: Callers,
  index: number,
): Promise<{ readonly charge: string; readonly failure: string | undefined }> {
  const account = accounts[index % accounts.length] as TestAccount;
  const path = index % 2 === 0 ? CHAT : MESSAGES;
  const stream = index % 4 < 2;
  const reply = await send(gateway.url + path, { key: account.key, body: ask(`call ${index}`, { stream }), agent });
  const text = stream
    ? joinText(parseEvents(reply.text))
    : (reply.json.content?.[0].text ?? reply.json.choices?.[0].message.content);
  const isWell = reply.status === 200 && text === ANSWER && !reply.text.includes('"error"');
  return {
    charge: String(reply.headers['x-request-id']),
    failure: isWell ? undefined : `${reply.status} ${reply.text}`,
  };
}
