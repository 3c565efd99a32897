// `npm run bench`: the gateway, with its wallet on, beside a bare pipe on the same core, in alternating rounds.
import type { ChildProcess } from 'node:child_process';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { startReplicaSet } from '../../testkit/replica-set.ts';
import { said } from '../../testkit/talk.ts';
import { readOptions } from '../options.ts';
import { type Case, chooseCases, MODELS, ONE_WALLET, shortened } from './cases.ts';
import { compare, compareAll, printHead, reportFirstByte, warmUp } from './compare.ts';
import { type IdleOptions, reportIdle } from './idle.ts';
import { openStage, reportDelay, reportLeaving, reportStopped } from './pressure.ts';
import { hasTaskset, OTHER_CORE, type Running, serve, start } from './process.ts';

const values = readOptions({
  rounds: { type: 'string', default: '3' },
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  before: { type: 'string' },
});
const { quick, only } = values;
const rounds = quick ? 2 : Number(values.rounds);
const wanted = (part: string) => only === undefined || only === part;
const IDLE: readonly IdleOptions[] = quick
  ? [{ streams: 300, fresh: false }]
  : [
      { streams: 2000, fresh: false },
      { streams: 5000, fresh: true },
    ];
const LEAVING_STREAMS = quick ? 300 : 2000;

interface Cast {
  readonly target: string;
  readonly upstream: ChildProcess;
  readonly load: ChildProcess;
  readonly pipe: Running;
  readonly gateway: Running;
  /** Another checkout of this gateway. */
  readonly other: Running | undefined;
}

async function main(): Promise<void> {
  const cast = await assemble();
  const { pipe, gateway, other, load, upstream } = cast;
  console.log(
    `node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores${hasTaskset ? ', pinned' : ', not pinned'}`,
  );
  const cases = chooseCases({ only, quick });
  if (cases.length > 0 || wanted('wallet') || wanted('budget')) printHead(rounds);
  for (const test of cases) await compare(test, cast, rounds);
  if (wanted('first')) await firstByte(cast);
  if (wanted('wallet')) await oneWallet(cast);
  if (wanted('budget')) await budgets(cast);
  for (const options of wanted('idle') ? IDLE : []) await idle(cast, options);
  if (wanted('leave')) await reportLeaving({ gateway, upstream }, LEAVING_STREAMS);
  if (wanted('pressure')) await pressure(load);
  for (const child of [pipe.child, gateway.child, load, upstream, other?.child]) child?.disconnect();
}

async function assemble(): Promise<Cast> {
  const upstream = start('upstream.ts', [], OTHER_CORE);
  const { port } = await said<{ port: number }>(upstream);
  const target = `http://127.0.0.1:${port}`;
  const load = start('load.ts', [], OTHER_CORE);
  await said(load);
  const pipe = await serve('pipe.ts', [target]);
  const gateway = await serve('gateway.ts', [target, ...MODELS]);
  const other = await startOther(target);
  return { target, upstream, load, pipe, gateway, other };
}

async function startOther(target: string): Promise<Running | undefined> {
  const { before } = values;
  if (before === undefined) return undefined;
  return serve(join(resolve(before), 'scripts/bench/gateway.ts'), [target, ...MODELS]);
}

async function firstByte({ pipe, gateway, other, load, target }: Cast): Promise<void> {
  const all = { pipe, gateway, ...(other && { other }) };
  const [stream] = chooseCases({ only: 'stream-20', quick }) as [Case];
  await warmUp(stream, { all, load });
  await reportFirstByte({ load, target, all }, quick ? 100 : 400);
}

async function idle(cast: Cast, options: IdleOptions): Promise<void> {
  const { target, upstream } = cast;
  if (!options.fresh) return reportIdle(cast, upstream, options);
  const fresh = { pipe: await serve('pipe.ts', [target]), gateway: await serve('gateway.ts', [target, ...MODELS]) };
  await reportIdle({ ...fresh, other: cast.other }, upstream, options);
  for (const { child } of Object.values(fresh)) child.disconnect();
}

/** The same with the other store, the one for several gateways. */
async function oneWallet(cast: Cast): Promise<void> {
  const test = quick ? shortened(ONE_WALLET) : ONE_WALLET;
  await compare({ ...test, name: `${test.name}, SQLite` }, { ...cast, other: undefined }, rounds);
  await onMongo(cast.target, (gateway) =>
    compare({ ...test, name: `${test.name}, MongoDB` }, { ...cast, gateway, other: undefined }, rounds),
  );
}

/** Calls of two keys of one gateway: the one without a budget is 1. */
async function budgets({ target, gateway: usual, load }: Cast): Promise<void> {
  const [first] = chooseCases({ only: 'call, 100', quick }) as [Case];
  const keys = (gateway: Running) => ({ load, all: { free: gateway, 'with a budget': withBudget(gateway) } });
  const named = (store: string) => ({ ...first, name: `key without a budget, ${store}` });
  await compareAll(named('SQLite'), keys(usual), rounds);
  await onMongo(target, (gateway) => compareAll(named('MongoDB'), keys(gateway), rounds));
}

function withBudget(gateway: Running): Running {
  return { ...gateway, key: gateway.budgetKey ?? '' };
}

async function onMongo(target: string, use: (gateway: Running) => Promise<void>): Promise<void> {
  const set = await startReplicaSet({ members: 1, cacheGB: 1 });
  try {
    const gateway = await serve('gateway.ts', [target, ...MODELS], { env: { BENCH_STORE: set.url('bench') } });
    await use(gateway);
    gateway.child.disconnect();
    await new Promise((resolve) => gateway.child.once('exit', resolve));
  } finally {
    await set.stop();
  }
}

async function pressure(load: ChildProcess): Promise<void> {
  const stage = await openStage();
  console.log();
  await reportStopped(stage, quick ? 50 : 200);
  await reportDelay(stage, load);
  stage.close();
}

await main();
