// Accounts and keys on a real store: made, listed, suspended, issued up to the limit, revoked.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Accounts, createAccounts } from '../../lib/accounts/accounts.ts';
import { hashKey, isWellFormedKey } from '../../lib/accounts/key.ts';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { DEFAULT_ZONE, NO_LIMITS } from '../../lib/money/key-limits.ts';
import { AMOUNT_MAX } from '../../lib/money/money.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { makeUser } from '../contract/store/people.ts';

describe('accounts', () => {
  let folder: string;
  let store: Store;
  let accounts: Accounts;
  let now: number;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-accounts-'));
    store = await openStore(`sqlite:${join(folder, 'test.db')}`, { inProcess: true });
    accounts = createAccounts({ store, keyPrefix: 'tg-', clock: () => now });
  });

  beforeEach(() => {
    now = 1_790_000_000_000;
  });

  after(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('creates an account with an empty wallet of the same id', async () => {
    const account = await accounts.create('  Acme  ');
    expect(account.id).to.match(/^acc_[0-9a-f]{24}$/);
    expect(account.name).to.equal('Acme');
    expect(await accounts.get(account.id)).to.deep.include({ ...account, status: 'active', createdAt: now });
    expect(await store.ledger.wallet(account.id)).to.deep.include({ avail: 0n, topped: 0n, seq: 0, status: 'active' });
  });

  it('creates an account that cannot be read yet, as after a failover', async () => {
    const behind = { ...store, accounts: { ...store.accounts, get: async () => undefined } };
    const { id } = await createAccounts({ store: behind, keyPrefix: 'tg-' }).create('Acme');
    expect((await accounts.get(id)).name).to.equal('Acme');
  });

  it('lists accounts, oldest first', async () => {
    const first = await accounts.create('first');
    now += 1000;
    const second = await accounts.create('second');
    const ids = (await accounts.list()).map(({ id }) => id);
    expect(ids.slice(ids.indexOf(first.id))).to.include(second.id);
    expect(ids.indexOf(second.id)).to.be.above(ids.indexOf(first.id));
  });

  it('suspends and resumes, any number of times', async () => {
    const { id } = await accounts.create('on and off');
    for (const status of ['suspended', 'active'] as const) {
      for (const _ of [1, 2]) {
        const account = await (status === 'active' ? accounts.resume(id) : accounts.suspend(id));
        expect(account.status).to.equal(status);
        expect((await store.ledger.wallet(id))?.status).to.equal(status);
      }
    }
  });

  it('issues keys of which only hash and last four characters are stored', async () => {
    const { id } = await accounts.create('keys');
    const issued = await accounts.issueKey(id, 'production');
    expect(issued.id).to.match(/^key_[0-9a-f]{24}$/);
    expect(isWellFormedKey('tg-', issued.key)).to.equal(true);
    const [row, ...rest] = await accounts.listKeys(id);
    expect(rest).to.deep.equal([]);
    expect(row).to.deep.include({
      id: issued.id,
      account: id,
      name: 'production',
      hash: hashKey(issued.key),
      last4: issued.key.slice(-4),
      createdAt: now,
      revokedAt: null,
      requestsCount: 0,
      lastUsedAt: null,
      limits: NO_LIMITS,
      budgetKey: null,
    });
    expect(JSON.stringify(row)).to.not.include(issued.key.slice(6, 40));
  });

  it('issues keys with limits and changes them one by one, in the time zone of the owner', async () => {
    const { id } = await accounts.create('limits');
    const expiresAt = now + 60_000;
    const wish = { budget: 5_000_000n, reset: 'day', models: ['small', 'b'], expiresAt } as const;
    const issued = await accounts.issueKey(id, 'limited', wish);
    const limitsOf = async () => (await accounts.listKeys(id))[0]?.limits;
    expect(await limitsOf()).to.deep.equal({ ...wish, zone: DEFAULT_ZONE });
    const user = { email: 'zone@example.com', timeZone: 'Asia/Omsk', id: 'usr_zone' };
    const rest = { password: null, totpSecret: null, totpStep: -1, recovery: [], operator: false } as const;
    const made = { ...user, ...rest, status: 'active', language: 'en', createdAt: now, version: 1 } as const;
    await store.users.add(made);
    await store.users.join({ user: user.id, account: id, role: 'owner' });
    const changed = await accounts.limitKey(issued.id, { models: null });
    expect(changed.limits).to.deep.equal({ ...wish, models: null, zone: 'Asia/Omsk' });
    expect(await limitsOf()).to.deep.equal(changed.limits);
    now = expiresAt;
    await refused(accounts.limitKey(issued.id, { expiresAt: null }), 'which is final');
    await refused(accounts.limitKey(issued.id, { models: null }), 'which is final');
    await refused(accounts.limitKey('key_none', {}), 'no key');
  });

  it('lists a model once in the limits of a key, however often it is named', async () => {
    const { id } = await accounts.create('repeats');
    const issued = await accounts.issueKey(id, 'k', { models: ['a', 'b', 'a'] });
    const limitsOf = async () => (await accounts.listKeys(id))[0]?.limits.models;
    expect(await limitsOf()).to.deep.equal(['a', 'b']);
    await accounts.limitKey(issued.id, { models: ['c', 'c'] });
    expect(await limitsOf()).to.deep.equal(['c']);
  });

  it('rejects limits that make no sense', async () => {
    const { id } = await accounts.create('no sense');
    const { id: key } = await accounts.issueKey(id, 'k');
    const rows = [
      [{ budget: 0n }, 'above zero'],
      [{ budget: -1n }, 'above zero'],
      [{ budget: AMOUNT_MAX + 1n }, 'at most'],
      [{ expiresAt: now }, 'in the past'],
      [{ models: [] }, 'could not be used'],
      [{ models: ['a', ''] }, 'Not a valid model id'],
      [{ models: ['a b'] }, 'Not a valid model id'],
      [{ models: ['x'.repeat(101)] }, 'Not a valid model id'],
      [{ models: ['a', 'smart'] }, 'A call for smart picks one of the key'],
      [{ models: ['auto'] }, 'list those models instead'],
      [{ models: Array.from({ length: 201 }, (_, at) => `m${at}`) }, 'more than 200'],
    ] as const;
    for (const [wish, says] of rows) {
      await refused(accounts.issueKey(id, 'k', wish), says);
      await refused(accounts.limitKey(key, wish), says);
    }
    expect(await accounts.listKeys(id)).to.have.length(1);
  });

  it('accepts limits and names of the maximum size', async () => {
    const { id } = await accounts.create(` ${'x'.repeat(100)} `);
    expect((await accounts.get(id)).name).to.equal('x'.repeat(100));
    const models = Array.from({ length: 200 }, (_, at) => `${at}`.padEnd(100, 'm'));
    const wish = { budget: AMOUNT_MAX, reset: 'month', expiresAt: now + 1, models } as const;
    const issued = await accounts.issueKey(id, 'y'.repeat(100), wish);
    const [row] = await accounts.listKeys(id);
    expect(row).to.deep.include({ id: issued.id, name: 'y'.repeat(100), limits: { ...wish, zone: DEFAULT_ZONE } });
  });

  it('issues keys in the time zone of the first owner', async () => {
    const { id } = await accounts.create('zone');
    // The one with the higher id has been a user for longer.
    for (const [number, timeZone] of ['Asia/Tokyo', 'Asia/Omsk'].entries()) {
      const since = { createdAt: 1_700_000_000_000 - number };
      const user = makeUser({ id: `usr_zone_${number}`, email: `zone-${number}@example.com`, timeZone, ...since });
      await store.users.add(user);
      await store.users.join({ user: user.id, account: id, role: 'owner' });
    }
    await accounts.issueKey(id, 'daily', { budget: 5_000_000n, reset: 'day' });
    expect((await accounts.listKeys(id))[0]?.limits.zone).to.equal('Asia/Omsk');
  });

  it('rotates a key to one with the same name, limits and budget, and keeps the old one for some hours', async () => {
    const { id } = await accounts.create('rotating');
    const wish = { budget: 5_000_000n, reset: 'day', expiresAt: now + 10_000_000, models: ['a'] } as const;
    const { id: old } = await accounts.issueKey(id, 'laptop', wish);
    const rotated = await accounts.rotateKey(old, 2);
    const rows = await accounts.listKeys(id);
    const [before, after] = [old, rotated.id].map((key) => rows.find((row) => row.id === key));
    expect([before?.limits.expiresAt, rotated.endsAt]).to.deep.equal([now + 7_200_000, now + 7_200_000]);
    expect(after).to.include({ name: 'laptop', hash: hashKey(rotated.key), budgetKey: old, requestsCount: 0 });
    expect(after?.limits).to.deep.equal({ ...before?.limits, expiresAt: null });
    // Sooner than the hours say.
    expect((await accounts.rotateKey(old, 720)).endsAt).to.equal(now + 7_200_000);
    for (const hours of [0, -1, 1.5, 721, Number.NaN]) await refused(accounts.rotateKey(old, hours), '1 to 720 hours');
    now += 7_200_000;
    await refused(accounts.rotateKey(old, 1), 'revoked or expired');
    await refused(accounts.rotateKey('key_none', 1), 'no key "key_none"');
    for (let more = 2; more < 10; more += 1) await accounts.issueKey(id, `${more}`);
    await refused(accounts.rotateKey(rotated.id, 1), '10 active keys');
  });

  it('keeps a rotated key that would never expire for the hours', async () => {
    const { id } = await accounts.create('endless');
    for (const hours of [1, 720]) {
      const { id: old } = await accounts.issueKey(id, `${hours}`);
      expect((await accounts.rotateKey(old, hours)).endsAt).to.equal(now + hours * 3_600_000);
    }
  });

  async function refused(work: Promise<unknown>, says: string): Promise<void> {
    const [result] = await Promise.allSettled([work]);
    const reason = result?.status === 'rejected' ? result.reason : undefined;
    expect(reason).to.be.instanceOf(OperatorError);
    expect(reason.message).to.include(says);
  }

  it('rejects the eleventh active key, even for concurrent requests, until one is revoked', async () => {
    const { id } = await accounts.create('many keys');
    const results = await Promise.allSettled(
      Array.from({ length: 15 }, (_, index) => accounts.issueKey(id, `${index}`)),
    );
    const issued = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(issued).to.have.length(10);
    for (const refusal of refusals) {
      expect(refusal).to.be.instanceOf(OperatorError);
      expect(refusal.message).to.include('10 active keys');
    }
    expect(await accounts.revokeKey(issued[0]!.id)).to.equal('revoked');
    now += 5000;
    expect(await accounts.revokeKey(issued[0]!.id)).to.equal('exists');
    await accounts.issueKey(id, 'again');
    const rows = await accounts.listKeys(id);
    expect(rows).to.have.length(11);
    expect(rows.filter(({ revokedAt }) => revokedAt !== null)).to.have.length(1);
    expect(rows.find(({ id }) => id === issued[0]!.id)?.revokedAt).to.equal(now - 5000);
  });

  it('issues an account 200 keys within 24 hours, however many have ended', async () => {
    const { id } = await accounts.create('rotates');
    const keys: string[] = [];
    for (let count = 0; count < 200; count += 1) {
      keys.push((await accounts.issueKey(id, `${count}`)).id);
      if (keys.length > 9) await accounts.revokeKey(keys.shift() as string);
    }
    const wanted = '200 new keys within 24 hours';
    for (const asked of [accounts.issueKey(id, 'more'), accounts.rotateKey(keys[0] as string, 1)]) {
      const error = await asked.then(
        () => expect.fail('it was issued'),
        (thrown: Error) => thrown,
      );
      expect(error).to.be.instanceOf(OperatorError);
      expect(error.message).to.include(wanted);
    }
    now += 86_400_000;
    await accounts.issueKey(id, 'the next day');
  });

  it('names an unknown id, shortened and on one line', async () => {
    const long = `acc_${'x'.repeat(500)}\nnext line`;
    const refusals = [
      accounts.get('acc_none'),
      accounts.suspend('acc_none'),
      accounts.resume('acc_none'),
      accounts.issueKey('acc_none', 'name'),
      accounts.listKeys('acc_none'),
      accounts.revokeKey('key_none'),
      accounts.get(long),
    ];
    for (const refusal of await Promise.allSettled(refusals)) {
      if (refusal.status === 'fulfilled') throw new Error('an unknown id was accepted');
      expect(refusal.reason).to.be.instanceOf(OperatorError);
      expect(refusal.reason.message).to.match(/^There is no (account|key) "[^"\n]{4,61}"\.$/);
    }
  });

  it('rejects names that are empty, too long or have several lines', async () => {
    for (const name of ['', '  ', 'x'.repeat(101), 'two\nlines', 'bell\u0007', '\u202eemos']) {
      const refusal = await accounts.create(name).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(refusal, JSON.stringify(name)).to.be.instanceOf(OperatorError);
    }
  });
});
