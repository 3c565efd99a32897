// Two gateways behind the proxy on a replica set of three, under load from streaming and plain calls, while parts of it
// fail; afterwards what clients were told is checked against the ledger.
import { fileURLToPath } from 'node:url';
import type { Store } from '../lib/store/store.ts';
import { DIALECTS, until } from './client.ts';
import { type Cluster, freePorts, type ProxyProcess, residentMiB, startCluster, startProxy } from './cluster.ts';
import { slowAnswer } from './crash.ts';
import { chatCatalog, type TestAccount } from './gateway.ts';
import { compare, type Heard, listen } from './heard.ts';
import { startFlags } from './npm-start.ts';
import { type Books, type Home, makeHome, openBooks, type Service, spawnChild, startService } from './process.ts';
import { type Behaviour, chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from './upstream.ts';

/** Longer than any outage: the holds of living processes must not look orphaned. */
export const LEASE_MS = 10_000;
/** The service looks for the holds of dead processes at least once a second. */
export const SWEEP_MS = 1000;
const CALLERS = 16;
const ACCOUNTS = 4;
const LIVE_STREAMS = 6;
const LIVE_STREAM_MS = 6000;
/** The proxy checks once a second whether a gateway is back. */
const PROXY_NOTICES_MS = 2500;
const WARM_UP_MS = 1500;
const BACK_WITHIN_MS = 30_000;
const CLI = fileURLToPath(new URL('../lib/cli/main.ts', import.meta.url));

export interface Trial {
  /** What happens in the middle of the load; the load continues until it has returned. */
  strike(topology: Topology): Promise<void>;
  /** The load continues at least this long after the fault. */
  readonly quietMs?: number;
  /** Long streams are running, some of which the fault cuts. */
  readonly doomed?: boolean;
}

export interface Finding {
  readonly calls: number;
  /** Calls whose charge was reported to the client. */
  readonly told: number;
  /** Replies by status; 0 if there was none, `cut` for those that broke off. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  /** From the fault until a later call was answered in full. */
  readonly backMs: number;
  /** From the fault until the last hold of a call that broke off was gone. */
  readonly returnedMs: number;
  readonly live: { readonly whole: number; readonly all: number };
  readonly problems: readonly string[];
}

export interface Topology {
  readonly cluster: Cluster;
  readonly proxy: ProxyProcess;
  readonly upstream: TestUpstream;
  readonly books: Books;
  readonly accounts: readonly TestAccount[];
  readonly gateways: readonly Service[];
  /** Kills a gateway and restarts it after a while. */
  killGateway(index: number, againAfterMs: number): Promise<void>;
  /** Restarts the gateways one after the other, each while both have long streams. */
  roll(): Promise<void>;
  run(trial: Trial): Promise<Finding>;
  /** The resources it uses now. */
  measure(): Promise<Sizes>;
  stop(): Promise<void>;
}

interface Sizes {
  readonly charges: number;
  /** The database with its indexes, as MongoDB counts them before compression, per charge. */
  readonly bytesPerCharge: number;
  /** Memory of each gateway and each member, MiB. */
  readonly gatewaysMiB: readonly number[];
  readonly membersMiB: readonly number[];
}

export async function openTopology(): Promise<Topology> {
  const upstream = await startUpstream(answer);
  const home = makeHome(chatCatalog(upstream.url));
  const cluster = await startCluster();
  const env = { ...home.env, DATABASE_URL: cluster.url, LEASE_MS: String(LEASE_MS), SANDBOX: 'off', LOG_LEVEL: 'warn' };
  const place = { ...home, env };
  const books = await openBooks(place);
  const accounts = await openAccounts(books);
  const ports = await freePorts(2);
  const start = (index: number) => startAsNpm(place, ports[index] as number);
  const gateways = await Promise.all([start(0), start(1)]);
  const proxy = await startProxy(`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`);
  let live: Promise<Heard>[] = [];

  const topology: Topology = {
    cluster,
    proxy,
    upstream,
    books,
    accounts,
    gateways,
    async killGateway(index, againAfterMs) {
      gateways[index]?.kill('SIGKILL');
      await gateways[index]?.exit;
      await sleep(againAfterMs);
      gateways[index] = await start(index);
    },
    async roll() {
      for (const index of gateways.keys()) {
        live.push(...(await openStreams(proxy.url, accounts)));
        const exit = await gateways[index]?.stop();
        if (exit?.code !== 0) throw new Error(`a gateway ended with ${exit?.code}: ${exit?.stderr}`);
        gateways[index] = await start(index);
        await sleep(PROXY_NOTICES_MS);
      }
    },
    async run(trial) {
      live = [];
      const load = startLoad(proxy.url, accounts);
      await sleep(WARM_UP_MS);
      const doomed = trial.doomed ? await openStreams(proxy.url, accounts) : [];
      const struckAt = performance.now();
      const striking = trial.strike(topology);
      const cut: Heard[] = [];
      for (const stream of doomed) void stream.then((heard) => cut.push(heard));
      const returned = watchHolds(books.store, () => [...load.heard, ...cut], struckAt);
      await until(() => backAt(load.heard, struckAt) !== undefined, BACK_WITHIN_MS).catch(() => undefined);
      await Promise.all([striking, sleep(Math.max(0, (trial.quietMs ?? 0) - performance.now() + struckAt))]);
      await sleep(WARM_UP_MS);
      const heard = await load.stop();
      const streams = await Promise.all(live);
      await Promise.all(doomed);
      const returnedMs = await returned.stop();
      const whole = streams.filter((stream) => stream.whole && stream.charged !== undefined).length;
      const figures = await judge({ topology, struckAt, heard: [...heard, ...streams, ...cut], short: heard });
      return { ...figures, returnedMs, live: { whole, all: streams.length } };
    },
    measure: () => measureSizes(topology),
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await books.close();
      await proxy.stop();
      await upstream.close();
      await cluster.stop();
      home.remove();
    },
  };
  return topology;
}

async function openAccounts(books: Books): Promise<readonly TestAccount[]> {
  const accounts: TestAccount[] = [];
  while (accounts.length < ACCOUNTS) accounts.push(await books.account('1000000'));
  return accounts;
}

async function measureSizes({ cluster, gateways }: Topology): Promise<Sizes> {
  const { charges, bytes, members } = await cluster.measure();
  const gatewaysMiB = gateways.map(({ process: { pid } }) => residentMiB(pid));
  return { charges, bytesPerCharge: bytes / charges, gatewaysMiB, membersMiB: members.map(residentMiB) };
}

/** Run like `npm start`. */
function startAsNpm(home: Home, port: number): Promise<Service> {
  return startService(home, { flags: startFlags(), env: { PORT: String(port) } });
}

const LONG = 'a long one';

/** Short answers, and long ones that a restart interrupts. */
const answer: Behaviour = async (call) => {
  const { body, response } = call;
  if (!JSON.stringify(body).includes(LONG)) return slowAnswer(call);
  response.writeHead(200, SSE);
  const words = LIVE_STREAM_MS / 100;
  for (let word = 0; word < words && !response.destroyed; word += 1) {
    response.write(chatChunk('word '));
    await sleep(100);
  }
  response.end(chatEnd({ input: 7, output: words }));
};

/** Long streams that have started. */
async function openStreams(url: string, accounts: readonly TestAccount[]): Promise<Promise<Heard>[]> {
  const streams: Promise<Heard>[] = [];
  while (streams.length < LIVE_STREAMS) {
    const account = accounts[streams.length % accounts.length] as TestAccount;
    const path = DIALECTS[streams.length % DIALECTS.length] as string;
    await new Promise<void>((resolve, reject) => {
      const onOpen = (sent: import('node:http').ClientRequest) =>
        sent.once('response', (response) => response.once('data', () => resolve())).once('error', reject);
      streams.push(listen({ url: url + path, account, stream: true, prompt: LONG, onOpen }));
    });
  }
  return streams;
}

interface Load {
  readonly heard: readonly Heard[];
  stop(): Promise<readonly Heard[]>;
}

function startLoad(url: string, accounts: readonly TestAccount[]): Load {
  const heard: Heard[] = [];
  let working = true;
  const callers = Array.from({ length: CALLERS }, async (_, index) => {
    for (let round = index; working; round += 1) {
      const account = accounts[round % accounts.length] as TestAccount;
      const path = DIALECTS[round % 2] as string;
      const call = await listen({ url: url + path, account, stream: round % 4 < 2 });
      heard.push(call);
      // A client that was refused does not retry at once.
      if (call.status !== 200) await sleep(50);
    }
  });
  return {
    heard,
    async stop() {
      working = false;
      await Promise.all(callers);
      return heard;
    },
  };
}

function backAt(heard: readonly Heard[], struckAt: number): number | undefined {
  const calls = heard.filter(({ startedAt, status, whole }) => startedAt > struckAt && status === 200 && whole);
  return calls.length === 0 ? undefined : Math.min(...calls.map(({ endedAt }) => endedAt));
}

/** Checks when the holds of calls that broke off are gone. */
function watchHolds(store: Store, listHeard: () => readonly Heard[], struckAt: number) {
  let [watching, lastHeld] = [true, struckAt];
  const turn = async () => {
    while (watching) {
      const cut = listHeard().filter(({ requestId, whole }) => requestId !== undefined && !whole);
      const charges = await Promise.all(
        cut.map(({ requestId = '' }) => store.ledger.charge(requestId).catch(() => undefined)),
      );
      if (charges.some((charge) => charge?.state === 'held')) lastHeld = performance.now();
      await sleep(50);
    }
  };
  const turning = turn();
  return {
    async stop() {
      watching = false;
      await turning;
      return lastHeld - struckAt;
    },
  };
}

interface Evidence {
  readonly topology: Topology;
  readonly struckAt: number;
  readonly heard: readonly Heard[];
  /** Calls that must be fast. */
  readonly short: readonly Heard[];
}

async function judge({ topology: { books, cluster, accounts }, struckAt, heard, short }: Evidence) {
  const problems: string[] = [];
  const nothingHeld = async () => (await books.held()) === 0n;
  await until(nothingHeld, LEASE_MS + 10_000).catch(() => problems.push('something is still held'));
  const { told, wrong } = await compare(books.store, heard);
  problems.push(...wrong, ...(await findDoubles(books.store, accounts)));
  const verdict = await verify(cluster.url);
  if (verdict.ok !== true || verdict.drift_rub !== 0) problems.push(`ledger verify: ${JSON.stringify(verdict)}`);
  const statuses: Record<string, number> = {};
  for (const { status, whole } of heard) {
    const name = status !== 0 && !whole ? 'cut' : String(status);
    statuses[name] = (statuses[name] ?? 0) + 1;
  }
  const slowestMs = Math.max(...short.map(({ startedAt, endedAt }) => endedAt - startedAt));
  const backMs = (backAt(heard, struckAt) ?? Number.POSITIVE_INFINITY) - struckAt;
  return { calls: heard.length, told, statuses, slowestMs, backMs, problems };
}

/** Charges that the journal starts or ends more than once. */
async function findDoubles({ ledger }: Store, accounts: readonly TestAccount[]): Promise<readonly string[]> {
  const seen = new Set<string>();
  const doubles: string[] = [];
  for (const { id } of accounts) {
    let before: number | undefined;
    while (before !== 1) {
      const page = await ledger.entries(id, { limit: 500, ...(before !== undefined && { before }) });
      for (const { charge, kind } of page) {
        if (charge === null) continue;
        const name = `${charge} ${kind === 'reserve' ? 'begins' : 'ends'}`;
        if (seen.has(name)) doubles.push(`${name} twice in the journal`);
        seen.add(name);
      }
      before = page.at(-1)?.seq ?? 1;
    }
  }
  return doubles;
}

/** Like an operator would. */
async function verify(url: string): Promise<Record<string, unknown>> {
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: url };
  const { stdout } = await spawnChild(process.execPath, [CLI, 'ledger', 'verify', '--json'], env).exit;
  return JSON.parse(stdout);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
