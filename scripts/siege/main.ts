// `npm run siege`: attacks a gateway on loopback, each attack alone and all at once, while good callers use it, and
// fails if a limit is exceeded. `--only NAME` runs one attack, `--only all` only all at once. It takes eight minutes,
// `--short` about one; that is lenient on times, as a test on a busy machine must be, but judges memory and failures as
// strictly as the long run.
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { asked, said } from '../../testkit/talk.ts';
import { start } from '../bench/process.ts';
import type { AttackJob } from './attackers.ts';
import { ATTACKS } from './attacks.ts';
import type { CallersJob, CallersResult } from './callers.ts';
import type { Keys, Measured } from './gateway.ts';

const CALLERS = 20;
const RSS_MAX_MB = 480;
/** Of the worst p99 without an attack. */
const P99_TIMES = 2;

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false }, only: { type: 'string' } } });
const ALL = 'all at once';
const everyName = Object.keys(ATTACKS);
const names = values.only === undefined ? everyName : [values.only].filter((name) => name !== 'all');
if (!names.every((name) => name in ATTACKS)) {
  process.stderr.write(`usage: npm run siege -- [--short] [--only all|${everyName.join('|')}]\n`);
  process.exit(2);
}
/** So long that a stall at the start, which meets each caller once, is not what the slowest hundredth consists of. */
const seconds = values.short ? 4 : 40;
const turnMaxMs = values.short ? 150 : 50;
/** Below this, the machine's other processes decide. */
const p99FloorMs = values.short ? 2000 : 50;

// No process has a core of its own: neither a gateway in service nor an attacker on its machine has.
const upstream = start('upstream.ts', []);
const { port: upstreamPort } = await said<{ port: number }>(upstream);
const gateway = start('../siege/gateway.ts', [`http://127.0.0.1:${upstreamPort}`]);
const { port, keys } = await said<{ port: number; keys: Keys }>(gateway);
const callers = start('../siege/callers.ts', []);
await said(callers);
const attackers = start('../siege/attackers.ts', []);
await said(attackers);

const call = (forSeconds: number) =>
  asked<CallersResult>(callers, {
    url: `http://127.0.0.1:${port}`,
    key: keys.good,
    callers: CALLERS,
    seconds: forSeconds,
  } satisfies CallersJob);

const problems: string[] = [];
await call(2);
await asked<Measured>(gateway, 'measure');
const calm = [await siege('calm', [])];
const rounds = new Map<string, Round>();
for (const name of names) rounds.set(name, await siege(name, [name]));
if (names.length !== 1) rounds.set(ALL, await siege(ALL, everyName));
calm.push(await siege('calm again', []));
for (const [title, round] of rounds) judge(title, round);

for (const child of [attackers, callers, gateway, upstream]) await end(child);
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? 'Every bound held.' : `${problems.length} BROKEN`);
process.exitCode = problems.length === 0 ? 0 : 1;

interface Round extends CallersResult, Measured {
  readonly rssMb: number;
}

/** Calls the gateway during the attack and watches its memory. */
async function siege(title: string, attacks: readonly string[]): Promise<Round> {
  let rssMb = 0;
  const watching = setInterval(() => {
    rssMb = Math.max(rssMb, rssOf(gateway));
  }, 50);
  const job: AttackJob = { port, keys, names: attacks, seconds };
  const [called] = await Promise.all([call(seconds), attacks.length === 0 ? undefined : asked(attackers, job)]);
  clearInterval(watching);
  const round = { ...called, ...(await asked<Measured>(gateway, 'measure')), rssMb };
  const { calls, failed, p50Ms, p99Ms, turnMs, delayP99Ms, delayMostMs, errors } = round;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  console.log(
    `${title.padEnd(12)} ${calls} calls, ${failed} failed, p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}; RSS ${rssMb.toFixed(0)} MB; ` +
      `longest turn ${ms(turnMs)}, loop delay p99 ${ms(delayP99Ms)}, at most ${ms(delayMostMs)}; ${errors} errors logged`,
  );
  return round;
}

function judge(title: string, { failed, reasons, p99Ms, rssMb, turnMs, errors }: Round): void {
  const p99Max = Math.max(...calm.map(({ p99Ms: quiet }) => P99_TIMES * quiet), p99FloorMs);
  const check = (holds: boolean, problem: string) => {
    if (!holds) problems.push(`${title}: ${problem}`);
  };
  check(failed === 0, `${failed} calls of good callers failed: ${reasons.join('; ')}`);
  check(p99Ms <= p99Max, `p99 of good callers is ${p99Ms.toFixed(1)} ms, at most ${p99Max.toFixed(1)}`);
  check(rssMb <= RSS_MAX_MB, `RSS is ${rssMb.toFixed(0)} MB, at most ${RSS_MAX_MB}`);
  check(turnMs <= turnMaxMs, `the loop stood for ${turnMs.toFixed(0)} ms, at most ${turnMaxMs}`);
  check(errors === 0, `${errors} lines of the log ask for an operator`);
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
