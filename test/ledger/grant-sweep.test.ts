// Grants end when their time is over, once, whatever fails meanwhile.
import { mock } from 'node:test';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { expect } from 'chai';
import { createGrantChore, endDueGrants } from '../../lib/ledger/grant-sweep.ts';
import { parseGrantBook } from '../../lib/money/grants.ts';
import { until } from '../../testkit/client.ts';
import { type FaultyStore, lose, makeGate, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { applied, grant, newAccount, newWallet, problemsOf, RUB, walletOf } from '../contract/store/context.ts';

describe('the sweep of grants', () => {
  let opened: FaultyStore;
  let failed: string[];

  beforeEach(async () => {
    opened = await openFaultyStore();
    failed = [];
  });
  afterEach(() => opened.close());

  const sweep = (now: number) => endDueGrants(opened.store, now, (_error, wallet) => failed.push(wallet));

  async function given(): Promise<readonly string[]> {
    const wallets = [await newWallet(opened.real), await newWallet(opened.real)].toSorted();
    for (const wallet of wallets) {
      await applied(opened.real, grant(wallet, RUB, { until: 1000 }), grant(wallet, RUB, { until: 1500 }));
      await applied(opened.real, grant(wallet, RUB, { until: 3000 }), grant(wallet, RUB));
    }
    return wallets;
  }

  async function expectLeft(wallets: readonly string[], rub: number): Promise<void> {
    for (const wallet of wallets) {
      const { avail, granted, grants } = await walletOf(opened.real, wallet);
      expect(parseGrantBook(grants)).to.have.length(rub);
      expect([avail, granted]).to.deep.equal([BigInt(1000 + rub) * RUB, BigInt(rub) * RUB]);
      expect(await problemsOf(opened.real, wallet)).to.deep.equal([]);
    }
  }

  it('ends those whose time is over, also if several gateways do it at once', async () => {
    const wallets = await given();
    expect(await sweep(999)).to.equal(0);
    const ended = await Promise.all([sweep(2000), sweep(2000), sweep(2000)]);
    expect(ended.reduce((sum, count) => sum + count)).to.equal(4);
    await expectLeft(wallets, 2);
    expect(await sweep(2000)).to.equal(0);
    expect(failed).to.deep.equal([]);
  });

  it('ends those of every wallet, however many there are', async () => {
    const wallets = [];
    for (let n = 0; n < 120; n += 1) wallets.push(await newAccount(opened.real));
    await applied(opened.real, ...wallets.map((wallet) => grant(wallet, RUB, { until: 1000 })));
    expect(await sweep(2000)).to.equal(120);
  });

  it('goes on with the other wallets after a failure, and with that one the next time', async () => {
    const [first, second] = await given();
    let attempts = 0;
    opened.always('ledger.apply', (call, args) => {
      attempts += 1;
      return attempts <= 5 ? refuse(call, args) : call();
    });
    expect(await sweep(2000)).to.equal(2);
    expect(failed).to.deep.equal([first]);
    expect(await sweep(2000)).to.equal(2);
    await expectLeft([first as string, second as string], 2);
  });

  it('takes nothing twice after a lost answer, and rejects if the wallets cannot be listed', async () => {
    const wallets = await given();
    opened.next('ledger.apply', lose);
    await sweep(2000);
    await expectLeft(wallets, 2);
    opened.next('ledger.grantsDue', refuse);
    const error = await sweep(2000).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
  });

  it('reports what fails, but for a sweep that the stop of its service has cut off', async () => {
    for (const isStopped of [false, true]) {
      const gate = makeGate();
      const errors: unknown[] = [];
      let given = 0;
      opened.next('ledger.grantsDue', async (...args) => {
        await gate.opened;
        return refuse(...args);
      });
      const giveMonthly = async () => {
        given += 1;
      };
      const chore = createGrantChore({ store: opened.store, giveMonthly, onError: (error) => errors.push(error) });
      chore.start();
      if (isStopped) chore.stop();
      gate.open();
      await until(() => given === 1);
      chore.stop();
      expect([isStopped, errors.length]).to.deep.equal([isStopped, isStopped ? 0 : 1]);
    }
  });

  it('runs at the start and then every minute, one after the other, until it stops', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      const gate = makeGate();
      let given = 0;
      const giveMonthly = async () => {
        given += 1;
        await gate.opened;
        throw new Error('no month has begun');
      };
      const ledger = { ...opened.store.ledger, grantsDue: async () => [] };
      const chore = createGrantChore({ store: { ledger }, giveMonthly, onError: () => undefined });
      const pass = async (ms: number) => {
        mock.timers.tick(ms);
        for (let turns = 0; turns < 5; turns += 1) await waitOneTick();
        return given;
      };
      chore.start();
      expect([await pass(0), await pass(180_000)], 'while the first one runs').to.deep.equal([1, 1]);
      gate.open();
      expect([await pass(0), await pass(60_000), await pass(60_000)]).to.deep.equal([1, 2, 3]);
      chore.stop();
      expect(await pass(180_000)).to.equal(3);
    } finally {
      mock.timers.reset();
    }
  });
});
