// `npm run bench:pages`: the time and size of each page, on a store with 100,000 calls of one account, 1,000 other
// accounts and ten keys in each. Prints the first request, for which nobody has counted the usage yet, and the median and
// p95 of the rest; fails above the limits.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { eachConcurrently } from '../../lib/base/each-concurrently.ts';
import type { Store } from '../../lib/store/store.ts';
import { until } from '../../testkit/client.ts';
import { chatCatalog, startGateway } from '../../testkit/gateway.ts';
import { createVisitor, setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';

const ENTRIES = 241_100;
const KEYS = 10;
const ROUNDS = 20;
const LARGE = 'acc_large';
const COUNTED_WITHIN_MS = 60_000;
const BOUNDS = { ms: 50, gzipped: 60 * 1024 };
const OWNER = ['', '/keys', '/wallet', '/usage', '/calls', '/models', '/playground', '/settings', '/settings/alerts'];
const OPERATOR = ['', '?span=month', '/accounts', '/calls', '/ledger', '/catalog', '/upstreams', '/audit', '/checks'];

const folder = mkdtempSync(join(tmpdir(), 'tollgate-pages-'));
try {
  const database = `sqlite:${join(folder, 'tollgate.db')}`;
  await once(spawn(process.execPath, ['scripts/fill-ledger.ts', database, `${ENTRIES}`], { stdio: 'inherit' }), 'exit');
  process.exitCode = (await measure(database)) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(database: string): Promise<boolean> {
  const test = await startGateway({ catalog: chatCatalog('http://127.0.0.1:9'), folder, database });
  try {
    await addKeys(test.store);
    const operator = await setUpOperator(test);
    const owner = await setUpOwner(test, LARGE);
    const [{ id: call = '' } = {}] = await test.store.ledger.charges(LARGE, { limit: 1 });
    const ownerPages = [...OWNER, `/calls/${call}`].map((path) => `/account${path}`);
    const searches = ['?search=small_9', `/${LARGE}`].map((query) => `/admin/accounts${query}`);
    const operatorPages = [...OPERATOR.map((path) => `/admin${path}`), ...searches, `/admin/ledger?id=${call}`];
    const assets = await measureAssets(test.url, owner);
    console.log(`styles, scripts and icon: ${kib(assets)} gzipped, once\n`);
    console.log('page                                    first ms    p50    p95   gzipped');
    const rows: boolean[] = [];
    // As in a copy of a store: the usage of all these calls is not counted.
    await test.store.usage.forget(LARGE);
    for (const path of ownerPages) rows.push(await measurePage(owner, path, assets));
    for (const path of operatorPages) rows.push(await measurePage(operator, path, assets));
    rows.push(await measurePage(createVisitor(test.url), '/login', assets));
    await usageIsCounted(test.store);
    for (const by of ['day', 'key']) rows.push(await measurePage(owner, `/account/usage?by=${by}`, assets));
    return rows.every(Boolean);
  } finally {
    await test.stop();
  }
}

async function addKeys(store: Store): Promise<void> {
  const accounts = await store.accounts.list();
  const keys = accounts.flatMap(({ id: account }) => Array.from({ length: KEYS }, (_, index) => ({ account, index })));
  await eachConcurrently(keys, 50, async ({ account, index }) => {
    const id = account === LARGE && index === 0 ? 'key_1' : `key_${account}_${index}`;
    const key = { id, account, name: `key ${index}`, hash: `hash of ${id}`, last4: 'abcd', createdAt: Date.now() };
    await store.keys.add(key, KEYS);
  });
  console.log(`${accounts.length} accounts, ${keys.length} keys`);
}

async function usageIsCounted({ ledger, usage }: Store): Promise<void> {
  const end = (await ledger.wallet(LARGE))?.seq ?? 0;
  await until(async () => (await usage.cursor(LARGE)) >= end, COUNTED_WITHIN_MS);
}

async function measurePage(visitor: Visitor, path: string, assets: number): Promise<boolean> {
  const times: number[] = [];
  let gzipped = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    const reply = await visitor.get(path);
    times.push(performance.now() - startedAt);
    if (reply.status !== 200) throw new Error(`${path} was answered ${reply.status}`);
    gzipped = gzipSync(reply.text).length;
  }
  const [first = 0, ...rest] = times;
  rest.sort((a, b) => a - b);
  const [p50, p95] = [0.5, 0.95].map((share) => rest[Math.floor(rest.length * share)] as number) as [number, number];
  const fits = Math.max(first, p95) <= BOUNDS.ms && gzipped + assets <= BOUNDS.gzipped;
  const figures = [first, p50, p95].map((ms) => ms.toFixed(1).padStart(7)).join('');
  console.log(`${path.padEnd(40)} ${figures}  ${kib(gzipped)}${fits ? '' : '  BROKEN'}`);
  return fits;
}

/** The size of everything that a page loads, as if each page loaded it all. */
async function measureAssets(url: string, visitor: Visitor): Promise<number> {
  const pages = [await visitor.get('/account'), await visitor.get('/account/playground')];
  const paths = new Set(
    pages.flatMap(({ text }) => [...text.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map(([, path]) => path)),
  );
  let sum = 0;
  for (const path of paths) sum += gzipSync(await (await fetch(`${url}${path}`)).text()).length;
  return sum;
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}
