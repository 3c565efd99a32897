// A campaign: callers never stop while one fault follows another, and after each the books are checked against what
// the callers were told.
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { ask, CHAT, DIALECTS, send, until } from '../../testkit/client.ts';
import { compare, type Heard, listen } from '../../testkit/heard.ts';
import { type Fault, sleep } from './faults.ts';
import { createRandom, type Random } from './random.ts';
import { type FaultRig, openFaultRig, type StoreName } from './rig.ts';

interface CampaignOptions {
  readonly store: StoreName;
  readonly seed: number;
  readonly faults: readonly Fault[];
  readonly minutes: number;
  readonly stepsMax?: number;
  readonly say: (line: string) => void;
}

interface Report {
  readonly steps: number;
  readonly calls: number;
  /** Calls whose charge was reported to the client. */
  readonly told: number;
  readonly problems: readonly string[];
}

const CALLERS = 8;
/** Calls before and after a fault. */
const MARGIN_MS = 300;
/** For what needs time after a repair, and for a dead process's sessions on MongoDB. */
const RETURN_MS = 20_000;
const SERVE_MS = 10_000;

/** Stops at the first broken invariant. */
export async function runCampaign({ store, seed, faults, minutes, stepsMax, say }: CampaignOptions): Promise<Report> {
  const random = createRandom(seed);
  const usable = faults.filter(({ stores }) => stores.includes(store));
  const rig = await openFaultRig(store);
  const all: Heard[] = [];
  const problems: string[] = [];
  const endsAt = performance.now() + minutes * 60_000;
  let steps = 0;
  let told = 0;
  try {
    while (performance.now() < endsAt && steps < (stepsMax ?? Number.POSITIVE_INFINITY) && problems.length === 0) {
      steps += 1;
      const fault = random.pick(usable);
      const { heard, did } = await underLoad(rig, fault, random);
      problems.push(...(await broken(rig, heard)));
      all.push(...heard);
      const answered = heard.filter(({ status }) => status === 200).length;
      const line = `${heard.length} calls, ${answered} answered 200`;
      say(`${store} step ${steps}: ${fault.name} ${did}; ${line}${problems.length > 0 ? '; BROKEN' : ''}`);
    }
    // What was acknowledged early must still be there at the end.
    const last = await compare(rig.rig.books.store, all);
    told = last.told;
    problems.push(...last.wrong.filter((line) => !problems.includes(line)));
  } finally {
    await rig.close();
  }
  return { steps, calls: all.length, told, problems };
}

async function underLoad(rig: FaultRig, fault: Fault, random: Random) {
  const heard: Heard[] = [];
  let running = true;
  const callers = Array.from({ length: CALLERS }, async (_, index) => {
    for (let call = index; running; call += 1) {
      const gateway = rig.gateways[call % rig.gateways.length];
      const account = rig.accounts[index % rig.accounts.length];
      const path = DIALECTS[call % DIALECTS.length];
      if (!gateway || !account) await sleep(10);
      else {
        const answer = await listen({ url: gateway.url + path, account, stream: call % 3 > 0 });
        if (answer.status === 0) await sleep(10);
        else heard.push(answer);
      }
    }
  });
  await sleep(MARGIN_MS);
  const did = await fault.run(rig, random);
  await sleep(MARGIN_MS);
  running = false;
  await Promise.all(callers);
  return { heard, did };
}

/** What is wrong after all repairs: both gateways must serve, no hold be left, and the books match what was told. */
async function broken(rig: FaultRig, heard: readonly Heard[]): Promise<string[]> {
  const { books } = rig.rig;
  const problems: string[] = [];
  const serve = rig.gateways.map(async (gateway, index) => {
    const serves = () => answers(rig, gateway?.url ?? '');
    await until(serves, SERVE_MS).catch(() => problems.push(`gateway ${index} does not serve`));
  });
  await Promise.all(serve);
  await until(async () => (await books.held()) === 0n, RETURN_MS).catch(async () => {
    problems.push(`${await books.held()} micro-roubles are still held`);
  });
  const { wrong } = await compare(books.store, heard);
  const report = await verifyLedger(books.store);
  return [...problems, ...wrong, ...report.problems.map(({ wallet, problem }) => `${wallet}: ${problem}`)];
}

async function answers(rig: FaultRig, url: string): Promise<boolean> {
  const statuses = rig.accounts.map(
    async ({ key }) => (await send(url + CHAT, { key, body: ask('still there?') })).status,
  );
  return (await Promise.all(statuses)).every((status) => status === 200);
}
