// The chores: expired things are removed, the ledger is verified, and failures are logged.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock } from 'node:test';
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { buildCatalog } from '../../lib/catalog/catalog.ts';
import { readCatalogFiles } from '../../lib/catalog/files.ts';
import { createLog, type Log } from '../../lib/http/log.ts';
import { readLastAudit } from '../../lib/ledger/last-audit.ts';
import { createMetrics, type Metrics } from '../../lib/metrics/metrics.ts';
import { type Chore, createChores, openUsage } from '../../lib/start/chores.ts';
import { until } from '../../testkit/client.ts';
import { parseExposition } from '../../testkit/exposition.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { AT, newId } from '../contract/store/context.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';

/** Longer than any pause of a cleaner, and shorter than an hour. */
const CLEANED_MS = 450_000;

describe('chores', () => {
  let opened: FaultyStore;
  let log: Log;
  let logFile: string;
  let metrics: Metrics;
  let chores: Chore;
  let steps: string[];

  beforeEach(async () => {
    opened = await openFaultyStore();
    logFile = join(dirname(opened.path), 'log');
    log = createLog({ level: 'info', keyPrefix: 'tg-', destination: logFile });
    metrics = createMetrics({ catalog: () => buildCatalog(readCatalogFiles([], []), new Map()), routes: () => [] });
    steps = [];
    const more = [{ start: () => steps.push('start'), stop: () => steps.push('stop') }];
    chores = createChores({ store: opened.store, log, metrics, more });
  });
  afterEach(async () => {
    chores.stop();
    await log.written();
    await opened.close();
  });

  /** Starts them and lets so much time pass at once, for them alone; what they do then goes on by itself. */
  function pass(ms: number, onStarted: () => void = () => undefined): void {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    try {
      chores.start();
      onStarted();
      mock.timers.tick(ms);
    } finally {
      mock.timers.reset();
    }
  }

  async function logged(): Promise<readonly Record<string, unknown>[]> {
    await log.written();
    // The log makes its file when it can.
    const lines = existsSync(logFile) ? readFileSync(logFile, 'utf8').split('\n') : [];
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  }
  const messages = async () => (await logged()).map(({ msg }) => msg);
  const metric = async (name: string) => parseExposition(await metrics.scrape()).sum(name);

  /** Wallets with money that no entry gave them. */
  async function addWrong(count: number): Promise<void> {
    const autoTopup = { enabled: false, amount: 0n, threshold: 0n };
    const accounts = Array.from({ length: count }, () => ({
      id: newId('acc'),
      name: 'wrong',
      createdAt: AT,
      autoTopup,
    }));
    await opened.real.accounts.put(accounts);
    const db = new DatabaseSync(opened.path, { timeout: 5000 });
    db.exec('UPDATE wallets SET avail = 5, adjusted = 5, seq = 1 WHERE seq = 0');
    db.close();
  }

  it('remove expired media and idempotency keys, and count the media', async () => {
    const { media, idempotency } = opened.real;
    const expiresAt = Date.now() - 1;
    const gone = await media.write(newMedia({ expiresAt }), piecesOf(Buffer.from('gone')));
    const left = await media.write(newMedia({ expiresAt: Date.now() + HOUR_MS }), piecesOf(Buffer.from('left')));
    const key = { wallet: 'w', charge: 'c', body: 'b', awaited: false, reply: null };
    await idempotency.put([{ ...key, id: 'gone', expiresAt }]);
    pass(CLEANED_MS);
    await until(async () => !(await media.get(gone.id)) && !(await idempotency.get('gone')));
    await until(async () => (await metric('tollgate_media_files_removed_total')) === 1);
    expect(await media.get(left.id)).to.deep.equal(left);
    expect(await messages()).to.deep.equal([]);
    expect(await readLastAudit(opened.real)).to.equal(undefined);
  });

  it('verify changes of the ledger every hour, and log nothing while it adds up', async () => {
    const wallet = await opened.wallet();
    pass(HOUR_MS);
    await until(async () => (await metrics.scrape()).includes('tollgate_ledger_problems{audit="last"} 0'));
    expect(await readLastAudit(opened.real)).to.include({ problems: 0 });
    const { found } = await opened.real.checkpoints.changes('', 10);
    expect(found, `${wallet} is read again only once it has changed`).to.deep.equal([]);
    expect(await messages()).to.deep.equal([]);
  });

  it('log the first problems of the ledger and count all', async () => {
    await addWrong(10);
    pass(HOUR_MS);
    await until(async () => (await messages()).includes('the ledger does not add up'));
    const { problems: count = 0 } = (await readLastAudit(opened.real)) ?? {};
    expect(count).to.be.greaterThan(20);
    expect(await metric('tollgate_ledger_problems')).to.equal(count);
    const [line] = await logged();
    expect(line).to.include({ level: 'error' });
    expect(line?.problems).to.have.length(20);
  });

  it('continue after a store failure and log it', async () => {
    opened.always('media.clean', refuse);
    opened.always('idempotency.clean', refuse);
    opened.always('checkpoints.changes', refuse);
    pass(HOUR_MS);
    const wanted = [
      'could not finish the audit of the ledger',
      'could not remove expired idempotency keys',
      'could not remove expired media',
    ];
    await until(async () => (await messages()).length === wanted.length);
    expect((await messages()).toSorted()).to.deep.equal(wanted);
    expect((await logged()).map(({ level }) => level)).to.deep.equal(['warn', 'warn', 'warn']);
  });

  it('stop together, including added chores', () => {
    const calls: string[] = [];
    for (const name of ['media.clean', 'idempotency.clean', 'checkpoints.changes'] as const) {
      opened.always(name, (call) => {
        calls.push(name);
        return call();
      });
    }
    pass(2 * HOUR_MS, () => chores.stop());
    expect(calls).to.deep.equal([]);
    expect(steps).to.deep.equal(['start', 'stop']);
  });

  it('fold the usage of wallets left behind if asked to, and log failures', async () => {
    const wallet = await opened.wallet();
    await openUsage(opened.store, log, { sweeps: false }).fold();
    expect((await opened.real.usage.progress(wallet)).cursor).to.equal(0);
    opened.next('usage.findBehind', refuse);
    await openUsage(opened.store, log, { sweeps: true }).fold();
    expect(await messages()).to.deep.equal(['could not update the usage sums']);
    await openUsage(opened.store, log, { sweeps: true }).fold();
    expect((await opened.real.usage.progress(wallet)).cursor).to.equal(1);
  });
});
