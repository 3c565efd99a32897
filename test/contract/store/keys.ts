// API keys: a maximum that holds, revocation, look-up by hash, counters.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { NO_LIMITS } from '../../../lib/money/key-limits.ts';
import type { KeyRow } from '../../../lib/store/ports/keys.ts';
import { type Store, StoreError } from '../../../lib/store/store.ts';
import { itLong, longer } from '../../../testkit/long.ts';
import { AT, findWrong, newAccount, newId, RUB, type StoreContext, UNUSED } from './context.ts';

const MAX = 10;
export function keyContract(context: StoreContext): void {
  addTests(context);
  describe('replacement', () => replacementTests(context));
  describe('revocation', () => revocationTests(context));
  describe('counters', () => counterTests(context));
}

function newKey(account: string, createdAt = AT) {
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

  it('lists the ids of accounts with keys, each once, for any limit', async () => {
    const { store } = context;
    const first = await newAccount(store);
    const none = await newAccount(store);
    const second = await newAccount(store);
    for (const account of [first, first, first, second]) await addKey(store, account);
    for (const limit of [1, 2, 1000]) {
      const owners: string[] = [];
      for (let after: string | undefined; ; after = owners.at(-1)) {
        const page = await store.keys.owners({ ...(after !== undefined && { after }), limit });
        expect(page.length).to.be.at.most(limit);
        if (page.length === 0) break;
        owners.push(...page);
      }
      expect(owners).to.deep.equal([...new Set(owners)].sort());
      expect(owners).to.include.members([first, second]);
      expect(owners).to.not.include(none);
    }
  });

  it('lists the keys of one account', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const other = await newAccount(store);
    await addKey(store, other);
    const first = newKey(account, AT + 1);
    const second = newKey(account, AT);
    await store.keys.add(first, MAX);
    await store.keys.add(second, MAX);
    const listed = await store.keys.list(account);
    expect(listed.map((row) => row.id)).to.deep.equal([second.id, first.id]);
    expect(listed[0]).to.deep.equal({ ...second, ...UNUSED });
    const twins = ['b', 'c', 'a'].map((letter) => ({ ...newKey(account, AT + 2), id: newId(`key_${letter}`) }));
    for (const twin of twins) await store.keys.add(twin, MAX);
    const ids = (await store.keys.list(account)).map((row) => row.id);
    expect(ids.slice(2), 'of one moment').to.deep.equal(twins.map(({ id }) => id).toSorted());
    expect(await store.keys.list(newId('acc'))).to.deep.equal([]);
  });

  it('adds no key to an unknown account', async () => {
    const key = newKey(newId('acc'));
    expect(await context.store.keys.add(key, MAX)).to.equal('no_account');
    expect(await context.store.keys.find(key.hash)).to.equal(undefined);
  });

  it('adds no key with a used id or hash', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const key = await addKey(store, account);
    for (const twin of [
      { ...newKey(account), id: key.id },
      { ...newKey(account), hash: key.hash },
    ]) {
      const error: unknown = await store.keys.add(twin, MAX).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(StoreError).with.property('applied', 'no');
    }
    expect(await store.keys.find(key.hash)).to.deep.equal({ ...key, accountStatus: 'active' });
  });

  it('adds no more than the maximum', async () => {
    const { store } = context;
    const account = await newAccount(store);
    for (let count = 0; count < MAX; count += 1) await addKey(store, account);
    expect(await store.keys.add(newKey(account), MAX)).to.equal('too_many');
    expect(await store.keys.list(account)).to.have.length(MAX);
    expect(await store.keys.add(newKey(account), MAX + 1)).to.equal('added');
  });

  itLong('keeps the maximum if several openers add concurrently', async () => {
    const openers = [context.store, await context.other()];
    const account = await newAccount(context.store);
    const tries = Array.from({ length: 24 }, (_, index) => openers[index % 2]?.keys.add(newKey(account), MAX));
    const results = await Promise.all(tries);
    expect(results.filter((result) => result === 'added')).to.have.length(MAX);
    expect(results.filter((result) => result === 'too_many')).to.have.length(24 - MAX);
    expect(await context.store.keys.list(account)).to.have.length(MAX);
  });

  it('keeps the given limits, and changes those of an active key', async () => {
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
    const other = await context.other();
    expect(await other.keys.list(account)).to.deep.equal([{ ...row, limits: { ...NO_LIMITS, expiresAt: AT + 60 } }]);
    expect(await store.keys.limit(key.id, NO_LIMITS, AT + 60)).to.equal('ended');
    expect(await store.keys.limit(key.id, NO_LIMITS, AT + 59)).to.equal('limited');
    await store.keys.revoke(key.id, AT + 70);
    expect(await store.keys.limit(key.id, limits, AT + 1)).to.equal('ended');
    expect(await store.keys.limit(newId('key'), limits, AT + 1)).to.equal('no_key');
    expect(await store.keys.get(newId('key'))).to.equal(undefined);
    expect((await store.keys.get(key.id))?.limits).to.deep.equal(NO_LIMITS);
  });

  it('does not count expired keys', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const limits = { ...NO_LIMITS, expiresAt: AT + 1 };
    expect(await store.keys.add({ ...newKey(account), limits }, 1)).to.equal('added');
    expect(await store.keys.add(newKey(account), 1)).to.equal('too_many');
    expect(await store.keys.add(newKey(account, AT + 1), 1)).to.equal('added');
  });

  it('counts only active keys', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const keys = [];
    for (let count = 0; count < MAX; count += 1) keys.push(await addKey(store, account));
    await store.keys.revoke(keys[3]?.id ?? '', AT);
    expect(await store.keys.add(newKey(account), MAX)).to.equal('added');
    expect(await store.keys.add(newKey(account), MAX)).to.equal('too_many');
  });
}

function replacementTests(context: StoreContext): void {
  const LIMITS = {
    budget: 5n * RUB,
    reset: 'month',
    zone: 'Asia/Omsk',
    expiresAt: null,
    models: ['a'],
    endUsers: { cap: 3n * RUB, reset: 'day' },
    requests: { perMinute: 9, atOnce: 2 },
  } as const;

  function newSuccessor(endsAt: number, createdAt = AT) {
    const { id, hash, last4 } = newKey('');
    return { id, hash, last4, createdAt, endsAt };
  }

  async function addLimited(account: string, expiresAt: number | null = null): Promise<KeyRow> {
    const key = { ...newKey(account), limits: { ...LIMITS, expiresAt } };
    expect(await context.store.keys.add(key, MAX)).to.equal('added');
    return { ...UNUSED, ...key };
  }

  it('has the name, limits and budget of the replaced key, which expires', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const key = await addLimited(account);
    const second = newSuccessor(AT + 50, AT + 1);
    const third = newSuccessor(AT + 90, AT + 2);
    expect(await store.keys.replace(key.id, second, MAX)).to.equal('replaced');
    expect(await store.keys.replace(second.id, third, MAX)).to.equal('replaced');
    const rowOf = ({ endsAt: _, ...fresh }: typeof second, expiresAt: number | null) => ({
      ...UNUSED,
      ...fresh,
      account,
      name: key.name,
      limits: { ...LIMITS, expiresAt },
      budgetKey: key.id,
    });
    const first = { ...key, limits: { ...LIMITS, expiresAt: AT + 50 } };
    const other = await context.other();
    expect(await other.keys.list(account)).to.deep.equal([first, rowOf(second, AT + 90), rowOf(third, null)]);
    expect(await other.keys.find(third.hash)).to.deep.equal({ ...rowOf(third, null), accountStatus: 'active' });
  });

  it('keeps an earlier expiry of the replaced key, which the new key does not get', async () => {
    const { store } = context;
    const key = await addLimited(await newAccount(store), AT + 10);
    const successor = newSuccessor(AT + 50);
    expect(await store.keys.replace(key.id, successor, MAX)).to.equal('replaced');
    expect((await store.keys.get(key.id))?.limits.expiresAt).to.equal(AT + 10);
    expect((await store.keys.get(successor.id))?.limits).to.deep.equal(LIMITS);
  });

  it('is refused for an unknown, revoked or expired key and beyond the maximum, and then changes nothing', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const expired = await addLimited(account, AT);
    const revoked = await addLimited(account);
    const key = await addLimited(account);
    await store.keys.revoke(revoked.id, AT);
    const before = await store.keys.list(account);
    const replace = (id: string, max = MAX) => store.keys.replace(id, newSuccessor(AT + 5), max);
    expect(await replace(newId('key'))).to.equal('no_key');
    expect(await replace(expired.id)).to.equal('ended');
    expect(await replace(revoked.id)).to.equal('ended');
    expect(await replace(key.id, 1)).to.equal('too_many');
    expect(await store.keys.list(account)).to.deep.equal(before);
  });

  itLong('keeps the maximum if several openers replace concurrently', async () => {
    const openers = [context.store, await context.other()];
    const account = await newAccount(context.store);
    const key = await addLimited(account);
    const tries = Array.from({ length: 8 }, (_, at) => openers[at % 2]?.keys.replace(key.id, newSuccessor(AT + 9), 4));
    const results = await Promise.all(tries);
    expect(results.filter((result) => result === 'replaced')).to.have.length(3);
    expect(results.filter((result) => result === 'too_many')).to.have.length(5);
    expect(await context.store.keys.list(account)).to.have.length(4);
  });

  it('applies a change of the budget to every active key that shares it, and other changes to one', async () => {
    const { store } = context;
    const account = await newAccount(store);
    const key = await addLimited(account);
    const stranger = await addLimited(account);
    const second = newSuccessor(AT + 2);
    const third = newSuccessor(AT + 99);
    await store.keys.replace(key.id, second, MAX);
    await store.keys.replace(second.id, third, MAX);
    const change = { budget: 9n * RUB, reset: 'day', zone: 'UTC', expiresAt: AT + 70, models: null } as const;
    expect(await (await context.other()).keys.limit(third.id, change, AT + 3)).to.equal('limited');
    const limitsOf = async (id: string) => (await store.keys.get(id))?.limits;
    // The first has ended by then.
    expect(await limitsOf(key.id)).to.deep.equal({ ...LIMITS, expiresAt: AT + 2 });
    const shared = { ...LIMITS, budget: change.budget, reset: change.reset, zone: change.zone };
    expect(await limitsOf(second.id)).to.deep.equal({ ...shared, expiresAt: AT + 99 });
    expect(await limitsOf(third.id)).to.deep.equal({ ...LIMITS, ...change });
    expect(await limitsOf(stranger.id)).to.deep.equal(LIMITS);
    expect((await findWrong(store.keys)).filter(({ id }) => id === second.id)).to.deep.equal([]);
    await store.keys.put(third.id, LIMITS);
    expect(await limitsOf(third.id)).to.deep.equal(LIMITS);
  });

  it('keeps the budget after a following or concurrent change of other limits', async () => {
    const openers = [context.store, await context.other()] as const;
    const key = await addLimited(await newAccount(context.store));
    expect(await openers[0].keys.replace(key.id, newSuccessor(AT + 50), MAX)).to.equal('replaced');
    expect(await openers[1].keys.limit(key.id, { models: ['b'] }, AT)).to.equal('limited');
    expect((await openers[0].keys.get(key.id))?.limits).to.deep.equal({
      ...LIMITS,
      models: ['b'],
      expiresAt: AT + 50,
    });
    for (let round = 0; round < longer(1, 5); round += 1) {
      const account = await newAccount(context.store);
      const { id } = await addLimited(account);
      const all = await Promise.all([
        openers[0].keys.replace(id, newSuccessor(AT + 50), MAX),
        openers[1].keys.limit(id, { models: ['b'] }, AT),
        openers[0].keys.limit(id, { budget: 7n * RUB }, AT),
        openers[1].keys.limit(id, { reset: 'week' }, AT),
      ]);
      expect(all).to.deep.equal(['replaced', 'limited', 'limited', 'limited']);
      const changed = { ...LIMITS, budget: 7n * RUB, reset: 'week', models: ['b'] };
      expect((await openers[1].keys.get(id))?.limits).to.deep.equal({ ...changed, expiresAt: AT + 50 });
      const successor = (await openers[1].keys.list(account)).find(({ budgetKey }) => budgetKey === id);
      expect(successor?.limits).to.deep.include({ budget: 7n * RUB, reset: 'week', expiresAt: null });
    }
  });

  it('lets the first key change the budget of its replacements', async () => {
    const { store } = context;
    const key = await addLimited(await newAccount(store));
    const second = newSuccessor(AT + 99);
    await store.keys.replace(key.id, second, MAX);
    expect(await store.keys.limit(key.id, { ...NO_LIMITS, expiresAt: AT + 98 }, AT + 3)).to.equal('limited');
    const { models, endUsers, requests } = LIMITS;
    expect((await store.keys.get(second.id))?.limits).to.deep.equal({ ...NO_LIMITS, models, endUsers, requests });
  });
}

function revocationTests(context: StoreContext): void {
  it('is visible to every opener at once, and the key can still be found', async () => {
    const { store } = context;
    const other = await context.other();
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
      (await context.other()).keys.revoke(key.id, AT + 1),
    ]);
    expect([first, second]).to.have.members(['revoked', 'exists']);
    expect(await store.keys.revoke(key.id, AT + 9)).to.equal('exists');
    expect((await store.keys.find(key.hash))?.revokedAt).to.equal(AT + 1);
  });

  it('does not find an unknown key', async () => {
    expect(await context.store.keys.revoke(newId('key'), AT)).to.equal('no_key');
  });
}

function counterTests(context: StoreContext): void {
  it('add up over several openers', async () => {
    const { store } = context;
    const other = await context.other();
    const account = await newAccount(store);
    const first = await addKey(store, account);
    const second = await addKey(store, account);
    await Promise.all([
      store.keys.use([
        { id: first.id, count: 3, lastUsedAt: AT + 5 },
        { id: second.id, count: 1, lastUsedAt: AT + 6 },
      ]),
      other.keys.use([{ id: first.id, count: 4, lastUsedAt: AT + 9 }]),
    ]);
    const one = await store.keys.find(first.hash);
    const two = await store.keys.find(second.hash);
    expect([one?.requestsCount, one?.lastUsedAt]).to.deep.equal([7, AT + 9]);
    expect([two?.requestsCount, two?.lastUsedAt]).to.deep.equal([1, AT + 6]);
  });

  it('count a repeated batch once, separately per writer', async () => {
    const { store } = context;
    const key = await addKey(store, await newAccount(store));
    const openers = [store, await context.other()];
    const mine = newId('writer');
    const theirs = newId('writer');
    const send = (writer: string, number: number, by = store) =>
      by.keys.use([{ id: key.id, count: 7, lastUsedAt: AT + number }], { writer, number });
    await send(mine, 1);
    await send(mine, 1);
    await send(mine, 1, openers[1]);
    expect((await store.keys.find(key.hash))?.requestsCount).to.equal(7);
    await send(theirs, 1);
    await send(mine, 2);
    // An earlier one that comes late is none the less known, and so is the later one after it.
    for (const number of [2, 1, 2]) await send(mine, number);
    const found = await store.keys.find(key.hash);
    expect([found?.requestsCount, found?.lastUsedAt]).to.deep.equal([21, AT + 2]);
  });

  it('never move the last use back', async () => {
    const { store } = context;
    const key = await addKey(store, await newAccount(store));
    await store.keys.use([{ id: key.id, count: 1, lastUsedAt: AT + 9 }]);
    await store.keys.use([{ id: key.id, count: 1, lastUsedAt: AT + 2 }]);
    const found = await store.keys.find(key.hash);
    expect([found?.requestsCount, found?.lastUsedAt]).to.deep.equal([2, AT + 9]);
  });

  it('skip unknown keys', async () => {
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
