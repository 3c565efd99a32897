// The deployment of docker-compose.yml without Docker, under load and faults, against its promises: npm run topology
import { proxyProblem } from '../testkit/cluster.ts';
import { type Finding, LEASE_MS, openTopology, SWEEP_MS, type Topology, type Trial } from '../testkit/topology.ts';
import { readOptions } from './options.ts';

const ANSWER_MS_MAX = 6000;
const FREEZE_MS = 13_000;
/** Reading what is held takes time too. */
const LOOK_MS = 500;
const SHARE_FAILED_MAX = 0.005;

interface Case extends Trial {
  readonly name: string;
  readonly backMsMax: number;
  /** Hardly any call may fail: only one that the proxy hands over just as a gateway stops listening. */
  readonly seamless?: boolean;
}

const TRIALS: readonly Case[] = [
  { name: 'the primary steps down', backMsMax: 5000, strike: ({ cluster }) => cluster.stepDown() },
  { name: 'the primary is killed', backMsMax: 5000, strike: killPrimary, quietMs: 5000 },
  { name: 'the primary freezes for 13 s', backMsMax: 12_000, strike: freezePrimary, quietMs: 15_000 },
  {
    name: 'a gateway is killed',
    backMsMax: 5000,
    doomed: true,
    strike: (topology) => topology.killGateway(0, LEASE_MS + SWEEP_MS + LOOK_MS),
  },
  { name: 'gateways are restarted in turn', backMsMax: 5000, seamless: true, strike: (topology) => topology.roll() },
];

async function killPrimary({ cluster }: Topology): Promise<void> {
  const primary = await cluster.primary();
  primary.kill('SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 5000));
  await cluster.revive(primary);
}

async function freezePrimary({ cluster }: Topology): Promise<void> {
  const primary = await cluster.primary();
  primary.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, FREEZE_MS));
  primary.kill('SIGCONT');
}

/** The broken promises. */
function missed(trial: Case, finding: Finding): readonly string[] {
  const { slowestMs, backMs, returnedMs, live, statuses, problems } = finding;
  const returnedMsMax = LEASE_MS + SWEEP_MS + LOOK_MS;
  const { 200: answered = 0, ...failed } = statuses;
  const failedMax = Math.max(2, finding.calls * SHARE_FAILED_MAX);
  return [
    ...problems,
    ...(slowestMs > ANSWER_MS_MAX ? [`the slowest answer took ${Math.round(slowestMs)} ms`] : []),
    ...(backMs > trial.backMsMax ? [`the service was back after ${Math.round(backMs)} ms`] : []),
    ...(returnedMs > returnedMsMax ? [`holds were back after ${Math.round(returnedMs)} ms`] : []),
    ...(trial.doomed && returnedMs === 0 ? ['the fault left no hold, nothing was tried'] : []),
    ...(live.whole < live.all ? [`${live.all - live.whole} of ${live.all} long streams broke off`] : []),
    ...(trial.seamless && finding.calls - answered > failedMax ? [`calls failed: ${JSON.stringify(failed)}`] : []),
  ];
}

function formatLine({ name }: Case, finding: Finding): string {
  const { calls, told, statuses, slowestMs, backMs, returnedMs, live } = finding;
  return [
    `${name}: ${calls} calls, ${told} told their charge`,
    Object.entries(statuses)
      .map(([status, count]) => `${count} × ${status}`)
      .join(' '),
    `slowest ${Math.round(slowestMs)} ms`,
    `back after ${Math.round(backMs)} ms`,
    ...(returnedMs > 0 ? [`holds back after ${Math.round(returnedMs)} ms`] : []),
    ...(live.all > 0 ? [`${live.whole} of ${live.all} long streams whole`] : []),
  ].join(', ');
}

readOptions({});
const problem = proxyProblem();
if (problem !== undefined) {
  console.error(`topology: ${problem}; the deployment runs whole only with it (https://caddyserver.com/docs/install).`);
  process.exit(2);
}
const topology = await openTopology();
let faults = 0;
try {
  for (const trial of TRIALS) {
    const finding = await topology.run(trial);
    console.log(formatLine(trial, finding));
    for (const miss of missed(trial, finding)) {
      faults += 1;
      console.error(`  MISSED: ${miss}`);
    }
  }
  const { charges, bytesPerCharge, gatewaysMiB, membersMiB } = await topology.measure();
  const list = (sizes: readonly number[]) => sizes.map((size) => Math.round(size)).join(', ');
  console.log(
    `${charges} charges, ${Math.round(bytesPerCharge)} bytes each with journal and indexes; ` +
      `memory of gateways ${list(gatewaysMiB)} MiB, of members ${list(membersMiB)} MiB`,
  );
} finally {
  await topology.stop();
}
console.log(faults === 0 ? 'Every promise was kept; drift 0.' : `${faults} PROMISES MISSED`);
process.exitCode = faults === 0 ? 0 : 1;
