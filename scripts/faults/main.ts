// Breaks everything around two gateways on one store, fault after fault: npm run faults -- [--minutes N] [--seed N]
// [--store sqlite|mongodb|both]
import { randomInt } from 'node:crypto';
import { readOptions } from '../options.ts';
import { runCampaign } from './campaign.ts';
import { FAULTS } from './faults.ts';
import type { StoreName } from './rig.ts';

const values = readOptions({
  minutes: { type: 'string', default: '10' },
  seed: { type: 'string', default: String(randomInt(1, 2 ** 31)) },
  store: { type: 'string', default: 'both' },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
const stores = { sqlite: ['sqlite'], mongodb: ['mongodb'], both: ['sqlite', 'mongodb'] }[values.store];
if (!(minutes > 0) || !Number.isSafeInteger(seed) || !stores) {
  process.stderr.write('usage: npm run faults -- [--minutes N] [--seed N] [--store sqlite|mongodb|both]\n');
  process.exit(2);
}

console.log(`seed ${seed}`);
for (const store of stores as StoreName[]) {
  const share = minutes / stores.length;
  const { steps, calls, told, problems } = await runCampaign({
    store,
    seed,
    minutes: share,
    faults: FAULTS,
    say: console.log,
  });
  for (const problem of problems) console.error(problem);
  const verdict = problems.length === 0 ? 'no invariant broken' : `${problems.length} PROBLEMS, seed ${seed}`;
  console.log(`${store}: ${steps} faults, ${calls} calls, ${told} told their charge: ${verdict}`);
  if (problems.length > 0) process.exitCode = 1;
}
