// `npm run bench:pages`: the time and weight of every page of the tour, for each role, on a store with a million calls: half
// of them of one account, the others of 1,000 accounts. Prints the first request, p50 and p95 of the others until their
// first byte, the CPU time of the process and of the database's own for a request, and the weight; exits with 1 above the
// limits, on a busy machine by CPU time. Filled stores are kept in the folder of `--cache`.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ACCESS, type AccountPath, findSight } from '../../lib/console/access.ts';
import type { Store } from '../../lib/store/store.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpTour, TOUR_ENV, type Tour } from '../../testkit/page-tour.ts';
import { setUpMember, type Visitor } from '../../testkit/pages.ts';
import { startMailServer } from '../../testkit/smtp.ts';
import { readOptions } from '../options.ts';
import { LARGE, nameVariedKey } from './fill.ts';
import { openStock } from './growth-stores.ts';
import { readCpu } from './process.ts';

const values = readOptions({
  /** `mongodb` too, or both with a comma. */
  store: { type: 'string', default: 'sqlite' },
  calls: { type: 'string', default: '1000000' },
  /** The p95 of twenty would be the slowest of them, which tells of one collection of garbage. */
  rounds: { type: 'string', default: '41' },
  /** Only pages with this in their path. */
  page: { type: 'string', default: '' },
  cache: { type: 'string', default: fileURLToPath(new URL('../../.cache/growth/', import.meta.url)) },
});
const rounds = Number(values.rounds);

const WALLETS = 1000;
const KEYS = 3;
const BOUNDS = { ms: 50, bytes: 80 * 1024 };

/** A page, and whose it is. */
interface Sight {
  readonly who: string;
  readonly path: string;
  readonly visitor: Visitor;
}

async function main(): Promise<boolean> {
  console.log(`node ${process.version}, ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}`);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pages-'));
  try {
    const fits: boolean[] = [];
    for (const kind of values.store.split(',')) fits.push(await measureStore(kind, folder));
    return fits.every(Boolean);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureStore(kind: string, folder: string): Promise<boolean> {
  const calls = Number(values.calls);
  const entries = 2 * calls + WALLETS + 1;
  const variety = { models: 8, keys: KEYS };
  const filling = { name: `pages-${calls}`, entries, wallets: WALLETS, calls: calls / 2 / WALLETS, variety };
  const stock = await openStock({ kind, entries, cache: values.cache, folder, filling });
  const mail = await startMailServer();
  const env = { ...TOUR_ENV, SMTP_URL: mail.url };
  const test = await startGateway({ catalog: {}, folder: join(folder, `home-${kind}`), database: stock.url, env });
  try {
    const sights = await listSights(test);
    const weigh = createWeigh(test.url);
    console.log(
      `\n${kind}, load ${loadavg()[0]?.toFixed(1)}: ms until the first byte, ms of CPU, of the database too, size, size with its files\n`,
    );
    console.log('who           first    p50    p95    cpu     db      html       all  page');
    const rows: boolean[] = [];
    for (const sight of sights) rows.push(await measurePage(sight, { weigh, server: stock.server }));
    console.log(`${rows.length} pages, ${rows.filter((fits) => !fits).length} above ${BOUNDS.ms} ms or 80 KiB`);
    return rows.every(Boolean);
  } finally {
    await test.stop();
    await mail.stop();
    await stock.stop();
  }
}

/** The stops of the tour, whose busy account is the large one, and its pages as people with other roles see them. */
async function listSights(test: TestGateway): Promise<readonly Sight[]> {
  let isFirst = true;
  const account: TestGateway['account'] = async (rub) => {
    if (!isFirst) return test.account(rub);
    isFirst = false;
    return adoptLarge(test);
  };
  const tour = await setUpTour({ ...test, account });
  const [member, accountant] = [await joinAs(test, 'member'), await joinAs(test, 'accountant')];
  await addKeys(test.store, member.id);
  const seen = new Set<string>();
  const sights = [
    ...tour.stops.map(({ as, path }) => ({
      who: as === 'member' ? 'two accounts' : as,
      path,
      visitor: tour.visitors[as],
    })),
    ...listRolePaths(tour, 'member').map((path) => ({ who: 'member', path, visitor: member })),
    ...listRolePaths(tour, 'accountant').map((path) => ({ who: 'accountant', path, visitor: accountant })),
    ...listFilters()
      .map((path) => ({ who: path.startsWith('/admin') ? 'operator' : 'owner', path }))
      .map((sight) => ({
        ...sight,
        visitor: tour.visitors[sight.who as 'operator' | 'owner'],
      })),
  ];
  return sights.filter(({ who, path }) => {
    const isNew = !seen.has(`${who} ${path}`) && path.includes(values.page);
    seen.add(`${who} ${path}`);
    // Files and the export read everything, and stream it.
    return isNew && !/\.csv|\/export$/.test(path);
  });
}

/** The account of half of all calls, with a key that the tour uses. */
async function adoptLarge({ account, store }: TestGateway) {
  const other = await account('0');
  const key = (await store.keys.list(other.id))[0];
  if (!key) throw new Error('the account has no key');
  await store.keys.revoke(key.id, Date.now());
  return issueFor(store);
}

async function issueFor(store: Store) {
  const { createAccounts } = await import('../../lib/accounts/accounts.ts');
  const { id: keyId, key } = await createAccounts({ store, keyPrefix: 'tg-' }).issueKey(LARGE, 'test key');
  return { id: LARGE, keyId, key };
}

function joinAs(test: TestGateway, role: 'member' | 'accountant') {
  return setUpMember(test, { account: LARGE, role }, `${role}@large.example.com`);
}

/** The keys of the filled calls; a member issued the last one. */
async function addKeys({ keys }: Store, member: string): Promise<void> {
  for (let number = 0; number < KEYS; number += 1) {
    const id = nameVariedKey(LARGE, number);
    const row = {
      id,
      account: LARGE,
      name: `key ${number}`,
      hash: `hash of ${id}`,
      last4: 'abcd',
      createdAt: Date.now(),
    };
    const added = await keys.add({ ...row, ...(number === KEYS - 1 && { createdBy: member }) }, 100);
    if (added !== 'added') throw new Error(`a key was not added: ${added}`);
  }
}

/** What the role table lets them see of the pages that are nobody's own. */
function listRolePaths({ stops }: Tour, role: 'member' | 'accountant'): readonly string[] {
  const paths = Object.keys(ACCESS).filter((path) => !path.includes('{') && findSight(path as AccountPath, role));
  return stops.filter(({ as, route }) => as === 'owner' && paths.includes(route)).map(({ path }) => path);
}

/** Pages with filters that read more. */
function listFilters(): readonly string[] {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const usage = ['by=key', 'by=model&compare=yes', `from=${day}&to=${day}`, 'from=2025-12-01&unit=month'];
  const calls = ['model=model-7', 'state=released', `from=${day}&to=${day}`, `key=${nameVariedKey(LARGE, 1)}`];
  const accounts = ['q=small_9', 'q=someone%40example.com', 'sort=balance', 'filter=silent', 'page=5'];
  return [
    ...usage.map((query) => `/account/usage?${query}`),
    ...calls.map((query) => `/account/calls?${query}`),
    ...accounts.map((query) => `/admin/accounts?${query}`),
    `/admin?day=${day}`,
    ...['model=model-7', 'outcome=failed'].map((query) => `/admin/calls?${query}`),
  ];
}

interface Measuring {
  readonly weigh: Weigh;
  /** The process of the database, if it has one. */
  readonly server: number | undefined;
}

async function measurePage({ who, path, visitor }: Sight, { weigh, server }: Measuring): Promise<boolean> {
  const readServerMs = () => (server === undefined ? 0 : readCpu({ pid: server }) * 1000);
  const serverMs = readServerMs();
  const times: number[] = [];
  const cpu: number[] = [];
  let text = '';
  for (let round = 0; round < rounds; round += 1) {
    const used = process.cpuUsage();
    const startedAt = performance.now();
    const reply = await visitor.get(path);
    times.push(performance.now() - startedAt);
    const { user, system } = process.cpuUsage(used);
    cpu.push((user + system) / 1000);
    if (reply.status >= 500) throw new Error(`${path} was answered ${reply.status}`);
    text = reply.text;
  }
  // It is counted in hundredths of a second.
  const stored = (readServerMs() - serverMs) / rounds;
  const [first = 0, ...rest] = times;
  const at = (list: readonly number[], share: number) =>
    list.toSorted((one, other) => one - other)[Math.ceil(list.length * share) - 1] ?? 0;
  const [p50, p95, work] = [at(rest, 0.5), at(rest, 0.95), at(cpu.slice(1), 0.5)];
  const bytes = Buffer.byteLength(text) + (await weigh(text));
  // Others work on a busy machine, and what a page waits for them says nothing about it.
  const isSlow = (isBusy() ? work + stored : p95) > BOUNDS.ms;
  const fits = !isSlow && bytes <= BOUNDS.bytes;
  const figures = [first, p50, p95, work, stored].map((ms) => ms.toFixed(1).padStart(7)).join('');
  const weight = `${kib(Buffer.byteLength(text))} ${kib(bytes)}`;
  console.log(`${who.padEnd(12)}${figures} ${weight}  ${path}${fits ? '' : '  BROKEN'}`);
  return fits;
}

const isBusy = () => (loadavg()[0] ?? 0) > cpus().length;

/** The bytes of what a page loads, as the gateway sends them to a browser. */
type Weigh = (page: string) => Promise<number>;

function createWeigh(url: string): Weigh {
  const sizes = new Map<string, Promise<number>>();
  const load = async (path: string) =>
    Number((await fetch(`${url}${path}`, { headers: { 'accept-encoding': 'gzip' } })).headers.get('content-length'));
  return async (page) => {
    const paths = new Set([...page.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map(([, path = '']) => path));
    let sum = 0;
    for (const path of paths) {
      const size = sizes.get(path) ?? load(path);
      sizes.set(path, size);
      sum += await size;
    }
    return sum;
  };
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`.padStart(9);
}

process.exitCode = (await main()) ? 0 : 1;
