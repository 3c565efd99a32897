// Copies in one process: where a copy continues, what it copies again, and what it refuses.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { COPY_SETTING, COPY_UNFINISHED, copyStore } from '../../lib/store/copy.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';
import { type Behaviour, type FaultyStore, lose, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import {
  AT,
  applied,
  charge,
  everythingOf,
  newAccount,
  newId,
  newWallet,
  RUB,
  rejection,
  reserve,
} from '../contract/store/context.ts';
import { newJob, refundWithJob } from '../contract/store/jobs.ts';
import { bytesOf, newMedia, piecesOf } from '../contract/store/media.ts';
import { makeUser } from '../contract/store/people.ts';
import { PNG } from '../media/sample-images.ts';
import { addCalls, useCopies } from './copies.ts';

describe('copy of a store', () => {
  let source: FaultyStore;
  let target: FaultyStore;
  let wallet: string;
  const { copy, breakOff } = useCopies((opened) => {
    ({ source, target, wallet } = opened);
  });

  beforeEach(() => addCalls({ source, wallet }));

  it('copies idempotency records with their replies, even of a call without a reply yet', async () => {
    const { idempotency } = source.real;
    const at = { body: 'hash-1', awaited: true, expiresAt: AT + 1000 };
    const ids = [newId('rep'), newId('rep')] as const;
    const ops = ids.map((id) => ({ ...reserve(wallet, { chargeId: `req_${id}` }), idempotency: { ...at, id } }));
    await applied(source.real, ...ops);
    await idempotency.storeReply({ id: ids[0], charge: `req_${ids[0]}` }, 'a reply');
    target.next('idempotency.put', lose);
    expect(await rejection(copy())).to.be.instanceOf(StoreError);
    await copy();
    const copied = await target.real.idempotency.page({ limit: 10 });
    expect(copied).to.deep.equal(await idempotency.page({ limit: 10 }));
    expect(copied.map(({ reply }) => reply)).to.have.members(['a reply', null]);
  });

  it('copies jobs unchanged, requests for automatic top-ups, price lists and allowances', async () => {
    const { jobs, accounts } = source.real;
    const wish = { enabled: true, amount: 500n * RUB, threshold: 100n * RUB };
    await accounts.setAutoTopup(wallet, wish);
    await accounts.setPriceList(wallet, 'partner');
    const allowance = { amount: 5n * RUB, reason: 'staff' };
    await accounts.setAllowance(wallet, allowance);
    const started = await newJob(source.real, wallet);
    const failed = await newJob(source.real, wallet);
    const made = await newJob(source.real, wallet);
    await applied(source.real, refundWithJob(failed));
    await jobs.change({ kind: 'begin', id: made.id, version: 1, at: AT, ref: 'up', dueAt: AT });
    await jobs.change({ kind: 'complete', id: made.id, version: 2, at: AT, result: 'res_1' });
    expect(await copy()).to.include({ jobs: 3 });
    const wanted = await jobs.page({ limit: 10 });
    expect(wanted.map(({ phase }) => phase)).to.have.members(['starting', 'failed', 'completed']);
    expect(await target.real.jobs.page({ limit: 10 })).to.deep.equal(wanted);
    const terms = { autoTopup: wish, priceList: 'partner', allowance };
    expect(await target.real.accounts.get(wallet)).to.deep.include(terms);
    await breakOff();
    await accounts.setName(wallet, 'renamed');
    await jobs.change({ kind: 'reroute', id: started.id, version: 1, at: AT, upstream: 'up-2' });
    expect(await copy()).to.include({ jobs: 3, resumed: true });
    expect((await target.real.accounts.get(wallet))?.name).to.equal('renamed');
    expect(await target.real.jobs.get(started.id)).to.include({ upstream: 'up-2', version: 2 });
  });

  it('copies users and their memberships, and counts them', async () => {
    const people = [makeUser(), makeUser()];
    for (const user of people) {
      await source.real.users.add(user);
      const cap = { limit: RUB, reset: 'week', zone: 'UTC' } as const;
      await source.real.users.join({ user: user.id, account: wallet, role: 'member', cap });
    }
    expect(await copy()).to.include({ users: 2 });
    const rows = (store: Store) => Promise.all([store.users.page({ limit: 9 }), store.users.memberships({ limit: 9 })]);
    expect(await rows(target.real)).to.deep.equal(await rows(source.real));
  });

  it('copies alert settings and alarms', async () => {
    const { alerts } = source.real;
    const webhook = { url: 'https://example.com/', secret: 'whsec_1' };
    await alerts.change({ account: wallet, balanceBelow: 5n * RUB, budgets: true, webhook, version: 0 });
    await alerts.changeAlarm({ account: wallet, subject: 'balance', state: '{}', version: 0 });
    await alerts.changeAlarm({ account: wallet, subject: 'balance', state: '{"mark":null}', version: 1 });
    target.next('alerts.put', lose);
    expect(await rejection(copy())).to.be.instanceOf(StoreError);
    expect(await copy()).to.include({ resumed: true });
    expect(await target.real.alerts.get(wallet)).to.deep.equal(await alerts.get(wallet));
    expect(await target.real.alerts.alarms(wallet)).to.deep.equal(await alerts.alarms(wallet));
    expect((await alerts.alarms(wallet))[0]).to.include({ version: 2 });
  });

  it('refuses a target with an additional job, and a job that changes meanwhile', async () => {
    const job = await newJob(source.real, wallet);
    await copy();
    await breakOff();
    await target.real.jobs.put([{ ...job, id: `${job.id}x` }]);
    expect(await refused()).to.match(/target has a job|list of jobs/);
    tamper(target, `DELETE FROM jobs WHERE id = '${job.id}x'`);
    await breakOff();
    const change = { kind: 'reroute', id: job.id, version: 1, at: AT, upstream: 'up-2' } as const;
    source.next('settings.list', async (list) => {
      await source.real.jobs.change(change);
      return list();
    });
    expect(await refused()).to.include('The source changed during the copy (jobs)');
  });

  it('refuses a target with a different job', async () => {
    const job = await newJob(source.real, wallet);
    target.next('jobs.put', async () => target.real.jobs.put([{ ...job, progress: job.progress + 1 }]));
    expect(await refused()).to.include('list of jobs');
  });

  it('copies each job of a live store in the state of its copied wallet', async () => {
    const job = await newJob(source.real, wallet);
    const { id, version } = await newJob(source.real, wallet);
    const begun = await source.real.jobs.change({ kind: 'begin', id, version, at: AT, ref: 'up', dueAt: AT });
    const waiting = await newJob(source.real, wallet);
    const early = await newJob(source.real, wallet);
    await applied(source.real, refundWithJob(early));
    source.next('keys.owners', async (list) => {
      await applied(source.real, refundWithJob(job), refundWithJob(begun.job as typeof job));
      await newJob(source.real, wallet);
      return list();
    });
    expect(await copy(true)).to.include({ jobs: 4 });
    expect(await target.real.jobs.get(waiting.id)).to.deep.equal(waiting);
    expect(await target.real.jobs.get(early.id)).to.deep.equal(await source.real.jobs.get(early.id));
    const found = await target.real.jobs.get(job.id);
    expect(await target.real.jobs.get(id)).to.include({ phase: 'running', ref: 'up', error: null, endedAt: null });
    expect(found).to.include({ id: job.id, phase: 'starting', error: null, endedAt: null, dueAt: job.createdAt });
    expect((await target.real.ledger.charge(job.charge))?.state).to.equal('settled');
    const [outcome] = await applied(target.real, refundWithJob(found as typeof job));
    expect(outcome?.status).to.equal('done');
  });

  describe('of media files', () => {
    const later = Date.now() + 3_600_000;
    const keep = (bytes: Uint8Array, expiresAt = later) =>
      source.real.media.write(newMedia({ expiresAt }), piecesOf(bytes));
    const there = () => target.real.media.page({ limit: 10 });

    it('copies unexpired files, and missing ones when it continues', async () => {
      const long = Buffer.alloc(1_200_000, 7);
      const made = [await keep(long), await keep(PNG)].sort((a, b) => (a.id < b.id ? -1 : 1));
      await keep(PNG, Date.now() - 1);
      expect(await copy()).to.include({ media: 2 });
      expect(await there()).to.deep.equal(made);
      for (const { id } of made) {
        expect((await bytesOf(target.real, id)).equals(await bytesOf(source.real, id))).to.equal(true);
      }
      await breakOff();
      const third = await keep(PNG);
      target.next('media.write', refuse);
      expect(await rejection(copy())).to.be.instanceOf(StoreError);
      expect(await copy()).to.include({ media: 3, resumed: true });
      expect((await there()).map(({ id }) => id)).to.include(third.id);
    });

    it('continues without lost files, and stops if either store fails', async () => {
      const kept = await keep(PNG);
      const lost = await keep(PNG);
      tamper(source, `UPDATE media SET bytes = bytes + 1 WHERE id = '${lost.id}'`);
      expect(await copy()).to.include({ media: 1 });
      expect((await there()).map(({ id }) => id)).to.deep.equal([kept.id]);
      const empty = await openFaultyStore();
      try {
        source.next('media.read', refuse);
        expect(await rejection(copyStore({ from: source.store, to: empty.real, live: false }))).to.be.instanceOf(
          StoreError,
        );
        expect(await empty.real.settings.get(COPY_SETTING)).to.equal(COPY_UNFINISHED);
      } finally {
        await empty.close();
      }
    });

    it('refuses a target with a different file', async () => {
      const media = await keep(PNG);
      await copy();
      await breakOff();
      tamper(target, `UPDATE media SET account = 'acc_x' WHERE id = '${media.id}'`);
      expect(await refused()).to.include('media file');
    });
  });

  const addKey = (store: Store, id: string, account = wallet) =>
    store.keys.add({ id, account, name: 'n', hash: id, last4: 'abcd', createdAt: AT }, 10);

  async function refused(live = false): Promise<string> {
    const error = await rejection(copy(live));
    expect(error).to.be.instanceOf(OperatorError);
    expect(await target.real.settings.get(COPY_SETTING)).to.not.match(/^finished/);
    return (error as OperatorError).message;
  }

  /** Behind the back of the store and its checks. */
  function tamper({ path }: FaultyStore, sql: string): void {
    const db = new DatabaseSync(path, { timeout: 5000 });
    db.exec(
      `DROP TRIGGER IF EXISTS entries_stay; PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; ${sql}`,
    );
    db.close();
  }

  it('is equal to its source, even as a copy of a copy', async () => {
    await source.real.settings.set('sandbox', 'off');
    expect(await copy()).to.include({ accounts: 1, entries: 4, settings: 1, resumed: false });
    expect(await everythingOf(target.real, wallet)).to.deep.equal(await everythingOf(source.real, wallet));
    const third = await openFaultyStore();
    try {
      const report = await copyStore({ from: target.real, to: third.real, live: false });
      expect(report).to.include({ accounts: 1, entries: 4, settings: 1 });
      const names = (await third.real.settings.list()).map(({ name }) => name);
      expect(names).to.deep.equal(['sandbox', COPY_SETTING]);
      expect(await third.real.settings.get(COPY_SETTING)).to.match(/^finished/);
    } finally {
      await third.close();
    }
  });

  it('copies the limits of keys, even if they changed since it broke off', async () => {
    const limits = { budget: 5n * RUB, reset: 'day', zone: 'Asia/Omsk', expiresAt: AT, models: ['a'] } as const;
    await addKey(source.real, 'key_1', wallet);
    await source.real.keys.limit('key_1', limits, 0);
    await copy();
    expect((await target.real.keys.get('key_1'))?.limits).to.deep.equal(limits);
    await breakOff();
    await source.real.keys.limit('key_1', { ...limits, expiresAt: AT + 1 }, 0);
    await copy();
    expect((await target.real.keys.get('key_1'))?.limits).to.deep.equal({ ...limits, expiresAt: AT + 1 });
  });

  it('copies the sums of keys with a budget, whatever the current budgets', async () => {
    await addKey(source.real, 'key_1', wallet);
    const call = (rub: bigint, period: number) =>
      charge(wallet, { key: 'key_1', amount: rub * RUB, budget: { period, limit: 9n * RUB } });
    await applied(source.real, call(9n, 1000), call(4n, 2000), call(5n, 1000));
    const wanted = await source.real.ledger.budgets(['key_1']);
    expect(wanted).to.deep.equal([{ key: 'key_1', wallet, period: 2000, spent: 9n * RUB }]);
    await copy();
    expect(await target.real.ledger.budgets(['key_1'])).to.deep.equal(wanted);
    await breakOff();
    tamper(target, 'UPDATE budgets SET spent = 1');
    expect(await refused()).to.include('The copy of the budget of the key key_1 does not match the source');
  });

  it('counts the usage of keys once, however often it is copied', async () => {
    await addKey(source.real, 'key_1');
    await source.real.keys.use([{ id: 'key_1', count: 12, lastUsedAt: AT }]);
    await copy();
    await breakOff();
    await copy();
    await source.real.keys.use([{ id: 'key_1', count: 1, lastUsedAt: AT }]);
    await breakOff();
    await copy();
    await source.real.keys.use([{ id: 'key_1', count: 2, lastUsedAt: AT + 1 }]);
    await breakOff();
    expect(await copy()).to.include({ keys: 1, resumed: true });
    expect(await target.real.keys.list(wallet)).to.deep.equal(await source.real.keys.list(wallet));
    expect((await target.real.keys.list(wallet))[0]?.requestsCount).to.equal(15);
  });

  it('tries to write five times, and then reports the target’s error', async () => {
    let tries = 0;
    target.always('ledger.apply', async (...args) => {
      tries += 1;
      return refuse(...args);
    });
    expect(await rejection(copy())).to.include({ message: 'refused by the test' });
    expect(tries).to.equal(5);
  });

  it('skips an account created while it runs, if the source may be in use', async () => {
    source.next('accounts.page', async (call) => {
      const accounts = await call();
      await newWallet(source.real);
      return accounts;
    });
    expect(await copy(true)).to.include({ accounts: 1, entries: 4 });
  });

  describe('is refused', () => {
    it('for a target with settings only', async () => {
      await target.real.settings.set('sandbox', 'on');
      expect(await refused()).to.include('0 accounts and 1 setting');
    });

    it('for a target with accounts only, without writing to it', async () => {
      await newAccount(target.real);
      expect(await refused()).to.include('1 account and 0 settings');
      expect(await target.real.settings.list()).to.deep.equal([]);
    });

    for (const stranger of ['aaa', 'zzz']) {
      it(`for a target with an account that the source has not, ${stranger}`, async () => {
        await copy();
        await breakOff();
        await target.real.accounts.create({ id: stranger, name: 'n', createdAt: AT });
        expect(await refused()).to.include(`an account ${stranger} that the source does not have`);
      });
    }

    const changes: readonly [what: string, change: (store: Store, wallet: string) => Promise<unknown>][] = [
      ['an entry', (store, id) => applied(store, charge(id))],
      ['a suspension', (store, id) => store.accounts.setStatus(id, 'suspended')],
      ['an account', (store) => newAccount(store)],
      ['a revoked key', (store) => store.keys.revoke('key_1', AT)],
    ];
    for (const [what, change] of changes) {
      it(`when the source gets ${what} meanwhile, unless it may be in use`, async () => {
        await addKey(source.real, 'key_1');
        const late: Behaviour = async (call) => {
          await change(source.real, wallet);
          return call();
        };
        source.next('settings.list', late);
        expect(await refused()).to.include('The source changed during the copy');
        source.always('settings.list', undefined);
        await breakOff();
        expect(await copy(true)).to.include({ resumed: true });
      });
    }

    it('if a wallet of the target differs after the copy', async () => {
      await copy();
      await breakOff();
      tamper(target, 'UPDATE wallets SET avail = avail + 1, adjusted = adjusted + 1');
      expect(await refused()).to.equal(
        `The copy of the wallet ${wallet} does not match the source: start again with an empty target.`,
      );
    });

    it('if an account of the target differs', async () => {
      await copy();
      await breakOff();
      tamper(target, 'UPDATE accounts SET created_at = created_at + 1');
      expect(await refused()).to.include(`The copy of the account ${wallet} does not match the source`);
    });

    it('if an entry of the target differs', async () => {
      await copy();
      await breakOff();
      tamper(target, 'UPDATE entries SET at = at + 1 WHERE seq = 2');
      expect(await refused()).to.include(`The copy of the wallet ${wallet} does not match the source`);
    });

    it('if a key of the target differs', async () => {
      await addKey(source.real, 'key_1');
      await copy();
      await breakOff();
      await addKey(target.real, 'key_2');
      expect(await refused()).to.include(`The copy of the list of keys of ${wallet} does not match the source`);
    });

    it('if an account without keys has one in the target', async () => {
      const others = await Promise.all([newWallet(source.real), newWallet(source.real)]);
      for (const [index, id] of [wallet, ...others].sort().entries())
        if (index !== 1) await addKey(source.real, `key_${index}`, id);
      await copy();
      await breakOff();
      const keyless = [wallet, ...others].sort()[1] as string;
      await addKey(target.real, 'key_x', keyless);
      expect(await refused()).to.include(`The copy of the list of keys of ${keyless} does not match the source`);
    });

    it('if the ledger would not have written an entry of the source', async () => {
      tamper(source, `UPDATE entries SET avail = ${1000n * RUB - 1n}, topped = ${1000n * RUB - 1n} WHERE seq = 1`);
      expect(await refused(true)).to.equal(`The ledger rejects entry 1 of ${wallet}: first_topup_too_small.`);
    });

    it('if a charge of the source does not match its entries', async () => {
      tamper(source, `UPDATE charges SET created_at = created_at + 1 WHERE state = 'settled'`);
      expect(await refused(true)).to.match(/^The ledger rejects entry \d of /);
    });

    it('if a charge of the source is missing', async () => {
      tamper(source, `DELETE FROM charges WHERE state = 'held'`);
      expect(await refused(true)).to.equal(`The source has no charge for entry 2 of ${wallet}.`);
    });

    it('if an account of the source is missing but its entries remain', async () => {
      tamper(source, 'DELETE FROM accounts');
      expect(await refused(true)).to.include(`a wallet or entries of ${wallet}, but no such account`);
    });
  });
});
