// Accounts and the status of their wallets.
import { expect } from 'chai';
import { giveMonthlyGrant } from '../../../lib/accounts/allowances.ts';
import type { Wallet } from '../../../lib/money/decide.ts';
import type { Account } from '../../../lib/store/ports/accounts.ts';
import { StoreError } from '../../../lib/store/store.ts';
import { longer } from '../../../testkit/long.ts';
import {
  AT,
  applied,
  giveBack,
  newAccount,
  newId,
  problemsOf,
  RUB,
  rejection,
  reserve,
  type StoreContext,
  topup,
} from './context.ts';

export function accountContract(context: StoreContext): void {
  it('keeps the request for automatic top-ups', async () => {
    const { accounts } = context.store;
    const id = await newAccount(context.store);
    const wish = { enabled: true, amount: 500_000_000n, threshold: 100_000_001n };
    expect(await accounts.setAutoTopup(id, wish)).to.equal(true);
    expect(await accounts.get(id)).to.deep.include({ autoTopup: wish, status: 'active' });
    expect(await accounts.setAutoTopup(newId('acc'), wish)).to.equal(false);
  });

  it('keeps another name, with a mark that covers it', async () => {
    const { accounts } = context.store;
    const id = await newAccount(context.store);
    expect(await accounts.setName(id, 'Acme & Söhne')).to.equal(true);
    const other = await context.other();
    expect((await other.accounts.get(id))?.name).to.equal('Acme & Söhne');
    expect((await other.accounts.findWrongMarks({ limit: 100_000 })).found.map((row) => row.id)).to.not.include(id);
    expect(await accounts.setName(newId('acc'), 'n')).to.equal(false);
  });

  it('counts those that were created in a time', async () => {
    const { store } = context;
    const from = AT + 4_000_000_000;
    const add = (createdAt: number) => store.accounts.create({ id: newId('acc'), name: 'n', createdAt });
    for (const createdAt of [from - 1, from, from + 9, from + 10]) await add(createdAt);
    expect(await store.accounts.countCreated({ from, to: from + 10 })).to.equal(2);
  });

  it('tells when the keys of each were last used', async () => {
    const { store } = context;
    const [id, other, unused] = [await newAccount(store), await newAccount(store), await newAccount(store)];
    for (const [at, account] of [id, id, other, unused].entries()) {
      const key = { id: newId('key'), account, name: 'n', hash: newId('hash'), last4: 'abcd', createdAt: AT };
      await store.keys.add(key, 10);
      if (account !== unused) await store.keys.use([{ id: key.id, count: 1, lastUsedAt: AT + at }]);
    }
    const uses = [
      { account: id, at: AT + 1 },
      { account: other, at: AT + 2 },
    ];
    expect(await store.keys.lastUses([id, other, unused])).to.have.deep.members(uses);
    expect(await store.keys.lastUses([id])).to.deep.equal(uses.slice(0, 1));
    expect(await store.keys.lastUses([])).to.deep.equal([]);
    const all = await store.keys.lastUses();
    expect(all).to.deep.include.members(uses);
    expect(all.map(({ account }) => account)).to.not.include(unused);
  });

  it('keeps limits of requests, for each of its keys to find', async () => {
    const { store } = context;
    const id = await newAccount(store);
    const key = { id: newId('key'), account: id, name: 'n', hash: newId('hash'), last4: 'abcd', createdAt: AT };
    await store.keys.add(key, 10);
    const limits = { perMinute: 7, atOnce: 2, waitSeconds: 5, addresses: ['10.0.0.0/8'] };
    expect(await store.accounts.setRequestLimits(id, limits)).to.equal(true);
    const other = await context.other();
    expect((await other.accounts.get(id))?.requests).to.deep.equal(limits);
    expect((await other.accounts.page({ limit: 1000 })).find((account) => account.id === id)?.requests).to.deep.equal(
      limits,
    );
    expect((await other.keys.find(key.hash))?.accountRequests).to.deep.equal(limits);
    expect((await other.accounts.summaries()).find((account) => account.id === id)?.requests).to.deep.equal(limits);
    expect(await store.accounts.setRequestLimits(id, undefined)).to.equal(true);
    expect(await other.accounts.get(id)).not.to.have.property('requests');
    expect(await other.keys.find(key.hash)).not.to.have.property('accountRequests');
    expect(await store.accounts.setRequestLimits(newId('acc'), limits)).to.equal(false);
  });

  it('keeps the price list, for each of its keys to find, and counts the accounts of each', async () => {
    const { store } = context;
    const [id, twin, plain] = [await newAccount(store), await newAccount(store), await newAccount(store)];
    const key = { id: newId('key'), account: id, name: 'n', hash: newId('hash'), last4: 'abcd', createdAt: AT };
    await store.keys.add(key, 10);
    const [one, two] = [newId('list_a'), newId('list_b')];
    for (const [account, list] of [
      [id, one],
      [twin, one],
      [plain, two],
    ] as const) {
      expect(await store.accounts.setPriceList(account, list)).to.equal(true);
    }
    const other = await context.other();
    const count = async () =>
      (await other.accounts.countPriceLists()).filter(({ priceList }) => [one, two].includes(priceList));
    expect((await other.accounts.get(id))?.priceList).to.equal(one);
    expect((await other.keys.find(key.hash))?.priceList).to.equal(one);
    const uses = await count();
    expect(uses).to.deep.equal([
      { priceList: one, accounts: 2 },
      { priceList: two, accounts: 1 },
    ]);
    expect(await store.accounts.setPriceList(id, undefined)).to.equal(true);
    expect(await other.accounts.get(id)).not.to.have.property('priceList');
    expect(await other.keys.find(key.hash)).not.to.have.property('priceList');
    expect(await count()).to.deep.include({ priceList: one, accounts: 1 });
    expect(await store.accounts.setPriceList(newId('acc'), one)).to.equal(false);
  });

  it('keeps the allowance of a month, and lists those of all accounts', async () => {
    const { accounts } = context.store;
    const [id, plain] = [await newAccount(context.store), await newAccount(context.store)];
    const allowance = { amount: 500n * RUB, reason: 'Сотрудники' };
    expect(await accounts.setAllowance(id, allowance)).to.equal(true);
    const other = await context.other();
    expect((await other.accounts.get(id))?.allowance).to.deep.equal(allowance);
    const list = async () => (await other.accounts.allowances()).filter((row) => [id, plain].includes(row.id));
    expect(await list()).to.deep.equal([{ id, ...allowance }]);
    const both = [context.store, other].map((store) => giveMonthlyGrant(store, id, allowance, AT));
    expect((await Promise.all(both)).map(({ status }) => status)).to.have.members(['done', 'exists']);
    expect(await problemsOf(other, id)).to.deep.equal([]);
    expect(await accounts.setAllowance(id, undefined)).to.equal(true);
    expect(await other.accounts.get(id)).not.to.have.property('allowance');
    expect(await list()).to.deep.equal([]);
    expect(await accounts.setAllowance(newId('acc'), allowance)).to.equal(false);
  });

  it('creates an account with an empty, active wallet of the same id', async () => {
    const { store } = context;
    const id = newId('acc');
    await store.accounts.create({ id, name: 'Иванов & "sons"', createdAt: AT });
    expect(await store.accounts.get(id)).to.deep.equal({
      id,
      name: 'Иванов & "sons"',
      status: 'active',
      createdAt: AT,
      autoTopup: { enabled: false, amount: 0n, threshold: 0n },
    });
    expect(await store.ledger.wallet(id)).to.deep.include({ id, avail: 0n, seq: 0, status: 'active' });
  });

  it('refuses a used id and leaves the first account unchanged', async () => {
    const { store } = context;
    const id = await newAccount(store);
    await applied(store, topup(id, 1000n * RUB));
    const error = await rejection(store.accounts.create({ id, name: 'second', createdAt: AT }));
    expect(error).to.be.instanceOf(StoreError);
    expect(error).to.have.property('applied', 'no');
    expect((await store.accounts.get(id))?.name).to.equal('test');
    expect((await store.ledger.wallet(id))?.avail).to.equal(1000n * RUB);
  });

  it('copies accounts unchanged, and of existing ones only what may change', async () => {
    const { store } = context;
    const there = await newAccount(store);
    await applied(store, topup(there, 1000n * RUB));
    const wish = { enabled: true, amount: 500n * RUB, threshold: RUB };
    const fresh = {
      id: newId('acc'),
      name: 'Ёж',
      createdAt: AT + 5,
      autoTopup: wish,
      priceList: 'partner',
      allowance: { amount: RUB, reason: 'r' },
    };
    const plain = { ...fresh, id: newId('acc'), autoTopup: { enabled: false, amount: 0n, threshold: 0n } };
    const alone = { ...fresh, id: newId('acc') };
    await store.accounts.put([alone]);
    expect(await store.accounts.get(alone.id)).to.deep.equal({ ...alone, status: 'active' });
    for (let turn = 0; turn < 2; turn += 1) {
      await store.accounts.put([fresh, { ...fresh, id: there }, plain]);
      expect(await store.accounts.get(fresh.id)).to.deep.equal({ ...fresh, status: 'active' });
      expect(await store.accounts.get(plain.id)).to.deep.equal({ ...plain, status: 'active' });
      expect(await store.accounts.get(there)).to.deep.include({ name: 'Ёж', autoTopup: wish, priceList: 'partner' });
    }
    expect(await store.ledger.wallet(fresh.id)).to.deep.include({ avail: 0n, seq: 0, status: 'active' });
    expect((await store.ledger.wallet(there))?.avail).to.equal(1000n * RUB);
    await store.accounts.put([]);
    for (const id of [fresh.id, there]) expect(await problemsOf(store, id)).to.deep.equal([]);
  });

  it('does not find an unknown account', async () => {
    const { store } = context;
    expect(await store.accounts.get(newId('acc'))).to.equal(undefined);
    expect(await store.accounts.setStatus(newId('acc'), 'suspended')).to.equal(false);
  });

  it('names some accounts, and leaves out unknown ones', async () => {
    const { accounts } = context.store;
    const [one, other] = [newId('acc'), newId('acc')];
    for (const id of [one, other]) await accounts.create({ id, name: `name of ${id}`, createdAt: AT });
    const found = await accounts.names([one, newId('acc'), other]);
    expect(found).to.have.deep.members([one, other].map((id) => ({ id, name: `name of ${id}` })));
    expect(await accounts.names([])).to.deep.equal([]);
  });

  it('lists all accounts, oldest first', async () => {
    const { store } = context;
    const young = newId('acc');
    const old = newId('acc');
    const middle = newId('acc');
    await store.accounts.create({ id: young, name: 'young', createdAt: AT + 3 });
    await store.accounts.create({ id: old, name: 'old', createdAt: AT + 1 });
    await store.accounts.create({ id: middle, name: 'middle', createdAt: AT + 2 });
    const listed = await store.accounts.list();
    const made = listed.filter(({ id }) => [young, old, middle].includes(id));
    expect(made.map(({ name }) => name)).to.deep.equal(['old', 'middle', 'young']);
    expect(listed.map(({ createdAt }) => createdAt)).to.deep.equal(listed.map((row) => row.createdAt).toSorted());
    expect(made[0]).to.deep.equal(await store.accounts.get(old));
    const twins = ['b', 'c', 'a'].map((letter) => newId(`acc_${letter}`));
    for (const id of twins) await store.accounts.create({ id, name: 'twin', createdAt: AT + 4 });
    const found = (await store.accounts.list()).filter(({ id }) => twins.includes(id));
    expect(
      found.map(({ id }) => id),
      'of one moment',
    ).to.deep.equal(twins.toSorted());
  });

  it('pages through all accounts by id, with all their fields', async () => {
    const { store } = context;
    const made = [newId('acc'), newId('acc'), newId('acc')].sort();
    // The first by id is the youngest.
    for (const [index, id] of made.entries()) {
      await store.accounts.create({ id, name: 'test', createdAt: AT - index });
    }
    await store.accounts.setStatus(made[1] as string, 'suspended');
    const all = await store.accounts.list();
    for (const limit of longer([7, all.length + 1], [1, 2, all.length + 1])) {
      const rows: Account[] = [];
      for (let after: string | undefined; ; after = rows.at(-1)?.id) {
        const page: readonly Account[] = await store.accounts.page({ ...(after !== undefined && { after }), limit });
        expect(page.length).to.be.at.most(limit);
        rows.push(...page);
        if (page.length === 0) break;
      }
      expect(rows.map(({ id }) => id)).to.deep.equal(all.map(({ id }) => id).toSorted());
      for (const id of made) expect(rows.find((row) => row.id === id)).to.deep.equal(await store.accounts.get(id));
    }
  });

  it('suspends and resumes, visible to every opener', async () => {
    const { store } = context;
    const other = await context.other();
    const id = await newAccount(store);
    for (const status of ['suspended', 'suspended', 'active'] as const) {
      expect(await store.accounts.setStatus(id, status)).to.equal(true);
      expect((await other.accounts.get(id))?.status).to.equal(status);
      expect((await other.ledger.wallet(id))?.status).to.equal(status);
    }
  });

  it('writes one entry per changed status, which moves no money', async () => {
    const { store } = context;
    const id = await newAccount(store);
    await applied(store, topup(id, 1000n * RUB));
    const before = (await store.ledger.wallet(id)) as Wallet;
    for (const status of ['suspended', 'active'] as const) {
      for (let time = 0; time < 2; time += 1) await store.accounts.setStatus(id, status);
      const seq = status === 'suspended' ? 2 : 3;
      expect(await store.ledger.wallet(id)).to.deep.equal({ ...before, status, seq });
      const [entry] = await store.ledger.entries(id, { limit: 1 });
      const kind = status === 'suspended' ? 'suspend' : 'resume';
      expect(entry).to.deep.include({ seq, kind, status, charge: null, avail: 0n, held: 0n, note: null });
      expect(entry).to.deep.include({ charged: 0n, topped: 0n, adjusted: 0n, overshoot: 0n, chargedAfter: 0n });
    }
    expect(await problemsOf(store, id)).to.deep.equal([]);
  });

  it('changes the status during running calls, whichever process writes', async () => {
    const { store } = context;
    const other = await context.other();
    const id = await newAccount(store);
    await applied(store, topup(id, 1000n * RUB));
    const calls = Array.from({ length: longer(4, 20) }, async () => {
      const call = reserve(id);
      const [outcome] = await store.ledger.apply([call]);
      if (outcome?.status === 'done') await applied(store, giveBack('release', id, outcome.charge?.id as string));
    });
    const changes = Array.from({ length: 6 }, (_, at) => other.accounts.setStatus(id, at % 2 ? 'active' : 'suspended'));
    await Promise.all([...calls, ...changes]);
    expect((await store.ledger.wallet(id))?.held).to.equal(0n);
    expect(await problemsOf(store, id)).to.deep.equal([]);
  });

  it('copies a whole page of accounts, even if some of them exist', async () => {
    const { accounts } = context.store;
    const page = Array.from({ length: 120 }, () => ({
      id: newId('acc'),
      name: 'n',
      createdAt: AT,
      autoTopup: { enabled: false, amount: 0n, threshold: 0n },
    }));
    await accounts.put(page.slice(0, 110));
    await accounts.put(page);
    for (const { id } of page.slice(-11)) expect(await accounts.get(id)).to.include({ id, status: 'active' });
  });
}
