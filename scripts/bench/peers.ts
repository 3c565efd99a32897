// `npm run bench -- --peers`: the same loads on the bare pipe, this gateway, and other gateways, each alone on one core.
// LiteLLM and Portkey are installed into `.cache/peers` when they are asked for the first time; `--peer NAME=COMMAND`
// adds any other one that answers chat-style under `/v1`.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../testkit/cluster.ts';
import { asked, said } from '../../testkit/talk.ts';
import { readOptions } from '../options.ts';
import { type Case, chooseCases, MODELS } from './cases.ts';
import { compareAll, describeJob, printHead, reportFirstByte } from './compare.ts';
import type { LoadResult } from './load.ts';
import { OTHER_CORE, type Running, serve, serveCommand, start } from './process.ts';

const FOLDER = fileURLToPath(new URL('../../.cache/peers/', import.meta.url));
const INSTALL_MS_MAX = 600_000;
const START_MS_MAX = 120_000;
const LOOK_MS = 200;
const TRIALS = 4;
const WARM_UP_ROUNDS = 3;
const SHORT = 0.1;
const SHORT_AT_ONCE = 32;
const FIRST_BYTE_CALLS = 100;

interface Peer {
  readonly name: string;
  /** Of an executable file and its arguments. */
  readonly command: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Place {
  readonly port: number;
  /** The upstream, without a path. */
  readonly target: string;
}

const PYTHON = join(FOLDER, 'python');
const PORTKEY = join(FOLDER, 'node_modules/@portkey-ai/gateway/build/start-server.js');

/** It refuses to start without a key of its own unless it is told that this is meant. */
const OPEN_DOOR = { LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true' };

/** Without a database, keys or prices: only what passes a call on. */
function prepareLitellm({ port, target }: Place): Peer {
  const command = join(PYTHON, 'bin/litellm');
  if (!existsSync(command)) {
    install('python3', ['-m', 'venv', PYTHON]);
    install(join(PYTHON, 'bin/pip'), ['install', '--quiet', 'litellm[proxy]']);
  }
  const config = join(FOLDER, 'litellm.json');
  const params = (model: string) => ({ model: `openai/${model}`, api_base: `${target}/v1`, api_key: 'any' });
  const list = MODELS.map((model) => ({ model_name: model, litellm_params: params(model) }));
  // JSON is YAML too.
  writeFileSync(config, JSON.stringify({ model_list: list }));
  return {
    name: 'LiteLLM',
    command: [command, '--config', config, '--host', '127.0.0.1', '--port', String(port)],
    env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR', ...OPEN_DOOR },
  };
}

function preparePortkey({ port, target }: Place): Peer {
  if (!existsSync(PORTKEY)) install('npm', ['install', '--silent', '--prefix', FOLDER, '@portkey-ai/gateway']);
  return {
    name: 'Portkey',
    command: [process.execPath, PORTKEY, `--port=${port}`, '--headless'],
    headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${target}/v1` },
  };
}

/** Of `--peer NAME=COMMAND`, whose `{port}` and `{upstream}` are filled in; run by a shell. */
function readPeer(text: string, { port, target }: Place): Peer {
  const [, name = '', line = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === '') throw new Error('--peer is NAME=COMMAND, in which {port} and {upstream} are replaced');
  const filled = line.replaceAll('{port}', String(port)).replaceAll('{upstream}', target);
  return { name, command: ['sh', '-c', `exec ${filled}`] };
}

function install(command: string, args: readonly string[]): void {
  mkdirSync(FOLDER, { recursive: true });
  console.log(`$ ${[command, ...args].join(' ')}`);
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS_MAX });
}

/** Undefined, with a line that says why, if it cannot be had here or does not answer. */
async function startPeer(prepare: (place: Place) => Peer, target: string): Promise<[string, Running] | undefined> {
  const [port = 0] = await freePorts(1);
  try {
    const { name, command, headers = {}, env = {} } = prepare({ port, target });
    const output = openSync(join(FOLDER, `${name}.log`), 'w');
    const [file = '', ...args] = command;
    const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', output, output] });
    process.on('exit', () => child.kill('SIGKILL'));
    const running = serveCommand(child, { url: `http://127.0.0.1:${port}`, path: '/v1/chat/completions', headers });
    await waitForAnswer(running, child, name);
    return [name, running];
  } catch (error) {
    console.log(`left out: ${(error as Error).message}`);
    return undefined;
  }
}

async function waitForAnswer({ url, path, headers = {} }: Running, child: ChildProcess, name: string): Promise<void> {
  const until = performance.now() + START_MS_MAX;
  const body = JSON.stringify({ model: 'call', messages: [{ role: 'user', content: 'Say something, please.' }] });
  let last = 'nothing';
  while (child.exitCode === null && child.pid !== undefined && performance.now() < until) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
    const answer = await fetch(`${url}${path}`, init).catch(() => undefined);
    if (answer?.status === 200) return;
    if (answer) last = `${answer.status} ${(await answer.text()).slice(0, 200)}`;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  child.kill('SIGKILL');
  throw new Error(`${name} did not answer (last: ${last}); see ${join(FOLDER, `${name}.log`)}`);
}

/** Some gateways take half a second of CPU for a burst: fewer calls, and streams at once, than where there are none. */
function shortenMore(test: Case): Case {
  return { ...test, calls: Math.ceil(test.calls * SHORT), atOnce: Math.min(test.atOnce, SHORT_AT_ONCE) };
}

/** The few calls of the comparison do not suffice for V8's compiler. */
async function warmUp(test: Case, all: readonly Running[], load: ChildProcess): Promise<void> {
  for (const running of all) {
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await asked(load, describeJob(running, test));
  }
}

/** A gateway that cannot do a load at all is named, and left out of it. */
async function keepThoseThatServe(
  test: Case,
  peers: readonly [string, Running][],
  load: ChildProcess,
): Promise<Readonly<Record<string, Running>>> {
  const kept: [string, Running][] = [];
  for (const [name, running] of peers) {
    const { failed } = await asked<LoadResult>(load, describeJob(running, { ...test, calls: TRIALS, atOnce: TRIALS }));
    if (failed === 0) kept.push([name, running]);
    else console.log(`${name} failed ${failed} of ${TRIALS} calls of this load:`);
  }
  return Object.fromEntries(kept);
}

async function main(): Promise<void> {
  const { rounds, only, peer } = readOptions({
    peers: { type: 'boolean' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'goals' },
    peer: { type: 'string', multiple: true, default: [] },
  });
  const upstream = start('upstream.ts', [], OTHER_CORE);
  const { port } = await said<{ port: number }>(upstream);
  const target = `http://127.0.0.1:${port}`;
  const load = start('load.ts', [], OTHER_CORE);
  await said(load);
  mkdirSync(FOLDER, { recursive: true });
  const prepared = [prepareLitellm, preparePortkey, ...peer.map((text) => (place: Place) => readPeer(text, place))];
  const peers: [string, Running][] = [];
  for (const prepare of prepared) {
    const started = await startPeer(prepare, target);
    if (started) peers.push(started);
  }
  const pipe = await serve('pipe.ts', [target]);
  const gateway = await serve('gateway.ts', [target, ...MODELS]);
  const choose = async (test: Case) => ({ pipe, gateway, ...(await keepThoseThatServe(test, peers, load)) });
  printHead(Number(rounds));
  for (const test of chooseCases({ only, quick: false })) {
    await warmUp(test, [pipe, gateway], load);
    await compareAll(shortenMore(test), { all: await choose(test), load }, Number(rounds));
  }
  const [stream] = chooseCases({ only: 'stream-20', quick: true }) as [Case];
  await reportFirstByte({ load, target, all: await choose(stream) }, FIRST_BYTE_CALLS);
  for (const { child } of [pipe, gateway]) child.disconnect();
  for (const child of [load, upstream]) child.disconnect();
  // The others end with this process.
  process.exit();
}

await main();
