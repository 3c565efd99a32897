// The look-up of keys on a real store: cached, shared, bounded, and never older than a revocation may be.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Accounts, createAccounts } from '../../lib/accounts/accounts.ts';
import { createHolders, type Holders, type HoldersOptions } from '../../lib/accounts/holders.ts';
import { makeKey } from '../../lib/accounts/key.ts';
import { isFault } from '../../lib/base/faults.ts';
import { openStore } from '../../lib/store/open.ts';
import type { KeyStore } from '../../lib/store/ports/keys.ts';
import type { Store } from '../../lib/store/store.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('holders', () => {
  let folder: string;
  let store: Store;
  let accounts: Accounts;
  let reads: number;
  let beforeRead: () => Promise<void>;
  let afterRead: () => Promise<void>;
  let keys: KeyStore;
  const opened: Holders[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-holders-'));
    store = await openStore(`sqlite:${join(folder, 'test.db')}`, { inProcess: true });
    accounts = createAccounts({ store, keyPrefix: 'tg-' });
    const real = store.keys;
    keys = {
      ...real,
      find: async (hash) => {
        reads += 1;
        await beforeRead();
        const row = await real.find(hash);
        await afterRead();
        return row;
      },
    };
  });

  beforeEach(() => {
    reads = 0;
    beforeRead = async () => {};
    afterRead = async () => {};
  });

  after(async () => {
    for (const holders of opened) await holders.close();
    await store.close();
    await rm(folder, { recursive: true });
  });

  function open(options: Partial<HoldersOptions> = {}): Holders {
    const holders = createHolders({ store: { keys, settings: store.settings }, prefix: 'tg-', ...options });
    opened.push(holders);
    return holders;
  }

  async function issue() {
    const { id: account } = await accounts.create('holder');
    return { account, ...(await accounts.issueKey(account, 'key')) };
  }

  it('finds a holder by one read, then answers from the cache', async () => {
    const holders = open();
    const { account, id, key } = await issue();
    const first = holders.find(key);
    expect(first).to.be.instanceOf(Promise);
    expect(await first).to.deep.include({ id, account, accountStatus: 'active', requestsCount: 0 });
    expect(holders.find(key)).to.deep.include({ id, account });
    expect(reads).to.equal(1);
  });

  it('rejects malformed keys without a read', () => {
    const holders = open();
    const key = makeKey('tg-');
    const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (const text of ['', 'tg-sk-', 'Bearer x', makeKey('xx-'), `${key.slice(0, -1)}!`, typo, 'x'.repeat(1e6)]) {
      expect(holders.find(text)).to.equal(undefined);
    }
    expect(reads).to.equal(0);
  });

  it('shares one read among concurrent look-ups', async () => {
    const holders = open();
    const { id, key } = await issue();
    const found = await Promise.all(Array.from({ length: 50 }, () => holders.find(key)));
    expect(found.every((holder) => holder?.id === id)).to.equal(true);
    expect(reads).to.equal(1);
  });

  it('caches unknown keys in a small cache that evicts no holder', async () => {
    const holders = open({ holdersMax: 1 });
    const { id, key } = await issue();
    await holders.find(key);
    const unknown = makeKey('tg-');
    expect(await holders.find(unknown)).to.equal(undefined);
    expect(holders.find(unknown)).to.equal(undefined);
    expect(reads).to.equal(2);
    for (let round = 0; round < 20; round += 1) await holders.find(makeKey('tg-'));
    expect(holders.find(key)).to.deep.include({ id });
    expect(reads).to.equal(22);
  });

  it('limits the number of cached holders', async () => {
    const holders = open({ holdersMax: 2 });
    const issued = [await issue(), await issue(), await issue()];
    for (const { key } of issued) await holders.find(key);
    await holders.find(issued[0]!.key);
    expect(reads).to.equal(4);
    expect(holders.find(issued[2]!.key)).to.deep.include({ id: issued[2]!.id });
  });

  it('reads a row again once it is too old', async () => {
    const holders = open({ ttlMs: 20 });
    const { key } = await issue();
    await holders.find(key);
    await sleep(25);
    expect(holders.find(key)).to.be.instanceOf(Promise);
    expect(reads).to.equal(2);
  });

  it('finds a holder again without the key’s text, until the key is revoked', async () => {
    const holders = open({ ttlMs: 200 });
    const { id, key } = await issue();
    const holder = (await holders.find(key))!;
    expect(holders.findAgain(holder)).to.deep.include({ id });
    expect(reads).to.equal(1);
    await accounts.revokeKey(id);
    await sleep(205);
    expect(await holders.findAgain(holder)).to.equal(undefined);
    expect(reads).to.equal(2);
  });

  itTimed('rejects a revoked key and reports a suspended account within a second, in steady use', async () => {
    const holders = open();
    const revoked = await issue();
    const suspended = await issue();
    const stopUse = new AbortController();
    const use = (async () => {
      while (!stopUse.signal.aborted) {
        await Promise.all([holders.find(revoked.key), holders.find(suspended.key)]);
        await sleep(5);
      }
    })();
    try {
      await sleep(50);
      await accounts.revokeKey(revoked.id);
      await accounts.suspend(suspended.account);
      const start = performance.now();
      while ((await holders.find(revoked.key)) !== undefined) await sleep(10);
      while ((await holders.find(suspended.key))?.accountStatus !== 'suspended') await sleep(10);
      expect(performance.now() - start).to.be.below(1000);
      await accounts.resume(suspended.account);
      while ((await holders.find(suspended.key))?.accountStatus !== 'active') await sleep(10);
    } finally {
      // A use that goes on would keep the run alive.
      stopUse.abort();
      await use;
    }
    expect(reads).to.be.below(20);
  });

  it('neither joins nor uses a read that started too long ago', async () => {
    const holders = open({ ttlMs: 30 });
    const { id, key } = await issue();
    const gate = Promise.withResolvers<void>();
    afterRead = () => gate.promise;
    const slow = holders.find(key);
    await sleep(40);
    afterRead = async () => {};
    await accounts.revokeKey(id);
    expect(await holders.find(key)).to.equal(undefined);
    expect(reads).to.equal(2);
    gate.resolve();
    expect(await slow).to.deep.include({ id });
    expect(await holders.find(key)).to.equal(undefined);
  });

  it('rejects all waiting look-ups with 503 if the store fails, and reads again for the next', async () => {
    const holders = open();
    const { id, key } = await issue();
    beforeRead = () => Promise.reject(new Error('disk gone'));
    for (const result of await Promise.allSettled([holders.find(key), holders.find(key)])) {
      if (result.status === 'fulfilled' || !isFault(result.reason)) throw new Error('no fault');
      expect(result.reason.data?.code).to.equal('store_unavailable');
      expect(result.reason.output.statusCode).to.equal(503);
    }
    expect(reads).to.equal(1);
    beforeRead = async () => {};
    expect(await holders.find(key)).to.deep.include({ id });
  });

  it('counts usage in the store, and shows each call at once', async () => {
    const holders = open({ ttlMs: 50, flushMs: 15 });
    const { account, id, key } = await issue();
    for (let call = 1; call <= 100; call += 1) {
      const holder = await holders.find(key);
      holders.countUse(id);
      expect(holders.usage(holder!).requestsCount).to.equal(call);
      await sleep(1);
    }
    await holders.close();
    expect(holders.pending(id)).to.equal(0);
    const [row] = await accounts.listKeys(account);
    expect(row?.requestsCount).to.equal(100);
    expect(Date.now() - row!.lastUsedAt!).to.be.within(-5, 2000);
  });
});
