// SQLite stores of several real processes: a busy neighbour, a full disk, a process that is killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import { itLong, longer } from '../../../testkit/long.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { newAccount, newWallet, reserve, statuses, walletOf } from '../../contract/store/context.ts';
import { useFolder } from './folder.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
/** In blocks of 1 KiB: room for the tables and some thousand rows. */
const FILE_BLOCKS_MAX = 2048;

interface Filled {
  readonly acknowledged: readonly string[];
  readonly open: readonly string[];
  readonly name: string;
  readonly applied: string;
  readonly seq: number;
}

describe('sqlite store and other processes', () => {
  const folder = useFolder();
  const children: ChildProcess[] = [];
  after(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  function start(setup: string, ...words: string[]): ChildProcess {
    const command = ['-c', `${setup} exec "$0" "$@"`, process.execPath, CHILD, ...words];
    const child = spawn('bash', command, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    children.push(child);
    return child;
  }

  itTimed('can write beside a process that never pauses', async () => {
    const path = folder.file();
    const store = await folder.open(path);
    const wallet = await newWallet(store);
    const busy = await newWallet(store);
    const child = start('', 'busy', path, busy);
    await once(child, 'message');
    const from = performance.now();
    for (let turn = 0; turn < longer(12, 20); turn += 1) {
      await newAccount(store);
      expect(await statuses(store, reserve(wallet))).to.deep.equal(['done']);
    }
    expect(performance.now() - from, 'ms for all writes').to.be.lessThan(10_000);
    const written = (await walletOf(store, busy)).seq;
    expect(written, 'the other has its turns too').to.be.greaterThan(64);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await verifyLedger(store)).problems).to.deep.equal([]);
  }).timeout(60_000);

  it('fails clearly on a full disk, still reads, and keeps everything acknowledged', async () => {
    const path = folder.file();
    const store = await folder.open(path);
    const wallet = await newWallet(store);
    await store.close();
    // A limit on the size of files stands for a full disk; its signal is ignored, so that the write fails.
    const child = start(`trap '' XFSZ; ulimit -f ${FILE_BLOCKS_MAX};`, 'fill', path, wallet);
    const [filled] = (await once(child, 'message')) as [Filled];
    await once(child, 'exit');
    expect(filled.name).to.equal('StoreError');
    // The rows fit into memory, so the commit fails: the log may contain all of it, or not.
    expect(filled.applied).to.equal('unknown');
    expect(filled.acknowledged.length).to.be.greaterThan(100);
    expect(filled.seq).to.equal(filled.acknowledged.length + 1);
    const again = await folder.open(path);
    for (const id of filled.acknowledged) expect((await again.ledger.charge(id))?.state).to.equal('held');
    const batch = filled.open.map((chargeId) => reserve(wallet, { chargeId, amount: 1n }));
    for (const outcome of await again.ledger.apply(batch)) expect(outcome?.status).to.be.oneOf(['done', 'exists']);
    expect((await walletOf(again, wallet)).held).to.equal(BigInt(filled.acknowledged.length + filled.open.length));
    expect((await verifyLedger(again)).problems).to.deep.equal([]);
  }).timeout(60_000);

  itLong('ends a thread whose transaction cannot be rolled back, and continues with another', async () => {
    const patch =
      'import { DatabaseSync } from "node:sqlite"; const { exec } = DatabaseSync.prototype; ' +
      'DatabaseSync.prototype.exec = function (sql) { ' +
      'if (sql === "ROLLBACK") throw new Error("no way back"); return exec.call(this, sql); };';
    const child = start(
      `export NODE_OPTIONS='--import=data:text/javascript,${encodeURIComponent(patch)}';`,
      'twice',
      folder.file(),
    );
    const [told] = await once(child, 'message');
    await once(child, 'exit');
    expect(told).to.deep.equal({ applied: 'unknown', last: 'done' });
  });

  it('keeps no idle process alive', async () => {
    for (const task of longer(['forget'], ['open', 'forget'])) {
      const [code] = await once(start('', task, folder.file()), 'exit');
      expect(code, task).to.equal(0);
    }
  });
});
