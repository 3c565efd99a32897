// API keys: a maximum that holds, revocation, look-up by hash, counters.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { NO_LIMITS } from '../../../lib/money/key-limits.ts';
import type { KeyRow } from '../../../lib/store/ports/keys.ts';
import type { Store } from '../../../lib/store/store.ts';
import { AT, newAccount, newId, type StoreContext, type StoreKind, useStore } from './context.ts';

const MAX = 10;
const UNUSED = { revokedAt: null, requestsCount: 0, lastUsedAt: null, limits: NO_LIMITS };

export function keyContract(kind: StoreKind): void {
  const context = useStore(kind);
  addTests(context);
  describe('revocation', () => revocationTests(context));
  describe('counters', () => counterTests(context));
}

function newKey(account: string, createdAt = AT): Parameters<Store['keys']['add']>[0] {
  const id = newId('key');
  return { id, account, name: 'laptop', hash: createHash('sha256').update(id).digest('hex'), last4: 'Ab9z', createdAt };
}

async function addKey(store: Store, account: string): Promise<KeyRow> {
  const key = newKey(account);
  expect(await store.keys.add(key, MAX)).to.equal('added');
  return { ...key, ...UNUSED };
}

function addTests(context: StoreContext): void {
  it('finds a key by its hash, with the status of its account', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const key = await addKey(store, account);
    expect(await store.keys.find(key.hash)).to.deep.equal({ ...key, accountStatus: 'active' });
    await store.accounts.setStatus(account, 'suspended');
    expect(await store.keys.find(key.hash)).to.deep.equal({ ...key, accountStatus: 'suspended' });
    expect(await store.keys.find('0'.repeat(64))).to.equal(undefined);
  });

  it('lists the keys of one account', async () => {
    const { store } = context;
    const [account, other] = [await newAccount(store), await newAccount(store)];
    await addKey(store, other);
    const [first, second] = [newKey(account, AT + 1), newKey(account, AT)];
    await store.keys.add(first, MAX);
    await store.keys.add(second, MAX);
    const listed = await store.keys.list(account);
    expect(listed.map((row) => row.id)).to.deep.equal([second.id, first.id]);
    expect(listed[0]).to.deep.equal({ ...second, ...UNUSED });
    expect(await store.keys.list(newId('acc'))).to.deep.equal([]);
  });

  it('adds no key to an account that is not there', async () => {
    const key = newKey(newId('acc'));
    expect(await context.store.keys.add(key, MAX)).to.equal('no_account');
    expect(await context.store.keys.find(key.hash)).to.equal(undefined);
  });

  it('adds no more than the maximum', async () => {
    const { store } = context;
    const account = await newAccount(store);
    for (let count = 0; count < MAX; count += 1) await addKey(store, account);
    expect(await store.keys.add(newKey(account), MAX)).to.equal('too_many');
    expect(await store.keys.list(account)).to.have.length(MAX);
    expect(await store.keys.add(newKey(account), MAX + 1)).to.equal('added');
  });

  it('holds the maximum when several openers add at once', async () => {
    const openers = [context.store, await context.open()];
    const account = await newAccount(context.store);
    const tries = Array.from({ length: 24 }, (_, index) => openers[index % 2]?.keys.add(newKey(account), MAX));
    const results = await Promise.all(tries);
    expect(results.filter((result) => result === 'added')).to.have.length(MAX);
    expect(results.filter((result) => result === 'too_many')).to.have.length(24 - MAX);
    expect(await context.store.keys.list(account)).to.have.length(MAX);
  });

  it('keeps the limits it was given, and the new ones of a key that is still active', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const limits = {
      budget: 10n ** 15n,
      reset: 'week',
      zone: 'Asia/Omsk',
      expiresAt: AT + 50,
      models: ['a', 'b'],
    } as const;
    const key = { ...newKey(account), limits };
    expect(await store.keys.add(key, MAX)).to.equal('added');
    const row = { ...key, ...UNUSED, limits };
    expect(await store.keys.get(key.id)).to.deep.equal(row);
    expect(await store.keys.find(key.hash)).to.deep.equal({ ...row, accountStatus: 'active' });
    expect(await store.keys.limit(key.id, { ...NO_LIMITS, expiresAt: AT + 60 }, AT + 49)).to.equal('limited');
    const other = await context.open();
    expect(await other.keys.list(account)).to.deep.equal([{ ...row, limits: { ...NO_LIMITS, expiresAt: AT + 60 } }]);
    expect(await store.keys.limit(key.id, NO_LIMITS, AT + 60)).to.equal('ended');
    expect(await store.keys.limit(key.id, NO_LIMITS, AT + 59)).to.equal('limited');
    await store.keys.revoke(key.id, AT + 70);
    expect(await store.keys.limit(key.id, limits, AT + 1)).to.equal('ended');
    expect(await store.keys.limit(newId('key'), limits, AT + 1)).to.equal('no_key');
    expect(await store.keys.get(newId('key'))).to.equal(undefined);
    expect((await store.keys.get(key.id))?.limits).to.deep.equal(NO_LIMITS);
  });

  it('counts no key that has expired', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const limits = { ...NO_LIMITS, expiresAt: AT + 1 };
    expect(await store.keys.add({ ...newKey(account), limits }, 1)).to.equal('added');
    expect(await store.keys.add(newKey(account), 1)).to.equal('too_many');
    expect(await store.keys.add(newKey(account, AT + 1), 1)).to.equal('added');
  });

  it('counts active keys only', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const keys = [];
    for (let count = 0; count < MAX; count += 1) keys.push(await addKey(store, account));
    await store.keys.revoke(keys[3]?.id ?? '', AT);
    expect(await store.keys.add(newKey(account), MAX)).to.equal('added');
    expect(await store.keys.add(newKey(account), MAX)).to.equal('too_many');
  });
}

function revocationTests(context: StoreContext): void {
  it('is seen by every opener at once, and the key stays to be found', async () => {
    const { store } = context;
    const other = await context.open();
    const account = await newAccount(store);
    const key = await addKey(store, account);
    expect(await store.keys.revoke(key.id, AT + 7)).to.equal('revoked');
    const revoked = { ...key, revokedAt: AT + 7 };
    expect(await other.keys.find(key.hash)).to.deep.equal({ ...revoked, accountStatus: 'active' });
    expect(await other.keys.list(account)).to.deep.equal([revoked]);
  });

  it('happens once and keeps its time', async () => {
    const { store } = context;
    const key = await addKey(store, await newAccount(store));
    const [first, second] = await Promise.all([
      store.keys.revoke(key.id, AT + 1),
      (await context.open()).keys.revoke(key.id, AT + 1),
    ]);
    expect([first, second]).to.have.members(['revoked', 'exists']);
    expect(await store.keys.revoke(key.id, AT + 9)).to.equal('exists');
    expect((await store.keys.find(key.hash))?.revokedAt).to.equal(AT + 1);
  });

  it('does not know a key that was not added', async () => {
    expect(await context.store.keys.revoke(newId('key'), AT)).to.equal('no_key');
  });
}

function counterTests(context: StoreContext): void {
  it('add up, from several openers', async () => {
    const { store } = context;
    const other = await context.open();
    const account = await newAccount(store);
    const [first, second] = [await addKey(store, account), await addKey(store, account)];
    await Promise.all([
      store.keys.use([
        { id: first.id, count: 3, lastUsedAt: AT + 5 },
        { id: second.id, count: 1, lastUsedAt: AT + 6 },
      ]),
      other.keys.use([{ id: first.id, count: 4, lastUsedAt: AT + 9 }]),
    ]);
    const [one, two] = [await store.keys.find(first.hash), await store.keys.find(second.hash)];
    expect([one?.requestsCount, one?.lastUsedAt]).to.deep.equal([7, AT + 9]);
    expect([two?.requestsCount, two?.lastUsedAt]).to.deep.equal([1, AT + 6]);
  });

  it('count a batch once, however often it is sent, and each writer for itself', async () => {
    const { store } = context;
    const key = await addKey(store, await newAccount(store));
    const openers = [store, await context.open()];
    const [mine, theirs] = [newId('writer'), newId('writer')];
    const send = (writer: string, number: number, by = store) =>
      by.keys.use([{ id: key.id, count: 7, lastUsedAt: AT + number }], { writer, number });
    await send(mine, 1);
    await send(mine, 1);
    await send(mine, 1, openers[1]);
    expect((await store.keys.find(key.hash))?.requestsCount).to.equal(7);
    await send(theirs, 1);
    await send(mine, 2);
    await send(mine, 2);
    const found = await store.keys.find(key.hash);
    expect([found?.requestsCount, found?.lastUsedAt]).to.deep.equal([21, AT + 2]);
  });

  it('never put the last use back', async () => {
    const { store } = context;
    const key = await addKey(store, await newAccount(store));
    await store.keys.use([{ id: key.id, count: 1, lastUsedAt: AT + 9 }]);
    await store.keys.use([{ id: key.id, count: 1, lastUsedAt: AT + 2 }]);
    const found = await store.keys.find(key.hash);
    expect([found?.requestsCount, found?.lastUsedAt]).to.deep.equal([2, AT + 9]);
  });

  it('pass over keys that are not there', async () => {
    const { store } = context;
    const key = await addKey(store, await newAccount(store));
    await store.keys.use([
      { id: newId('key'), count: 1, lastUsedAt: AT },
      { id: key.id, count: 1, lastUsedAt: AT },
    ]);
    await store.keys.use([]);
    expect((await store.keys.find(key.hash))?.requestsCount).to.equal(1);
  });
}
