// Owners of holds: leases are renewed despite failures, dead owners are detected, live ones are left alone.
import { expect } from 'chai';
import { createLedger } from '../../lib/ledger/ledger.ts';
import { createOwner, type Owner, type OwnerOptions } from '../../lib/ledger/owner.ts';
import { until } from '../../testkit/client.ts';
import { type FaultyStore, lose, makeGate, openFaultyStore, refuse, waitFor } from '../../testkit/faulty-store.ts';
import { itTimed } from '../../testkit/timed.ts';

const LEASE_MS = 300;

describe('an owner', () => {
  let store: FaultyStore;
  let wallet: string;
  let owners: Owner[];
  let warnings: string[];

  let tests = 0;

  before(async () => {
    store = await openFaultyStore();
    wallet = await store.wallet();
  });
  beforeEach(() => {
    tests += 1;
    owners = [];
    warnings = [];
  });
  afterEach(async () => {
    for (const owner of owners) await owner.stop();
  });
  after(() => store.close());

  /** A charge of the running test. */
  const id = (name: string) => `${name}-${tests}`;

  const log = {
    warn: (_fields: object, message: string) => void warnings.push(message),
    error: (_fields: object, message: string) => void warnings.push(message),
  };

  function makeOwner(ownerId: string, more: Partial<OwnerOptions> = {}): Owner {
    const ledger = createLedger({ store: store.store, ownerId, leaseMs: LEASE_MS, log });
    const owner = createOwner({ store: store.store.owners, ledger, ownerId, leaseMs: LEASE_MS, log, ...more });
    owners.push(owner);
    return owner;
  }

  async function hold(chargeId: string, owner: string): Promise<void> {
    const start = { wallet, chargeId, key: 'key', chargeKind: 'text', model: 'm', prices: '{}' } as const;
    const at = Date.now();
    await store.apply({ ...start, kind: 'reserve', amount: 10_000_000n, at, owner, lease: at - 1 });
  }
  const stateOf = async (id: string) => (await store.real.ledger.charge(id))?.state;
  /** The state that another owner sees. */
  const look = async (id = 'you') => {
    const seen = await store.real.owners.renew({ id, leaseMs: 1, alone: false });
    await store.real.owners.remove(id);
    return seen;
  };
  const peersOf = async (id: string) => (await look(id)).others;
  /** Checks that the owner stops only after the gate is open. */
  async function stopsBehind(gate: ReturnType<typeof makeGate>, owner: Owner): Promise<void> {
    let stopped = false;
    const stopping = owner.stop().then(() => {
      stopped = true;
    });
    await sleep(50);
    expect(stopped).to.equal(false);
    gate.open();
    await stopping;
    expect(await peersOf('you')).to.equal(0);
  }
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it('does not start if the store does not answer', async () => {
    store.next('owners.renew', refuse);
    const error = await makeOwner('me')
      .start()
      .then(
        () => undefined,
        (thrown: Error) => thrown,
      );
    expect(error?.name).to.equal('StoreError');
  });

  it('says that it can write until a renewal fails, and again after the next one', async () => {
    const owner = makeOwner('me');
    expect(owner.canWrite()).to.equal(false);
    await owner.start();
    expect(owner.canWrite()).to.equal(true);
    store.next('owners.renew', refuse);
    await until(() => !owner.canWrite());
    await until(() => owner.canWrite());
  });

  it('stays alive for longer than a lease, and is removed when it stops', async () => {
    const owner = makeOwner('me');
    await owner.start();
    await sleep(2 * LEASE_MS);
    expect(await peersOf('you')).to.equal(1);
    await owner.stop();
    expect(await peersOf('you')).to.equal(0);
  });

  it('stops even if it cannot sign off, and its lease expires', async () => {
    const owner = makeOwner('me');
    await owner.start();
    store.next('owners.remove', refuse);
    await owner.stop();
    expect(warnings).to.deep.equal(['could not sign off from the store']);
    await sleep(LEASE_MS + 50);
    expect(await peersOf('you')).to.equal(0);
  });

  it('waits for a running renewal before it stops', async () => {
    const owner = makeOwner('me');
    await owner.start();
    const gate = makeGate();
    let began = false;
    store.next('owners.renew', (call, args) => {
      began = true;
      return waitFor(gate.opened)(call, args);
    });
    await until(() => began);
    await stopsBehind(gate, owner);
    await sleep(LEASE_MS / 2);
    expect(await peersOf('you'), 'it renews no more').to.equal(0);
  });

  it('waits for holds being returned before it stops', async () => {
    const gate = makeGate();
    let isReturning = false;
    const expireOrphans = async () => {
      isReturning = true;
      await gate.opened;
      return 0;
    };
    const owner = makeOwner(id('me'), { ledger: { expireOrphans } });
    await owner.start();
    await until(() => isReturning);
    await stopsBehind(gate, owner);
  });

  it('has signed off once it is stopped, so that the store may be closed', async () => {
    const owner = makeOwner('me');
    await owner.start();
    const gate = makeGate();
    store.next('owners.remove', waitFor(gate.opened));
    await stopsBehind(gate, owner);
  });

  it('reports with every renewal how many others are alive', async () => {
    const counts: number[] = [];
    const onPeers = async (peers: number) => void counts.push(peers);
    const first = makeOwner('first', { onPeers });
    await first.start();
    expect(counts).to.deep.equal([0]);
    const second = makeOwner('second');
    await second.start();
    await until(() => counts.at(-1) === 1);
    await second.stop();
    await until(() => counts.at(-1) === 0);
  });

  describe('agrees with the others on where limits are counted', () => {
    const aloneOf = async () => (await look()).alone;
    const leaseMs = 60_000;

    it('announces that it counts alone before it does, until it has handed over', async () => {
      const seen = { before: [] as number[], after: [] as number[] };
      const gate = makeGate();
      const onPeers = async (peers: number) => {
        if (peers > 0) await gate.opened;
        seen[peers > 0 ? 'after' : 'before'].push(await aloneOf());
      };
      await makeOwner('first', { leaseMs, onPeers }).start();
      await store.real.owners.renew({ id: 'second', leaseMs, alone: false });
      await sleep(1200);
      expect(await aloneOf(), 'it has not handed over').to.equal(1);
      gate.open();
      await until(async () => (await aloneOf()) === 0);
      expect(new Set(seen.before)).to.deep.equal(new Set([1]));
      expect(seen.after[0]).to.equal(1);
      await store.real.owners.remove('second');
    });

    it('checks the others once more after its announcement', async () => {
      const told: number[] = [];
      store.next(
        'owners.renew',
        (call) => call(),
        async (call) => {
          await store.real.owners.renew({ id: 'second', leaseMs, alone: false });
          return call();
        },
      );
      await makeOwner('first', { leaseMs, onPeers: async (peers) => void told.push(peers) }).start();
      expect(new Set(told)).to.deep.equal(new Set([1]));
      expect(await aloneOf()).to.equal(0);
      await store.real.owners.remove('second');
    });
  });

  itTimed('informs the others within about a second, however long the lease', async () => {
    const told: number[] = [];
    const leaseMs = 60_000;
    await makeOwner('first', { leaseMs, onPeers: async (peers) => void told.push(peers) }).start();
    await sleep(100);
    await makeOwner('second', { leaseMs }).start();
    const startedAt = performance.now();
    await until(() => told.at(-1) === 1);
    expect(performance.now() - startedAt).to.be.below(1500);
  });

  it('keeps renewing and returning holds while limits cannot be handed over', async () => {
    await hold(id('of-gone'), 'gone');
    await makeOwner('me', { onPeers: () => Promise.reject(new Error('no limits')) }).start();
    await until(async () => (await stateOf(id('of-gone'))) === 'expired');
    expect(await peersOf('you')).to.equal(1);
    expect(warnings).to.include('could not hand over the rate-limit counts');
    expect(warnings).to.not.include('could not renew the lease');
  });

  it('keeps renewing while the store does not accept returned holds', async () => {
    await hold(id('of-gone'), 'gone');
    const gate = makeGate();
    let began = false;
    store.next('ledger.apply', (call, args) => {
      began = true;
      return waitFor(gate.opened)(call, args);
    });
    await makeOwner('me').start();
    await until(() => began);
    await sleep(2 * LEASE_MS);
    expect(await peersOf('you')).to.equal(1);
    gate.open();
    await until(async () => (await stateOf(id('of-gone'))) === 'expired');
  });

  it('considers everyone alive for a whole lease after its start', async () => {
    await store.real.owners.renew({ id: 'locked-out', leaseMs: 1, alone: false });
    await hold(id('of-locked-out'), 'locked-out');
    await hold(id('of-gone'), 'gone');
    await makeOwner('me').start();
    const startedAt = performance.now();
    // The store was locked for longer than a lease, and now serves both.
    await sleep(LEASE_MS / 2);
    await store.real.owners.renew({ id: 'locked-out', leaseMs: 60_000, alone: false });
    await until(async () => (await stateOf(id('of-gone'))) === 'expired');
    expect(performance.now() - startedAt).to.be.at.least(LEASE_MS - 20);
    expect(await stateOf(id('of-locked-out'))).to.equal('held');
    await store.real.owners.remove('locked-out');
  });

  it('returns the holds of a dead process, and none of a living one', async () => {
    const peer = makeOwner('peer');
    await peer.start();
    await hold(id('of-peer'), 'peer');
    await hold(id('of-gone'), 'gone');
    await hold(id('of-me'), 'me');
    const owner = makeOwner('me');
    await owner.start();
    await until(async () => (await stateOf(id('of-gone'))) === 'expired');
    await sleep(LEASE_MS);
    expect([await stateOf(id('of-peer')), await stateOf(id('of-me'))]).to.deep.equal(['held', 'held']);
    expect(warnings).to.deep.equal(['returned the holds of a dead process']);
  });

  for (const [name, behaviour] of Object.entries({ refuse, lose })) {
    itTimed(`gives the others a whole lease after renewals that ended with ${name}`, async () => {
      const owner = makeOwner('me');
      await owner.start();
      store.always('owners.renew', behaviour);
      await until(() => warnings.length >= 2);
      await hold(id('of-gone'), 'gone');
      store.always('owners.renew', undefined);
      const steadyFrom = performance.now();
      await until(async () => (await stateOf(id('of-gone'))) === 'expired');
      expect(performance.now() - steadyFrom).to.be.within(LEASE_MS - 20, 2 * LEASE_MS + 200);
    });
  }

  for (const [direction, jumpMs] of [
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ] as const) {
    it(`returns nothing for a whole lease after the clock was set ${direction} by an hour`, async () => {
      let aheadMs = 0;
      store.always('owners.renew', async (call) => {
        const seen = (await call()) as { readonly now: number };
        return { ...seen, now: seen.now + aheadMs };
      });
      const sweeps: { readonly clockMs: number; readonly at: number }[] = [];
      const ledger: OwnerOptions['ledger'] = {
        expireOrphans: async ({ now }) => {
          sweeps.push({ clockMs: now, at: performance.now() });
          return 0;
        },
      };
      try {
        await makeOwner('me', { ledger }).start();
        await until(() => sweeps.length > 1);
        aheadMs = jumpMs;
        const jumpedAt = performance.now();
        const isAfter = ({ clockMs }: { readonly clockMs: number }) => Math.abs(clockMs - Date.now()) > 1_800_000;
        await until(() => sweeps.some(isAfter));
        expect((sweeps.find(isAfter)?.at ?? 0) - jumpedAt).to.be.at.least(LEASE_MS);
      } finally {
        store.always('owners.renew', undefined);
      }
    });
  }

  it('returns nothing after a renewal that took longer than the lease', async () => {
    const owner = makeOwner('me');
    await owner.start();
    const gate = makeGate();
    let began = false;
    store.next('owners.renew', (call, args) => {
      began = true;
      return waitFor(gate.opened)(call, args);
    });
    await until(() => began);
    await hold(id('of-me'), 'me');
    await sleep(LEASE_MS + 50);
    gate.open();
    await until(() => warnings.length === 1);
    await sleep(2 * LEASE_MS);
    expect(await stateOf(id('of-me'))).to.equal('held');
    expect(warnings).to.deep.equal(['could not renew the lease']);
  });

  it('continues if orphans cannot be read', async () => {
    await hold(id('of-gone'), 'gone');
    store.next('ledger.orphans', refuse);
    await makeOwner('me').start();
    await until(async () => (await stateOf(id('of-gone'))) === 'expired');
    expect(warnings).to.deep.equal(['could not sweep orphaned holds', 'returned the holds of a dead process']);
  });
});
