// The ranks of customers: read again for few, kept for some seconds for many.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DAY_MS } from '../../lib/base/durations.ts';
import { createCustomerRanks } from '../../lib/console/customer-ranks.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import type { Store } from '../../lib/store/store.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { applied, newId, reserve, settle } from '../contract/store/context.ts';

const KEPT_MS = 200;
const AT = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const TIME = { from: AT, to: AT + DAY_MS };

const QUERY = { ...TIME, subject: 'account', by: 'name', counts: ['charged', 'calls'] } as const;

describe('the ranks of customers', () => {
  let test: TestGateway;
  let store: Store;

  before(async () => {
    test = await startGateway({ catalog: {} });
    ({ store } = test);
  });
  after(() => test.stop());

  async function spend(calls: number): Promise<string> {
    const { id } = await test.account();
    for (let call = 0; call < calls; call += 1) {
      const charge = newId('req');
      await applied(store, reserve(id, { chargeId: charge, at: AT }), settle(id, charge, { at: AT }));
    }
    await foldUsage(store, id);
    return id;
  }

  it('are fresh while there are few, and kept for some time when there are many', async () => {
    const ranks = createCustomerRanks(store.usage, { keptMs: KEPT_MS, manyAccounts: 2 });
    const list = async () => (await ranks(TIME)).map(({ name }) => name);
    expect(await list()).to.deep.equal([]);
    const first = await spend(1);
    expect(await list()).to.deep.equal([first]);
    const second = await spend(2);
    expect(await list()).to.deep.equal([second, first]);
    const third = await spend(3);
    expect(await list(), 'kept').to.deep.equal([second, first]);
    expect(await ranks({ from: AT - DAY_MS, to: AT }), 'another time').to.deep.equal([]);
    await sleep(KEPT_MS + 50);
    expect(await list()).to.deep.equal([third, second, first]);
  });

  it('are read again after a failure of the store', async () => {
    let fails = true;
    const usage: Pick<Store['usage'], 'serviceSums'> = {
      serviceSums: (query) => (fails ? Promise.reject(new Error('no answer')) : store.usage.serviceSums(query)),
    };
    const ranks = createCustomerRanks(usage);
    const failure = await ranks(TIME).catch((error: Error) => error);
    expect(failure).to.have.property('message', 'no answer');
    fails = false;
    expect(await ranks(TIME)).to.deep.equal(await store.usage.serviceSums(QUERY));
  });
});
