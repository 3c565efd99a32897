// The CPU time of each test file and of the processes that it started, for `mocha --require`: a line per file in the file
// that `CPU_TABLE` names. Wall time says little on a busy machine. `SPINS` follows if something goes on without a test.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

interface ProcessTimes {
  readonly parent: number;
  /** In seconds, its own and those of children that have ended. */
  readonly own: number;
  readonly ended: number;
}

const TICKS_PER_S = 100;
const LOOK_MS = 200;
let last = { own: 0, children: 0 };

export const mochaHooks = {
  async afterAll(this: Mocha.Context) {
    const table = process.env.CPU_TABLE;
    const file = findFile(this.test?.parent);
    if (table === undefined || file === undefined) return;
    const now = { own: readOwn(), children: readChildren() };
    const sum = now.own - last.own + now.children - last.children;
    await sleep(LOOK_MS);
    const spins = readOwn() - now.own > LOOK_MS / 2000 ? '  SPINS' : '';
    last = { own: readOwn(), children: readChildren() };
    appendFileSync(table, `${sum.toFixed(1).padStart(7)} s  ${relative('', file)}${spins}\n`);
  },
};

function findFile(suite: Mocha.Suite | undefined): string | undefined {
  return suite?.file ?? suite?.tests[0]?.file ?? suite?.suites.map(findFile).find((file) => file !== undefined);
}

function readOwn(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Of all descendants, also of those that have ended. */
function readChildren(): number {
  const times = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const found = readTimes(name);
    if (found) times.set(Number(name), found);
  }
  const sumBelow = (pid: number): number =>
    [...times]
      .filter(([, { parent }]) => parent === pid)
      .reduce((sum, [child, { own, ended }]) => sum + own + ended + sumBelow(child), 0);
  return (times.get(process.pid)?.ended ?? 0) + sumBelow(process.pid);
}

function readTimes(pid: string): ProcessTimes | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      parent: fields[1] ?? 0,
      own: (user + system) / TICKS_PER_S,
      ended: (endedUser + endedSystem) / TICKS_PER_S,
    };
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
