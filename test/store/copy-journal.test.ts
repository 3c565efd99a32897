// The journal of a copy: pages, batches, and where it continues.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { copyStore } from '../../lib/store/copy.ts';
import { StoreError } from '../../lib/store/store.ts';
import { type Behaviour, type FaultyStore, lose, vanish } from '../../testkit/faulty-store.ts';
import {
  AT,
  applied,
  charge,
  everythingOf,
  newWallet,
  rejection,
  reserve,
  settle,
  topup,
} from '../contract/store/context.ts';
import { addCalls, useCopies } from './copies.ts';

describe('copy of the journal', () => {
  let source: FaultyStore;
  let target: FaultyStore;
  let wallet: string;
  const { copy, breakOff } = useCopies((opened) => {
    ({ source, target, wallet } = opened);
  });

  beforeEach(() => addCalls({ source, wallet }));

  it('copies more wallets and entries than fit into a page', async () => {
    const ids = Array.from({ length: 1100 }, (_, index) => `acc_${String(index).padStart(4, '0')}`);
    const values = ids.map((id) => `('${id}', 'n', ${AT})`).join(', ');
    const wallets = ids.map((id) => `('${id}')`).join(', ');
    const db = new DatabaseSync(source.path, { timeout: 5000 });
    db.exec(
      `INSERT INTO accounts (id, name, created_at) VALUES ${values};
      INSERT INTO wallets (id) VALUES ${wallets}`,
    );
    db.close();
    for (let batch = 0; batch < 10; batch += 1) {
      await applied(source.real, ...Array.from({ length: 120 }, () => charge(wallet, { amount: 1n })));
    }
    expect(await copy()).to.include({ accounts: 1101, entries: 1204 });
    expect(await target.real.accounts.list()).to.deep.equal(await source.real.accounts.list());
    expect(await everythingOf(target.real, wallet)).to.deep.equal(await everythingOf(source.real, wallet));
  }).timeout(60_000);

  it('sends the entries of many wallets together, and continues wherever it broke off', async () => {
    const wallets = await Promise.all(Array.from({ length: 150 }, () => newWallet(source.real)));
    for (const id of wallets) await source.real.keys.add(keyOf(id), 10);
    await applied(source.real, ...wallets.map((id) => reserve(id, { chargeId: `req_${id}` })));
    await applied(source.real, ...wallets.map((id) => settle(id, `req_${id}`)));
    const more = Array.from({ length: 300 }, () => charge(wallet, { amount: 1n }));
    await applied(source.real, ...more.slice(0, 150));
    await applied(source.real, ...more.slice(150));
    const broken: Behaviour = async () => {
      throw new Error('a mistake of ours');
    };
    const works: Behaviour = (call) => call();
    target.next('ledger.apply', works, works, broken);
    expect(await rejection(copy())).to.have.property('message', 'a mistake of ours');
    expect(await copy()).to.include({ accounts: 151, keys: 150, entries: 4 + 300 + 450, resumed: true });
    // 450 and 304 in batches of up to 256, those of one wallet together; the first two are sent twice.
    expect(target.batches.length).to.be.below(10);
    for (const id of [wallet, ...wallets]) {
      expect(await everythingOf(target.real, id)).to.deep.equal(await everythingOf(source.real, id));
    }
  }).timeout(20_000);

  it('retries a batch until its outcome is known, but not forever', async () => {
    target.next('ledger.apply', lose, vanish, vanish, lose);
    const from = performance.now();
    expect(await copy()).to.include({ entries: 4 });
    expect(performance.now() - from, 'ms, of which it left the target alone four times 500').to.be.at.least(1990);
    await breakOff();
    await applied(source.real, topup(wallet, 1n));
    target.always('ledger.apply', vanish);
    const batches = target.batches.length;
    expect(await rejection(copy())).to.be.instanceOf(StoreError);
    expect(target.batches.length - batches).to.equal(5);
  }).timeout(30_000);

  it('sends no more at once than the target accepts', async () => {
    const { ledger } = target.store;
    const to = { ...target.store, ledger: { ...ledger, batchMax: 3 } };
    expect(await copyStore({ from: source.store, to, live: false })).to.include({ entries: 4 });
    expect(target.batches.map(({ length }) => length)).to.deep.equal([3, 1]);
  });

  it('does not retry errors other than store failures', async () => {
    const broken: Behaviour = async () => {
      throw new Error('a mistake of ours');
    };
    target.always('ledger.apply', broken);
    expect(await rejection(copy())).to.have.property('message', 'a mistake of ours');
    expect(target.batches).to.have.length(1);
  });

  it('continues in a wallet suspended meanwhile, and leaves it suspended', async () => {
    await source.real.accounts.setStatus(wallet, 'suspended');
    await copy();
    await breakOff();
    await source.real.accounts.setStatus(wallet, 'active');
    await applied(source.real, reserve(wallet));
    await source.real.accounts.setStatus(wallet, 'suspended');
    expect(await copy()).to.include({ resumed: true, entries: 8 });
    expect((await target.real.ledger.wallet(wallet))?.status).to.equal('suspended');
  });

  const keyOf = (account: string) => ({
    id: `key_${account}`,
    account,
    name: 'n',
    hash: `hash_${account}`,
    last4: 'abcd',
    createdAt: AT,
  });
});
