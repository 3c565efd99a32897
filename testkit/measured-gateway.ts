// A gateway in its own process whose memory and event loop are measured; started by `startMeasured`.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startGateway, type TestGatewayOptions } from './gateway.ts';
import { startFlags, startVariables } from './npm-start.ts';
import { asked, said } from './talk.ts';

interface MeasuredOptions extends Pick<TestGatewayOptions, 'catalog' | 'env'> {
  readonly accounts: number;
}

export interface MeasuredGateway {
  readonly url: string;
  readonly keys: readonly string[];
  /** Objects and buffers in use, in bytes, after collections of garbage. */
  usedBytes(): Promise<number>;
  /** The ticks of its event loop since the last time. */
  loop(): Promise<Loop>;
  /** The whole process, at this moment. */
  rssBytes(): number;
  /** Fails if the ledger does not add up or something is still held. */
  checkMoney(): Promise<void>;
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** In ms. */
interface Loop {
  /** How late a timer fired, including delays caused by the rest of the machine. */
  readonly delayP99: number;
  readonly delayMost: number;
  /** CPU time of ticks: what the process does itself, whatever else runs on the machine. */
  readonly tickP99: number;
  readonly tickMost: number;
}

type Question = 'used' | 'loop' | 'money' | 'log';

const FILE = fileURLToPath(import.meta.url);

export async function startMeasured(options: MeasuredOptions): Promise<MeasuredGateway> {
  const child = fork(FILE, [JSON.stringify(options)], {
    execArgv: [...startFlags(), '--disable-warning=ExperimentalWarning'],
    env: { ...process.env, ...startVariables() },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { url, keys } = await said<{ url: string; keys: readonly string[] }>(child);
  const ask = <T>(question: Question) => asked<T>(child, question);
  return {
    url,
    keys,
    usedBytes: () => ask('used'),
    loop: () => ask('loop'),
    rssBytes: () => 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]),
    async checkMoney() {
      const problem = await ask<string>('money');
      if (problem !== '') throw new Error(problem);
    },
    log: () => ask('log'),
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await ended;
    },
  };
}

async function serve({ catalog, env = {}, accounts }: MeasuredOptions): Promise<void> {
  const gateway = await startGateway({ catalog, env });
  const keys: string[] = [];
  for (let at = 0; at < accounts; at += 1) keys.push((await gateway.account('100000')).key);
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const measureLoop = watchLoop();

  const answers: Readonly<Record<Question, () => unknown>> = {
    async used() {
      // Finalizers release more between them.
      for (let round = 0; round < 4; round += 1) {
        collectGarbage();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const { heapUsed, external, arrayBuffers } = process.memoryUsage();
      return heapUsed + Math.max(external, arrayBuffers);
    },
    loop: measureLoop,
    money: () =>
      gateway.checkMoney().then(
        () => '',
        (error) => String(error),
      ),
    log: () => readFileSync(`${gateway.folder}/log`, 'utf8'),
  };
  process.on('message', async (question: Question) => process.send?.(await answers[question]()));
  process.on('disconnect', async () => {
    await gateway.stop();
    process.exit(0);
  });
  process.send?.({ url: gateway.url, keys });
}

const TICK_MS = 5;

function watchLoop(): () => Loop {
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  delay.enable();
  let ticks: number[] = [];
  let before = process.threadCpuUsage();
  setInterval(() => {
    // What the thread has worked since the last tick, minus what it may use until the next.
    const { user, system } = process.threadCpuUsage(before);
    ticks.push(Math.max(0, (user + system) / 1000 - TICK_MS));
    before = process.threadCpuUsage();
  }, TICK_MS).unref();
  return () => {
    ticks.sort((a, b) => a - b);
    const delayP99 = delay.percentile(99) / 1e6;
    const delayMost = delay.max / 1e6;
    const [tickP99 = 0, tickMost = 0] = [ticks[Math.floor((ticks.length - 1) * 0.99)], ticks.at(-1)];
    delay.reset();
    ticks = [];
    return { delayP99, delayMost, tickP99, tickMost };
  };
}

if (process.argv[1] === FILE && process.send) await serve(JSON.parse(process.argv[2] as string));
