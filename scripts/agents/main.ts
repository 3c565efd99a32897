// `npm run agents`: installs coding agents and libraries from npm and PyPI and lets each do its jobs twice, directly at
// a scripted upstream and through a gateway in front of it, and prints tokens, cache hits, returned thoughts and the
// bill of both. Fails if a job is not done through the gateway, if its tokens differ by more than 1 % from direct ones,
// or if the bill is not the tokens times the prices. A program that cannot be installed here is named and left out.
// `--only NAME` runs the programs whose name begins so, `--job NAME` one of their jobs (mend, files, search), `--log`
// shows their output, `--steps N` makes mending longer, `--limit N` sets the gateway's requests a minute, `--think N`
// the seconds before the first call.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { type Counted, STEP_TOKENS } from '../../testkit/prompt-cache.ts';
import { readOptions } from '../options.ts';
import { describeScriptedModels } from './catalog.ts';
import { type InstalledProgram, installProgram } from './install.ts';
import { STEPS_MIN } from './job.ts';
import { LIBRARIES } from './libraries.ts';
import { JOBS, type JobName, type Place, type Program, writeSettings } from './program.ts';
import { PROGRAMS } from './programs.ts';
import { startAgentUpstream, type Tally } from './upstream.ts';

const {
  only,
  job: onlyJob,
  log,
  steps,
  limit,
  think,
} = readOptions({
  only: { type: 'string', default: '' },
  job: { type: 'string', default: '' },
  log: { type: 'boolean', default: false },
  steps: { type: 'string', default: `${STEPS_MIN}` },
  limit: { type: 'string', default: '100000' },
  think: { type: 'string', default: '0' },
});

const JOB_MS_MAX = 120_000 + 1000 * Number(think) + 5000 * Number(steps);
const KEYS = ['upstream-key-one', 'upstream-key-two'];
/** Micro-roubles a token. */
const PRICE = { input: 100, cacheRead: 10, cacheWrite: 125, output: 500 };
const CALL_MINIMUM = 500_000;
/** Two runs of a program differ by times of day, names of folders and ids; what is cached may differ by a step a call too. */
const TOLERANCE = 0.01;

interface Run extends Tally {
  readonly done: boolean;
}

const upstream = await startAgentUpstream();
const gateway = await startGateway({
  catalog: describeScriptedModels(upstream.url, PRICE, KEYS),
  env: { RATE_LIMIT_PER_MINUTE: limit },
});
const problems: string[] = [];
const rows: string[][] = [
  ['program', 'version', 'job', 'by', 'done', 'calls', 'new', 'cached', 'written', 'output', 'thoughts', 'RUB'],
];

const all = [...PROGRAMS, ...LIBRARIES];
const chosen = all.flatMap((program) => {
  const jobs = (program.jobs ?? ['mend']).filter((job) => onlyJob === '' || job === onlyJob);
  return program.name.toLowerCase().startsWith(only.toLowerCase()) ? jobs.map((job) => ({ program, job })) : [];
});
if (chosen.length === 0) {
  const names = all.map(({ name, jobs = ['mend'] }) => `${name} (${jobs.join(', ')})`);
  process.stderr.write(`The programs and their jobs are ${names.join('; ')}.\n`);
  process.exit(2);
}
for (const { program, job } of chosen) await compare(program, job);
await gateway.checkMoney();
await gateway.stop();
await upstream.close();

const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
console.log(
  rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n'),
);
for (const problem of problems) console.error(problem);
const ran = (rows.length - 1) / 2;
console.log(`${ran} of ${chosen.length} jobs, ${problems.length} problems`);
process.exitCode = problems.length === 0 && ran > 0 ? 0 : 1;

async function compare(chosen: Program, job: JobName): Promise<void> {
  const { name, wire } = chosen;
  const program = installProgram(chosen);
  if (!program) {
    const hint = chosen.registry === 'pypi' ? '; PYTHON may name a Python that it accepts' : '';
    console.error(`NOT RUN ${name}: ${chosen.package} could not be installed${hint}`);
    return;
  }
  const direct = await runJob(program, job, { baseUrl: `${upstream.url}/v1`, key: KEYS[0] as string });
  report(program, { job, by: 'direct', run: direct, bill: sumBill(direct.calls, 0) });
  const account = await gateway.account('10000');
  const through = await runJob(program, job, { baseUrl: `${gateway.url}/api/v1`, key: account.key });
  const charged = await readCharged(gateway, account);
  report(program, { job, by: 'gateway', run: through, bill: charged });
  const fail = (problem: string) => problems.push(`${name}, ${wire}, ${job}: ${problem}`);
  if (!direct.done) fail('the job is not done even without the gateway');
  if (!through.done) fail('the job is not done through the gateway');
  const due = sumBill(through.calls, CALL_MINIMUM);
  if (charged !== due) fail(`charged ${charged} micro-roubles instead of ${due}`);
  for (const kind of ['input', 'read', 'written'] as const) {
    const [before, after] = [sum(direct.calls, kind), sum(through.calls, kind)];
    const all = sum(direct.calls, 'input') + sum(direct.calls, 'read') + sum(direct.calls, 'written');
    const tolerated = Math.max(TOLERANCE * all, STEP_TOKENS * direct.calls.length);
    if (Math.abs(after - before) > tolerated) fail(`${after} tokens of ${kind} instead of ${before}`);
  }
  if (through.thoughtsBack < direct.thoughtsBack) {
    fail(`${through.thoughtsBack} thoughts came back instead of ${direct.thoughtsBack}`);
  }
}

interface Reported {
  readonly job: JobName;
  readonly by: string;
  readonly run: Run;
  readonly bill: number;
}

function report({ name, version }: InstalledProgram, { job, by, run, bill }: Reported): void {
  const { calls, done, thoughtsBack, thoughtsDue } = run;
  const counts = (['input', 'read', 'written', 'output'] as const).map((kind) => `${sum(calls, kind)}`);
  const thoughts = `${thoughtsBack} of ${thoughtsDue}`;
  rows.push([
    name,
    version,
    job,
    by,
    done ? 'yes' : 'NO',
    `${calls.length}`,
    ...counts,
    thoughts,
    (bill / 1e6).toFixed(2),
  ]);
}

function sum(calls: readonly Counted[], kind: keyof Counted): number {
  return calls.reduce((total, call) => total + call[kind], 0);
}

/** In micro-roubles. */
function sumBill(calls: readonly Counted[], minimum: number): number {
  return calls.reduce((total, { input, read, written, output }) => {
    const cost = input * PRICE.input + read * PRICE.cacheRead + written * PRICE.cacheWrite + output * PRICE.output;
    return total + Math.max(cost, minimum);
  }, 0);
}

async function readCharged({ wallet }: TestGateway, account: TestAccount): Promise<number> {
  await until(async () => (await wallet(account)).held === 0n);
  return Number((await wallet(account)).charged);
}

async function runJob(
  program: InstalledProgram,
  name: JobName,
  { baseUrl, key }: Pick<Place, 'baseUrl' | 'key'>,
): Promise<Run> {
  const job = JOBS[name];
  const scratch = mkdtempSync(join(tmpdir(), 'agent-'));
  const [folder, home] = [join(scratch, 'job'), join(scratch, 'home')];
  job.write(folder);
  mkdirSync(home);
  const { prompt } = job;
  const place: Place = { baseUrl, key, model: `agent-${program.wire}`, folder, home, prompt, job: name };
  writeSettings(program, place);
  upstream.begin(job, { folder, steps: Number(steps), thinkSeconds: Number(think), finish: program.finish });
  const setup = program.setup ? await runProgram(program, place, program.setup(place)) : '';
  const output = setup + (await runProgram(program, place, program.args?.(place) ?? []));
  const done = job.isDone(folder) && output.includes(job.closing);
  if (log || !done) console.error(`== ${program.name}, ${baseUrl}\n${output.slice(-4000)}`);
  rmSync(scratch, { recursive: true, force: true });
  return { ...upstream.tally(), done };
}

function runProgram({ start, env }: InstalledProgram, place: Place, args: readonly string[]): Promise<string> {
  const { PATH, LANG } = process.env;
  const [file, ...before] = start;
  const child = spawn(file, [...before, ...args], {
    cwd: place.folder,
    env: { PATH, LANG, HOME: place.home, TERM: 'dumb', CI: '1', ...env?.(place) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    const end = (how: string) => {
      clearTimeout(timer);
      resolve(`${output}\n${how}`);
    };
    const timer = setTimeout(() => {
      process.kill(-(child.pid as number), 'SIGKILL');
      end('it took too long');
    }, JOB_MS_MAX);
    child.on('error', (error) => end(error.message)).on('exit', (code) => setTimeout(() => end(`exit ${code}`), 100));
  });
}
