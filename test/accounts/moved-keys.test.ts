// Keys from another gateway at the door: found by their own form, and garbage of that form costs no look-up of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createHolders } from '../../lib/accounts/holders.ts';
import { hashKey } from '../../lib/accounts/key.ts';
import { isMovedKey, noteMovedKeys, toMovedKey } from '../../lib/accounts/moved-keys.ts';
import { isFault } from '../../lib/base/faults.ts';
import { openStore } from '../../lib/store/open.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';

const KEY = `sk-${'aB3dE5gH7jK9mN1p'.repeat(3)}`;

describe('keys that moved in', () => {
  let folder: string;
  let store: Store;
  let reads: string[];
  let fails = false;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-moved-'));
    store = await openStore(`sqlite:${join(folder, 'test.db')}`, { inProcess: true });
    await store.accounts.create({ id: 'acc_1', name: 'n', createdAt: 1 });
    const row = { id: 'key_1', account: 'acc_1', name: 'n', hash: hashKey(KEY), last4: KEY.slice(-4), createdAt: 1 };
    await store.keys.add(row, 1);
  });
  beforeEach(() => {
    reads = [];
    fails = false;
  });
  after(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  function open(prefix = 'tg-') {
    const read = <Value>(what: string, value: () => Promise<Value>) => {
      reads.push(what);
      return fails ? Promise.reject(new StoreError('gone', 'no')) : value();
    };
    const keys = { ...store.keys, find: (hash: string) => read('key', () => store.keys.find(hash)) };
    const settings = { ...store.settings, get: (name: string) => read('setting', () => store.settings.get(name)) };
    return createHolders({ store: { keys, settings }, prefix });
  }

  it('are unknown until they are noted', async () => {
    const holders = open();
    expect(await holders.find(KEY)).to.equal(undefined);
    await noteMovedKeys(store, [hashKey(KEY)]);
    expect(holders.find(KEY), 'known within some seconds').to.equal(undefined);
    expect(reads).to.deep.equal(['setting']);
    await holders.close();
  });

  for (const prefix of ['tg-', '', 'four']) {
    it(`are found with the prefix "${prefix}", and others cost no further read`, async () => {
      const holders = open(prefix);
      expect(await holders.find(KEY)).to.include({ id: 'key_1' });
      expect(reads).to.deep.equal(['setting', 'key']);
      expect(holders.find(KEY)).to.include({ id: 'key_1' });
      for (let id = 0; id < 300; id += 1)
        expect(holders.find(`sk-${String(id).padStart(48, 'x')}`)).to.equal(undefined);
      expect(reads).to.deep.equal(['setting', 'key']);
      await holders.close();
    });
  }

  it('share one read among many at once', async () => {
    const holders = open();
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, id) => holders.find(`sk-${String(id).padStart(48, 'y')}`)),
    );
    expect(new Set(all)).to.deep.equal(new Set([undefined]));
    expect(reads).to.deep.equal(['setting']);
    await holders.close();
  });

  it('are neither known nor refused while the store does not answer', async () => {
    const holders = open();
    fails = true;
    const error = await Promise.resolve(holders.find(KEY)).catch((caught: unknown) => caught);
    expect(isFault(error) && error.data?.code).to.equal('store_unavailable');
    fails = false;
    expect(await holders.find(KEY)).to.include({ id: 'key_1' });
    await holders.close();
  });

  it('are noted once, also by two commands at once', async () => {
    const hashes = Array.from({ length: 200 }, (_, id) => hashKey(`k${id}`));
    await Promise.all([noteMovedKeys(store, hashes.slice(0, 100)), noteMovedKeys(store, hashes.slice(100))]);
    await noteMovedKeys(store, hashes);
    const text = await store.settings.get('moved-keys');
    expect(Buffer.from(text ?? '', 'base64')).to.have.length(4 * 201);
  });

  it('have a form of their own', () => {
    expect(toMovedKey(` ${KEY.slice(3)} `)).to.equal(KEY);
    for (const length of [16, 157]) expect(toMovedKey('x'.repeat(length))).to.equal(`sk-${'x'.repeat(length)}`);
    for (const secret of ['', 'x'.repeat(15), 'x'.repeat(158), `${'x'.repeat(20)} y`, `${'x'.repeat(20)}ä`]) {
      expect(toMovedKey(secret), secret).to.equal(undefined);
    }
    for (const text of ['', 'sk-', KEY.slice(3), `tg-${KEY}`, 'x'.repeat(1e6)])
      expect(isMovedKey(text)).to.equal(false);
  });
});
