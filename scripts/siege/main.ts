// `npm run siege`: attacks a gateway on loopback, each attack alone and all at once, while good callers use it, and
// fails if a limit is exceeded. `--only NAME` runs one attack, `--only all` only all at once. It takes a quarter of an
// hour, `--short` about a minute; that is lenient on times, as a test on a busy machine must be, but judges memory and
// failures as strictly as the long run.
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { asked, said } from '../../testkit/talk.ts';
import { start } from '../bench/process.ts';
import { readOptions } from '../options.ts';
import type { AttackJob } from './attackers.ts';
import { ATTACKS } from './attacks.ts';
import type { CallersJob, CallersResult } from './callers.ts';
import type { Keys, Measured } from './gateway.ts';

const CALLERS = 20;
const RSS_MAX_MB = 480;
/** Of the better p99 without an attack; where that is exceeded, of the p99 while the attack is on another gateway. */
const P99_TIMES = 2;

const values = readOptions({ short: { type: 'boolean', default: false }, only: { type: 'string' } });
const ALL = 'all at once';
const everyName = Object.keys(ATTACKS);
const names = values.only === undefined ? everyName : [values.only].filter((name) => name !== 'all');
if (!names.every((name) => name in ATTACKS)) {
  process.stderr.write(`usage: npm run siege -- [--short] [--only all|${everyName.join('|')}]\n`);
  process.exit(2);
}
const seconds = values.short ? 4 : 60;
/** At its start an attack opens hundreds of sockets in a moment and makes the gateway compile what it is the first to use. */
const startSeconds = values.short ? 0 : 5;
const turnMaxMs = values.short ? 150 : 50;
/** In a short run the start of an attack and the machine's other processes decide. */
const p99FloorMs = values.short ? 2000 : 0;

// No process has a core of its own: neither a gateway in service nor an attacker on its machine has.
const upstream = start('upstream.ts', []);
const { port: upstreamPort } = await said<{ port: number }>(upstream);
const gateways: Gateway[] = [];
const gateway = await startGateway();
const callers = start('../siege/callers.ts', []);
await said(callers);
const attackers = start('../siege/attackers.ts', []);
await said(attackers);

const call = (times: Pick<CallersJob, 'startSeconds' | 'seconds'>) =>
  asked<CallersResult>(callers, {
    url: `http://127.0.0.1:${gateway.port}`,
    key: gateway.keys.good,
    callers: CALLERS,
    ...times,
  } satisfies CallersJob);

const problems: string[] = [];
await call({ startSeconds: 0, seconds: 2 });
await asked<Measured>(gateway.child, 'measure');
const calm = [await siege('calm', [])];
const rounds = new Map<string, Round>();
for (const name of names) rounds.set(name, await siege(name, [name]));
if (names.length !== 1) rounds.set(ALL, await siege(ALL, everyName));
calm.push(await siege('calm again', []));
const calmMs = Math.min(...calm.map(({ p99Ms }) => p99Ms));
for (const [title, round] of rounds) await judge(title, round);

for (const child of [attackers, callers, ...gateways.map((each) => each.child), upstream]) await end(child);
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? 'Every bound held.' : `${problems.length} BROKEN`);
process.exitCode = problems.length === 0 ? 0 : 1;

interface Gateway {
  readonly child: ChildProcess;
  readonly port: number;
  readonly keys: Keys;
}

interface Round extends CallersResult, Measured {
  readonly rssMb: number;
}

async function startGateway(): Promise<Gateway> {
  const child = start('../siege/gateway.ts', [`http://127.0.0.1:${upstreamPort}`]);
  const started = { child, ...(await said<{ port: number; keys: Keys }>(child)) };
  gateways.push(started);
  return started;
}

function attack({ port, keys }: Gateway, attacks: readonly string[]): Promise<unknown> {
  const job: AttackJob = { port, keys, names: attacks, seconds: startSeconds + seconds };
  return attacks.length === 0 ? Promise.resolve() : asked(attackers, job);
}

/** Calls the gateway while it, or another, is attacked, and watches its memory. */
async function siege(title: string, attacks: readonly string[], attacked = gateway): Promise<Round> {
  let rssMb = 0;
  const watching = setInterval(() => {
    rssMb = Math.max(rssMb, rssOf(gateway.child));
  }, 50);
  const [called] = await Promise.all([call({ startSeconds, seconds }), attack(attacked, attacks)]);
  clearInterval(watching);
  const round = { ...called, ...(await asked<Measured>(gateway.child, 'measure')), rssMb };
  const { calls, failed, p50Ms, p99Ms, startMostMs, turnMs, delayP99Ms, delayMostMs, errors } = round;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  console.log(
    `${title.padEnd(12)} ${calls} calls, ${failed} failed, p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}, at its start at most ${ms(startMostMs)}; RSS ${rssMb.toFixed(0)} MB; ` +
      `longest turn ${ms(turnMs)}, loop delay p99 ${ms(delayP99Ms)}, at most ${ms(delayMostMs)}; ${errors} errors logged`,
  );
  return round;
}

async function judge(title: string, { failed, reasons, p99Ms, rssMb, turnMs, errors }: Round): Promise<void> {
  const check = (holds: boolean, problem: string) => {
    if (!holds) problems.push(`${title}: ${problem}`);
  };
  let p99Max = Math.max(P99_TIMES * calmMs, p99FloorMs);
  if (p99Ms > p99Max) p99Max = Math.max(P99_TIMES * (await besideMs(title)), p99Max);
  check(failed === 0, `${failed} calls of good callers failed: ${reasons.join('; ')}`);
  check(p99Ms <= p99Max, `p99 of good callers is ${p99Ms.toFixed(1)} ms, at most ${p99Max.toFixed(1)}`);
  check(rssMb <= RSS_MAX_MB, `RSS is ${rssMb.toFixed(0)} MB, at most ${RSS_MAX_MB}`);
  check(turnMs <= turnMaxMs, `the loop stood for ${turnMs.toFixed(0)} ms, at most ${turnMaxMs}`);
  check(errors === 0, `${errors} lines of the log ask for an operator`);
}

/** What attackers take from good callers by using the same machine: the p99 while they attack another gateway. */
async function besideMs(title: string): Promise<number> {
  const attacks = title === ALL ? everyName : [title];
  const other = gateways[1] ?? (await startGateway());
  return (await siege(`${title}, on another gateway`, attacks, other)).p99Ms;
}

function rssOf({ pid }: ChildProcess): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.disconnect();
  await ended;
}
