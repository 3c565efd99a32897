// The faults of a campaign: each breaks something for a while and repairs it.
import { HOUR_MS } from '../../lib/base/durations.ts';
import { damageWallet } from '../../testkit/damage.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import type { Random } from './random.ts';
import type { FaultRig, StoreName } from './rig.ts';

export interface Fault {
  readonly name: string;
  readonly stores: readonly StoreName[];
  /** Breaks it, waits, and repairs it; says what it did. */
  run(rig: FaultRig, random: Random): Promise<string>;
}

const BOTH = ['sqlite', 'mongodb'] as const;
const MICRO = 1_000_000n;

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Waits for the duration of a fault. */
async function last(random: Random, mostMs: number): Promise<string> {
  const ms = Math.round(random.between(200, mostMs));
  await sleep(ms);
  return `for ${ms} ms`;
}

const pickGateway = (rig: FaultRig, random: Random) => random.pick([...rig.gateways.keys()]);

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill -9',
    stores: BOTH,
    async run(rig, random) {
      const index = pickGateway(rig, random);
      await sleep(random.between(0, 500));
      await rig.kill(index);
      const time = await last(random, 3000);
      await rig.start(index);
      return `gateway ${index}, dead ${time}`;
    },
  },
  {
    name: 'kill -9 of both',
    stores: BOTH,
    async run(rig) {
      const all = [...rig.gateways.keys()];
      await Promise.all(all.map(rig.kill));
      await Promise.all(all.map(rig.start));
      return 'started again at once';
    },
  },
  {
    name: 'frozen process',
    stores: BOTH,
    async run(rig, random) {
      const index = pickGateway(rig, random);
      rig.gateways[index]?.kill('SIGSTOP');
      const time = await last(random, 4000);
      rig.gateways[index]?.kill('SIGCONT');
      return `gateway ${index} ${time}`;
    },
  },
  {
    name: 'damaged row',
    stores: BOTH,
    async run(rig, random) {
      const { id } = random.pick<TestAccount>(rig.accounts);
      const shift = random.pick([
        { held: -50n * MICRO, avail: 50n * MICRO },
        { held: 5n * MICRO },
        { avail: -7n * MICRO },
        { seq: -3n },
      ]);
      const repair = await damageWallet(rig.databaseUrl, id, shift);
      const time = await last(random, 3000);
      await repair();
      return `${Object.keys(shift)} of ${id} ${time}`;
    },
  },
  {
    name: 'clock jump',
    stores: BOTH,
    async run(rig, random) {
      const index = pickGateway(rig, random);
      const offsetMs = random.pick([-HOUR_MS, -3000, 3000, HOUR_MS]);
      rig.setClock(index, offsetMs);
      const time = await last(random, 3000);
      rig.setClock(index, 0);
      return `gateway ${index} by ${offsetMs / 1000} s ${time}`;
    },
  },
  {
    name: 'locked file',
    stores: ['sqlite'],
    async run(rig, random) {
      const release = await rig.lock();
      const time = await last(random, 7000);
      await release();
      return time;
    },
  },
  {
    name: 'full disk',
    stores: ['sqlite'],
    async run(rig, random) {
      await rig.fillDisk();
      const time = await last(random, 4000);
      await rig.makeRoom();
      return time;
    },
  },
  {
    name: 'cut network',
    stores: ['mongodb'],
    async run({ network }, random) {
      network?.cut();
      const time = await last(random, 6000);
      network?.heal();
      return time;
    },
  },
  {
    name: 'silent network',
    stores: ['mongodb'],
    async run({ network }, random) {
      network?.silence();
      const time = await last(random, 5000);
      network?.heal();
      return time;
    },
  },
];
