// A row of a real store is damaged: operations that need it wait separately, others are not affected, and once it is
// repaired all operations are applied.
import { expect } from 'chai';
import type { Fault } from '../../lib/base/faults.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { createLedger, type Ledger } from '../../lib/ledger/ledger.ts';
import type { Store } from '../../lib/store/store.ts';
import { until } from '../../testkit/client.ts';
import { damageWallet, loseWallet, type WalletShift } from '../../testkit/damage.ts';
import { type Behaviour, lose, vanish } from '../../testkit/faulty-store.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { applied, newId, newWallet, RUB, reserve, useStore, walletOf } from '../contract/store/context.ts';

const LEASE_MS = 60_000;
const CALLS = 120;
const CALLERS = 4;
/** Far below the delay of a lane blocked by another operation, far above the noise of a busy machine. */
const NOISE_MS = 120;
const PARKED = 'the store cannot apply this operation but accepts others; it is retried on its own';
const NOTHING = 'The service is temporarily unavailable. Nothing was charged.';
const PERHAPS =
  'The service is temporarily unavailable. Anything reserved for this call will be returned automatically.';

for (const kind of STORES) {
  describe(`a damaged row on ${kind.name}`, function () {
    this.timeout(90_000);
    const context = useStore(kind);
    let logged: string[];

    beforeEach(() => {
      logged = [];
    });

    function ledgerOf(store: Store, answerWithinMs = 4800): Ledger {
      const log = { warn: () => undefined, error: (_: object, message: string) => void logged.push(message) };
      return createLedger({ store, ownerId: newId('own'), leaseMs: LEASE_MS, log, answerWithinMs });
    }
    const request = (wallet: string) => ({
      ...({ chargeId: newId('req'), wallet, key: 'key', kind: 'text', model: 'm', prices: '{}', amount: RUB } as const),
    });
    const used = { amount: RUB / 2n, usage: { tokens_input: 1, tokens_output: 1 } };
    const orphan = (wallet: string) => applied(context.store, reserve(wallet, { owner: 'gone', lease: 1, at: 1 }));
    const messageOf = (promise: Promise<unknown>) =>
      promise.then(
        () => 'no fault',
        (error: Fault) => error.message,
      );
    const checkMoney = async () => expect(await verifyLedger(context.store)).to.include({ ok: true, drift: 0n });

    /** The 90th percentile of the duration of calls on other wallets. */
    async function p90(ledger: Ledger, wallets: readonly string[]): Promise<number> {
      const times: number[] = [];
      const callers = Array.from({ length: CALLERS }, async (_, index) => {
        const wallet = wallets[index % wallets.length] as string;
        for (let call = 0; call < CALLS / CALLERS; call += 1) {
          const startedAt = performance.now();
          const hold = await ledger.hold(request(wallet));
          times.push(performance.now() - startedAt);
          await ledger.settle(hold, used);
        }
      });
      await Promise.all(callers);
      return times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)] as number;
    }

    /** Repeats calls on a wallet and sweeps of its orphans, as often as a busy machine can take. */
    function disturb(ledger: Ledger, wallet: string) {
      let left = 40;
      const timer = setInterval(() => {
        if (left === 0) return;
        left -= 1;
        void ledger.expireOrphans({ now: Date.now(), limit: 10 });
        void messageOf(ledger.hold(request(wallet)).then((hold) => ledger.release(hold)));
      }, 25);
      return { stop: () => clearInterval(timer) };
    }

    const damages: Record<string, WalletShift> = {
      'too little is held': { held: -3n * RUB, avail: 3n * RUB },
      'nothing adds up': { held: 5n * RUB },
      'its number was used before': { seq: -2n },
    };
    const itOnSqlite = kind === SQLITE ? it : itLong;
    for (const [name, shift] of Object.entries(damages).slice(0, longer(1, 3))) {
      itOnSqlite(`does not affect other wallets when ${name}`, async () => {
        const { store, url } = context;
        const bad = await newWallet(store);
        const others = await Promise.all(Array.from({ length: CALLERS }, () => newWallet(store)));
        const ledger = ledgerOf(store);
        const undisturbed = disturb(ledger, bad);
        await p90(ledger, others);
        const before = await p90(ledger, others);
        undisturbed.stop();

        await Promise.all([orphan(bad), orphan(bad), orphan(bad)]);
        const repair = await damageWallet(url, bad, shift);
        const disturbed = disturb(ledger, bad);
        const during = await p90(ledger, others);
        disturbed.stop();
        await until(() => logged.includes(PARKED));

        await repair();
        expect(during).to.be.below(3 * before + NOISE_MS);
        await until(async () => (await walletOf(store, bad)).held === 0n, 60_000);
        expect(await ledger.drain(40_000)).to.equal(0);
        expect(await walletOf(store, bad)).to.include({ avail: 1000n * RUB, held: 0n });
        await checkMoney();
      });
    }

    it('has its orphaned hold queued only once, however often the sweep runs', async () => {
      const { store, url } = context;
      const bad = await newWallet(store);
      await orphan(bad);
      const repair = await damageWallet(url, bad, { held: 5n * RUB });
      const ledger = ledgerOf(store, 150);
      for (let sweep = 0; sweep < 5; sweep += 1) {
        await ledger.expireOrphans({ now: Date.now(), limit: 10 });
        expect(ledger.size()).to.equal(1);
      }
      // Waiting holds do not block those that can be returned.
      const good = await newWallet(store);
      await orphan(good);
      let returned = await ledger.expireOrphans({ now: Date.now(), limit: 1 });
      await until(async () => (await walletOf(store, good)).held === 0n);
      await repair();
      expect(await ledger.drain(10_000)).to.equal(0);
      returned += await ledger.expireOrphans({ now: Date.now(), limit: 10 });
      expect(returned).to.equal(2);
      await checkMoney();
    });

    /** A ledger whose first batch fails, after which `then` runs. */
    function ledgerAfter(behaviour: Behaviour, then: () => Promise<unknown>): Ledger {
      const { store } = context;
      let first = true;
      const apply: Store['ledger']['apply'] = async (batch) => {
        const call = () => store.ledger.apply(batch);
        if (!first) return call();
        first = false;
        await behaviour(call, [batch]).finally(then);
        throw new Error('the first batch was answered');
      };
      return ledgerOf({ ...store, ledger: { ...store.ledger, apply } }, 1500);
    }

    it('does not stop a lane whose previous commit was applied but not confirmed', async () => {
      const { store, url } = context;
      const bad = await newWallet(store);
      const good = await newWallet(store);
      let repair = async () => {};
      let behind: Promise<string>[] = [];
      const ledger = ledgerAfter(lose, async () => {
        repair = await damageWallet(url, bad, { held: 5n * RUB });
        behind = [bad, good].map((wallet) => messageOf(ledger.hold(request(wallet))));
      });
      const hold = await ledger.hold(request(good));
      const [refused, kept] = await Promise.all(behind);
      // An attempt that is in flight when the time is up may still be applied.
      expect(refused).to.be.oneOf([NOTHING, PERHAPS]);
      expect(kept).to.equal('no fault');
      await ledger.settle(hold, used);
      await repair();
      expect(await ledger.drain(20_000)).to.equal(0);
      expect([await walletOf(store, bad), await walletOf(store, good)].map(({ held }) => held)).to.deep.equal([
        0n,
        RUB,
      ]);
      await checkMoney();
    });

    it('is split from a batch that may have been applied; no caller is told that nothing was charged', async () => {
      const { store, url } = context;
      const bad = await newWallet(store);
      const good = await newWallet(store);
      let repair = async () => {};
      const ledger = ledgerAfter(vanish, async () => {
        repair = await damageWallet(url, bad, { held: 5n * RUB });
      });
      const answers = [bad, good].map((wallet) => messageOf(ledger.hold(request(wallet))));
      expect(await Promise.all(answers)).to.deep.equal([PERHAPS, 'no fault']);
      expect(ledger.size()).to.equal(1);
      await repair();
      // The hold is made, and released because its caller has given up.
      await until(async () => (await ledger.drain(10_000)) === 0 && (await walletOf(store, bad)).held === 0n, 20_000);
      const kinds = (await store.ledger.entries(bad, { limit: 10 })).map((entry) => entry.kind);
      expect(kinds).to.deep.equal(['release', 'reserve', 'topup']);
      await checkMoney();
    });

    it('if missing, leaves orphaned holds that do not block others', async () => {
      const { store, url } = context;
      const gone = await newWallet(store);
      const good = await newWallet(store);
      await Promise.all([orphan(gone), orphan(gone), orphan(gone)]);
      await applied(store, reserve(good, { owner: 'gone', lease: 2, at: 1 }));
      await loseWallet(url, gone);
      const ledger = ledgerOf(store);
      expect([
        await ledger.expireOrphans({ now: Date.now(), limit: 2 }),
        await ledger.expireOrphans({ now: Date.now(), limit: 2 }),
      ]).to.deep.equal([0, 1]);
      expect(ledger.size()).to.equal(0);
    });
  });
}
