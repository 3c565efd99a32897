// Kills the service mid-stream again and again and says whether a kopeck went missing: node scripts/crash.ts --rounds N
// [--store mongodb]
import { openCrashRig, type Round } from '../testkit/crash.ts';
import { startReplicaSet } from '../testkit/replica-set.ts';
import { readOptions } from './options.ts';

const LINE_EVERY = 10;

const values = readOptions({
  rounds: { type: 'string', default: '100' },
  store: { type: 'string', default: 'sqlite' },
});
const wanted = Number(values.rounds);
if (!Number.isInteger(wanted) || wanted < 1 || !['sqlite', 'mongodb'].includes(values.store)) {
  process.stderr.write('usage: node scripts/crash.ts --rounds N [--store sqlite|mongodb]\n');
  process.exit(2);
}

const set = values.store === 'mongodb' ? await startReplicaSet({ members: 1 }) : undefined;
const rig = await openCrashRig(set?.url('tollgate'));
const rounds: Round[] = [];
const startedAt = performance.now();
while (rounds.length < wanted) {
  rounds.push(await rig.round());
  if (rounds.length % LINE_EVERY === 0)
    console.log(formatLine(rounds.slice(-LINE_EVERY), `rounds to ${rounds.length}`));
}
await rig.close();
await set?.stop();
for (const problem of rounds.flatMap(({ problems }) => problems)) console.error(problem);
console.log(
  formatLine(rounds, `all ${rounds.length} rounds in ${Math.round((performance.now() - startedAt) / 1000)} s`),
);
const problems = rounds.reduce((sum, round) => sum + round.problems.length, 0);
console.log(problems === 0 ? 'Nothing was lost, nothing is held, the ledger adds up.' : `${problems} PROBLEMS`);
process.exitCode = problems === 0 ? 0 : 1;

function formatLine(some: readonly Round[], title: string): string {
  const sum = (pick: (round: Round) => number) => some.reduce((total, round) => total + pick(round), 0);
  const times = (name: string, pick: (round: Round) => number) => {
    const sorted = some.map(pick).sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    const most = sorted.at(-1) ?? 0;
    return `${name} ${median.toFixed(0)} ms (at most ${most.toFixed(0)})`;
  };
  return [
    `${title}: ${sum((round) => round.calls)} calls`,
    `${sum((round) => round.told)} told their charge, ${sum((round) => round.lost)} of them lost`,
    `${sum((round) => round.orphans)} holds orphaned`,
    times('back after', (round) => round.returnedMs),
    times('ready in', (round) => round.readyMs),
    times('first call', (round) => round.firstCallMs),
  ].join(', ');
}
