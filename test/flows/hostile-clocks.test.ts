// The clock is set forward or back, or the machine sleeps, while calls run: nobody is taken for dead, no key is locked out.
import { expect } from 'chai';
import { createLimiter } from '../../lib/http/limiter.ts';
import { createLedger } from '../../lib/ledger/ledger.ts';
import { createOwner, type Owner } from '../../lib/ledger/owner.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { until } from '../helpers/client.ts';
import { type Books, type Home, makeHome, openBooks } from '../helpers/process.ts';

const LEASE_MS = 600;
const HOUR_MS = 3_600_000;
const RULE = { name: 'generate', perMinute: 3 };

describe('hostile clocks', () => {
  let home: Home;
  let books: Books;
  let store: Store;
  let offsetMs: number;
  let owners: Owner[];
  const now = () => Date.now() + offsetMs;
  const log = { warn: () => undefined, error: () => undefined };

  beforeEach(async () => {
    offsetMs = 0;
    owners = [];
    home = makeHome();
    books = await openBooks(home);
    store = await openStore(`sqlite:${home.database}`);
  });
  afterEach(async () => {
    for (const owner of owners) await owner.stop();
    await store.close();
    await books.close();
    home.remove();
  });

  async function start(ownerId: string) {
    const ledger = createLedger({ store, ownerId, leaseMs: LEASE_MS, log, now });
    const owner = createOwner({ store: store.owners, ledger, ownerId, leaseMs: LEASE_MS, log, now });
    owners.push(owner);
    await owner.start();
    return ledger;
  }
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const call = { kind: 'text', key: 'key', model: 'm', prices: '{}', amount: 10_000_000n } as const;

  for (const afterMs of [20, 120, 220]) {
    it(`set forward by an hour: calls of every living process are charged (${afterMs} ms after a start)`, async () => {
      const account = await books.account();
      const ledgers = [await start('first')];
      await sleep(100);
      ledgers.push(await start('second'));
      const hold = (index: number) => ({ ...call, wallet: account.id, chargeId: `call-${index}` });
      const holds = await Promise.all(ledgers.map((ledger, index) => ledger.hold(hold(index))));
      await sleep(afterMs);
      offsetMs = HOUR_MS;
      await sleep(2 * LEASE_MS);
      const used = { amount: 4_000_000n, usage: { tokens_input: 1, tokens_output: 1 } };
      for (const [index, ledger] of ledgers.entries()) {
        const { charged } = await ledger.settle(holds[index]!, used);
        expect(charged).to.equal(4_000_000n);
      }
      expect(await books.wallet(account)).to.include({ held: 0n, charged: 8_000_000n });
    });
  }

  it('set forward by an hour: the hold of a dead process goes back all the same', async () => {
    const account = await books.account();
    await start('living');
    const dead = createLedger({ store, ownerId: 'dead', leaseMs: LEASE_MS, log, now });
    await dead.hold({ ...call, wallet: account.id, chargeId: 'call' });
    offsetMs = HOUR_MS;
    await until(async () => (await books.held()) === 0n, 4 * LEASE_MS);
    expect((await store.ledger.charge('call'))?.state).to.equal('expired');
  });

  for (const peers of [0, 1]) {
    it(`set back by an hour: a key waits no hour for its next window (${peers} other processes)`, async () => {
      const limiter = createLimiter({ store: store.limits, now });
      await limiter.setPeers(peers);
      for (let hit = 0; hit < 4; hit += 1) await limiter.hit(RULE, 'key');
      expect((await limiter.hit(RULE, 'key')).allowed).to.equal(false);
      offsetMs = -HOUR_MS;
      expect((await limiter.hit(RULE, 'key')).allowed).to.equal(true);
      for (let hit = 0; hit < 4; hit += 1) await limiter.hit(RULE, 'key');
      expect((await limiter.hit(RULE, 'key')).allowed).to.equal(false);
    });
  }
});
