// The drill of docs/operations/backup.md: a service in use is backed up, loses its data, is restored, and continues.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { ask, CHAT, open, send, until } from './client.ts';
import { chatCatalog } from './gateway.ts';
import { makeHome, openBooks, spawnChild, startService } from './process.ts';
import { chatAnswer, chatStall, startUpstream } from './upstream.ts';

const CLI = fileURLToPath(new URL('../lib/cli/main.ts', import.meta.url));
const LEASE_MS = 1000;

interface DrillOptions {
  /** The store that is lost; a SQLite file by default. */
  readonly mongoUrl?: string;
  readonly say: (line: string) => void;
}

/** Rejects if the restored data is not what was backed up. */
export async function runDrill({ mongoUrl, say }: DrillOptions): Promise<void> {
  const upstream = await startUpstream();
  const home = makeHome(chatCatalog(upstream.url));
  const databaseUrl = mongoUrl ?? `sqlite:${home.database}`;
  const settings = { LEASE_MS: String(LEASE_MS), SANDBOX: 'off', LOG_LEVEL: 'error' };
  const env = { ...home.env, ...settings, DATABASE_URL: databaseUrl };
  const file = join(home.folder, 'tollgate-backup.db');
  const shown = { [home.folder]: '…', [databaseUrl.replace(/^sqlite:/, '')]: '$DATABASE' };
  const tollgate = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await spawnChild(process.execPath, [CLI, ...args], env).exit;
    const text = `$ tollgate ${args.join(' ')}\n${stdout}${stderr}`.trimEnd();
    say(Object.entries(shown).reduce((line, [long, short]) => line.replaceAll(long, short), text));
    if (code !== 0) throw new Error(`tollgate ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  };
  try {
    const account = await prepare(env);
    const call = (url: string) => send(url + CHAT, { key: account.key, body: ask('hi') });
    const service = await startService(home, { env });
    upstream.behave(chatAnswer('One.'));
    for (let calls = 0; calls < 5; calls += 1) await call(service.url);
    // One call is running while the copy is made: the copy has its hold.
    upstream.behave(chatStall(['word ']));
    const running = open(service.url + CHAT, { key: account.key, body: ask('hi', { stream: true }) });
    running.on('error', () => undefined);
    await new Promise((resolve) => running.once('response', (response) => response.once('data', resolve)));

    await tollgate('store', 'backup', file);
    upstream.behave(chatAnswer('Two.'));
    await call(service.url);
    service.kill('SIGKILL');
    await service.exit;

    if (mongoUrl === undefined) breakFile(home.database);
    else await dropDatabase(mongoUrl);
    say('# the data is lost');
    if (mongoUrl === undefined) await restoreFile({ file, database: home.database, say });
    else await tollgate('store', 'copy', `sqlite:${file}`, mongoUrl);
    await tollgate('ledger', 'verify');

    const again = await startService(home, { env });
    await whenReturned(env);
    const wallet = JSON.parse(await tollgate('wallet', 'show', account.id, '--json'));
    const spent = wallet.topped_up_total_rub - wallet.balance_rub;
    // Five calls of at least 0.5 RUB each: the sixth came after the copy, the running one was refunded.
    if (wallet.held_rub !== 0 || spent !== 2.5) throw new Error(`the wallet is ${JSON.stringify(wallet)}`);
    const reply = await call(again.url);
    if (reply.status !== 200) throw new Error(`the first call afterwards was answered ${reply.status}`);
    await again.stop();
    await tollgate('ledger', 'verify');
  } finally {
    await upstream.close();
    home.remove();
  }
}

async function prepare(env: Readonly<Record<string, string>>) {
  const books = await openBooks({ env });
  const account = await books.account('1000');
  await books.close();
  return account;
}

async function whenReturned(env: Readonly<Record<string, string>>): Promise<void> {
  const books = await openBooks({ env });
  await until(async () => (await books.held()) === 0n, 30_000);
  await books.close();
}

/** As from a disk that returned garbage. */
function breakFile(database: string): void {
  writeFileSync(database, 'nonsense'.repeat(1000));
}

interface Restore {
  readonly file: string;
  readonly database: string;
  readonly say: (line: string) => void;
}

/** What is left beside the broken file belongs to it, and would be applied to the restored one. */
async function restoreFile({ file, database, say }: Restore): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) rmSync(database + suffix, { force: true });
  const { code, stderr } = await spawnChild('cp', [file, database], { PATH: process.env.PATH ?? '' }).exit;
  if (code !== 0) throw new Error(stderr);
  say('$ rm -f $DATABASE $DATABASE-wal $DATABASE-shm\n$ cp …/tollgate-backup.db $DATABASE');
}

async function dropDatabase(url: string): Promise<void> {
  const client = await MongoClient.connect(url);
  const db = client.db();
  for (const { name } of await db.listCollections().toArray()) await db.dropCollection(name);
  await client.close();
}
