// Opening, closing and copying a store.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { READS, WRITES } from '../../../lib/store/port-calls.ts';
import { StoreError } from '../../../lib/store/store.ts';
import {
  applied,
  everythingOf,
  newAccount,
  newId,
  newWallet,
  rejection,
  reserve,
  type StoreKind,
  settle,
  statuses,
  useStore,
} from './context.ts';

export function lifecycleContract(kind: StoreKind): void {
  const context = useStore(kind);
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('answers a ping', async () => {
    expect(await context.store.ping()).to.equal(undefined);
  });

  it('has exactly the listed calls', () => {
    for (const port of Object.keys(READS) as (keyof typeof READS)[]) {
      const calls = Object.entries(context.store[port]).filter(([, call]) => typeof call === 'function');
      const names = calls.map(([name]) => name);
      expect(names, port).to.have.members([...READS[port], ...WRITES[port]]);
    }
  });

  it('keeps everything after it is closed and reopened', async () => {
    const first = await context.open();
    const wallet = await newWallet(first);
    const chargeId = newId('req');
    await applied(first, reserve(wallet, { chargeId }));
    await first.settings.set(wallet, 'kept');
    const before = await everythingOf(first, wallet);
    await first.close();
    const second = await context.open();
    expect(await everythingOf(second, wallet)).to.deep.equal(before);
    expect(await second.settings.get(wallet)).to.equal('kept');
    expect(await statuses(second, settle(wallet, chargeId))).to.deep.equal(['done']);
  });

  it('finishes calls sent before a close, and refuses later ones', async () => {
    const closing = await context.open();
    const account = await newAccount(closing);
    const sent = closing.settings.set(account, 'sent');
    await closing.close();
    await sent;
    expect(await context.store.settings.get(account)).to.equal('sent');
    for (const call of [closing.ping(), closing.settings.set('a', 'b'), closing.accounts.list()]) {
      expect(await rejection(call))
        .to.be.instanceOf(StoreError)
        .with.property('applied', 'no');
    }
    await closing.close();
  });

  it('finishes a backup before it closes', async () => {
    const closing = await context.open();
    const file = join(folder, 'last');
    const saved = closing.backup(file);
    await closing.close();
    await saved;
    expect(statSync(file).size).to.be.greaterThan(0);
  });

  it('can be opened several times at once', async () => {
    const stores = await Promise.all([context.open(), context.open(), context.open()]);
    const wallet = await newWallet(context.store);
    for (const store of stores) expect(await statuses(store, reserve(wallet))).to.deep.equal(['done']);
  });

  describe('backup', () => {
    it('writes a new file while the store is in use', async () => {
      const { store } = context;
      const wallet = await newWallet(store, 100_000n);
      let writing = true;
      const writer = (async () => {
        while (writing) await applied(store, reserve(wallet));
      })();
      try {
        const file = join(folder, 'copy');
        await store.backup(file);
        expect(statSync(file).size).to.be.greaterThan(0);
      } finally {
        writing = false;
        await writer;
      }
    });

    it('refuses an existing file and leaves it unchanged', async () => {
      const file = join(folder, 'precious');
      writeFileSync(file, 'precious');
      expect(await rejection(context.store.backup(file))).to.be.instanceOf(Error);
      expect(readFileSync(file, 'utf8')).to.equal('precious');
    });

    it('leaves nothing behind if it cannot write', async () => {
      const file = join(folder, 'no', 'such', 'folder', 'copy');
      expect(await rejection(context.store.backup(file))).to.be.instanceOf(Error);
      expect(existsSync(file)).to.equal(false);
    });
  });
}
