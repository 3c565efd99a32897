// The ledger service with a failing store: every await on the money path has a test in which it fails.
import { expect } from 'chai';
import type { Fault } from '../../lib/base/faults.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { createLedger, type Ledger, type LedgerLog } from '../../lib/ledger/ledger.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { until } from '../../testkit/client.ts';
import {
  answerAfter,
  type FaultyStore,
  lose,
  makeGate,
  openFaultyStore,
  refuse,
  refuseAfter,
  vanish,
  waitFor,
} from '../../testkit/faulty-store.ts';
import { itTimed } from '../../testkit/timed.ts';

/** For stores that do not answer. */
const SOON_MS = 150;
/** For all others, however busy the machine is. */
const PATIENT_MS = 10_000;
const quiet = { warn: () => undefined, error: () => undefined };
const RUB = 1_000_000n;

describe('the ledger', () => {
  let store: FaultyStore;
  let ledger: Ledger;
  let impatient: Ledger;
  let wallet: string;
  let logged: { level: string; fields: object; message: string }[];
  /** The charge of the running test. */
  let a: string;
  let tests = 0;

  const openLedger = (answerWithinMs: number, log: LedgerLog = quiet) =>
    createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log, answerWithinMs });

  before(async () => {
    store = await openFaultyStore();
  });
  beforeEach(async () => {
    tests += 1;
    a = `charge-${tests}`;
    wallet = await store.wallet();
    logged = [];
    const logger = (level: string) => (fields: object, message: string) => void logged.push({ level, fields, message });
    const log = { warn: logger('warn'), error: logger('error') };
    ledger = openLedger(PATIENT_MS, log);
    impatient = openLedger(SOON_MS, log);
  });
  afterEach(async () => {
    store.always('ledger.apply', undefined);
    for (const each of [ledger, impatient]) expect(await each.drain(5000)).to.equal(0);
    expect(await verifyLedger(store.real)).to.include({ ok: true, drift: 0n });
  });
  after(() => store.close());

  const request = (chargeId: string, more: object = {}) => ({
    chargeId,
    wallet,
    key: 'key',
    kind: 'text' as const,
    model: 'model-a',
    prices: '{"any":"1"}',
    amount: 10n * RUB,
    ...more,
  });
  const used = (amount: bigint) => ({ amount, usage: { tokens_input: 1, tokens_output: 2 } });
  const faultOf = async (held: Promise<unknown>) => {
    const error = await held.then(
      () => undefined,
      (thrown: unknown) => thrown as Fault,
    );
    return [error?.output.statusCode, error?.data?.code, error?.message];
  };
  const chargeOf = async (id: string) => await store.real.ledger.charge(id);
  const errors = () => logged.filter(({ level }) => level === 'error').map(({ message }) => message);

  describe('hold', () => {
    it('holds the amount for its owner, with the current prices', async () => {
      const { charge, wallet: after } = await ledger.hold(request(a));
      expect(after).to.include({ avail: 990n * RUB, held: 10n * RUB });
      expect(charge).to.include({ state: 'held', owner: 'me', model: 'model-a', prices: '{"any":"1"}' });
      expect(await chargeOf(a)).to.deep.equal(charge);
    });

    it('throws a fault that says why there is no hold', async () => {
      await ledger.hold(request(a, { amount: 995n * RUB }));
      expect(await faultOf(ledger.hold(request('b')))).to.deep.equal([
        402,
        'insufficient_balance',
        'The balance is too low: this call needs a reserve of 10.00 RUB and the balance is 5.00 RUB. ' +
          'A further 995.00 RUB is reserved by calls still running. Top up the wallet or lower `max_tokens`.',
      ]);
      const image = await faultOf(ledger.hold(request('b', { kind: 'image' })));
      expect(image[2])
        .to.contain('this call costs 10.00 RUB and')
        .and.to.match(/Top up the wallet\.$/);
      const poor = await store.wallet(0n);
      expect((await faultOf(ledger.hold(request('c', { wallet: poor })))).slice(0, 2)).to.deep.equal([
        402,
        'never_topped_up',
      ]);
      await store.real.accounts.setStatus(wallet, 'suspended');
      expect((await faultOf(ledger.hold(request('d')))).slice(0, 2)).to.deep.equal([403, 'account_suspended']);
      expect((await faultOf(ledger.hold(request('e', { wallet: 'nobody' })))).slice(0, 2)).to.deep.equal([
        500,
        'internal',
      ]);
    });

    it('counts the debt of running calls as held when it refuses', async () => {
      const [, , message] = await faultOf(ledger.hold(request(a, { amount: 700n * RUB, owed: 400n * RUB })));
      expect(message).to.contain('the balance is 600.00 RUB. A further 400.00 RUB is reserved by calls still running');
    });

    for (const [name, behaviour] of Object.entries({ refuse, vanish, lose })) {
      itTimed(`is made once when the store first answers with: ${name}`, async () => {
        store.next('ledger.apply', behaviour);
        const { charge } = await ledger.hold(request(a));
        expect(charge).to.include({ id: a, state: 'held', reserved: 10n * RUB });
        expect(await store.read(wallet)).to.include({ held: 10n * RUB, seq: 2 });
      });
    }

    it('counts the time that the call has already waited for the store', async () => {
      const patient = openLedger(60_000);
      store.always('ledger.apply', refuse);
      const failed = await faultOf(patient.hold(request(a, { waitedMs: 59_990 })));
      expect(failed.slice(0, 2)).to.deep.equal([503, 'store_unavailable']);
      store.always('ledger.apply', undefined);
      expect(await patient.drain(5000)).to.equal(0);
      expect(await chargeOf(a)).to.equal(undefined);
    });

    it('tells how long the call has waited for the store by then', async () => {
      const gate = makeGate();
      store.next('ledger.apply', waitFor(gate.opened));
      setTimeout(gate.open, 60);
      const { waitedMs } = await ledger.hold(request(a, { waitedMs: 50 }));
      expect(waitedMs).to.be.at.least(105);
    });

    type Fail = (gate: Promise<void>) => void;
    const failures: Record<string, readonly [known: boolean, Fail]> = {
      'refuses for too long': [true, () => store.always('ledger.apply', refuse)],
      'gives no sign for too long': [false, () => store.always('ledger.apply', vanish)],
      'is stuck before it': [false, (gate) => store.next('ledger.apply', waitFor(gate))],
      'is stuck in it and refuses then': [false, (gate) => store.next('ledger.apply', refuseAfter(gate))],
      'is stuck after it': [false, (gate) => store.next('ledger.apply', answerAfter(gate))],
      'loses its answer and then refuses': [false, () => store.next('ledger.apply', lose, ...Array(5).fill(refuse))],
      'loses its answer and then is stuck': [false, (gate) => store.next('ledger.apply', lose, waitFor(gate))],
    };
    for (const [name, [known, fail]] of Object.entries(failures)) {
      itTimed(`is answered 503 when the store ${name}, and leaves no hold`, async () => {
        const gate = makeGate();
        fail(gate.opened);
        const startedAt = performance.now();
        const money = known
          ? 'Nothing was charged.'
          : 'Anything reserved for this call will be returned automatically.';
        expect(await faultOf(impatient.hold(request(a)))).to.deep.equal([
          503,
          'store_unavailable',
          `The service is temporarily unavailable. ${money}`,
        ]);
        const ms = performance.now() - startedAt;
        gate.open();
        store.always('ledger.apply', undefined);
        // The release of a late hold is a new operation: the queue is not empty until both are done.
        await until(async () => (await impatient.drain(1000)) === 0 && (await chargeOf(a))?.state !== 'held');
        expect(await store.read(wallet)).to.include({ avail: 1000n * RUB, held: 0n, charged: 0n });
        expect((await chargeOf(a))?.state).to.be.oneOf([undefined, 'released']);
        expect(ms).to.be.below(SOON_MS + 300);
      });
    }

    it('is answered 503 if another process had returned it before its outcome was known', async () => {
      store.next('ledger.apply', async (call, args) => {
        await call();
        await store.apply({ kind: 'expire', wallet, chargeId: a, at: Date.now() });
        return lose(async () => undefined, args);
      });
      expect(await faultOf(ledger.hold(request(a)))).to.deep.equal([
        503,
        'store_unavailable',
        'The service is temporarily unavailable. Nothing was charged.',
      ]);
      expect(await store.read(wallet)).to.include({ avail: 1000n * RUB, held: 0n });
    });

    it('has nothing to release if it arrives late and the wallet does not cover it', async () => {
      const kinds: string[] = [];
      const gate = makeGate();
      store.always('ledger.apply', async (call, [batch]) => {
        for (const { kind } of batch as readonly Operation[]) kinds.push(kind);
        const answer = await call();
        await gate.opened;
        return answer;
      });
      expect((await faultOf(impatient.hold(request(a, { amount: 2000n * RUB })))).slice(0, 1)).to.deep.equal([503]);
      gate.open();
      await until(async () => (await impatient.drain(1000)) === 0);
      expect(kinds).to.deep.equal(['reserve']);
    });
  });

  describe('settle', () => {
    const cases = [
      { amount: 4n * RUB, avail: 996n * RUB },
      { amount: 10n * RUB, avail: 990n * RUB },
      { amount: 25n * RUB, avail: 975n * RUB },
    ];
    for (const { amount, avail } of cases) {
      it(`charges ${amount / RUB} of 10 RUB held`, async () => {
        const hold = await ledger.hold(request(a));
        const settlement = await ledger.settle(hold, used(amount));
        expect(settlement).to.deep.equal({ charged: amount, reserved: 10n * RUB, balance: avail, confirmed: true });
        expect(await store.read(wallet)).to.include({ avail, held: 0n, charged: amount });
        expect(await chargeOf(a)).to.include({ state: 'settled', usage: '{"tokens_input":1,"tokens_output":2}' });
        expect(logged).to.deep.equal([]);
      });
    }

    for (const [name, behaviour] of Object.entries({ refuse, vanish, lose })) {
      it(`charges once when the store first answers with: ${name}`, async () => {
        const hold = await ledger.hold(request(a));
        store.next('ledger.apply', behaviour);
        const settlement = await ledger.settle(hold, used(4n * RUB));
        expect(settlement).to.include({ charged: 4n * RUB, balance: 996n * RUB, confirmed: true });
        expect(await store.read(wallet)).to.include({ avail: 996n * RUB, charged: 4n * RUB, seq: 3 });
        expect(errors()).to.deep.equal([]);
      });
    }

    it('returns the expected result if the store does not answer, and books it later', async () => {
      const hold = await ledger.hold(request(a));
      store.always('ledger.apply', refuse);
      const settlement = await impatient.settle(hold, used(4n * RUB));
      expect(settlement).to.deep.equal({
        charged: 4n * RUB,
        reserved: 10n * RUB,
        balance: 996n * RUB,
        confirmed: false,
      });
      expect(errors()).to.deep.equal(['the store has not confirmed the end of a call; retrying']);
      expect(await chargeOf(a)).to.include({ state: 'held' });
      store.always('ledger.apply', undefined);
      expect(await impatient.drain(5000)).to.equal(0);
      expect(await chargeOf(a)).to.include({ state: 'settled', charged: 4n * RUB });
    });

    itTimed('waits less for the store the longer its hold has waited, down to an eighth', async () => {
      const patient = openLedger(4000);
      const waits: number[] = [];
      for (const waitedMs of [3000, 3990]) {
        const id = `${a}-${waitedMs}`;
        const gate = makeGate();
        const hold = await patient.hold(request(id, { waitedMs }));
        store.next('ledger.apply', waitFor(gate.opened));
        const from = performance.now();
        expect(await patient.settle(hold, used(4n * RUB))).to.include({ charged: 4n * RUB, confirmed: false });
        waits.push(performance.now() - from);
        gate.open();
        expect(await patient.drain(5000)).to.equal(0);
        expect(await chargeOf(id)).to.include({ state: 'settled', charged: 4n * RUB });
      }
      const [shared = 0, least = 0] = waits;
      expect(shared).to.be.within(700, 1500);
      expect(least).to.be.within(450, 1200);
    });

    it('charges a call in full whose hold the sweeper had expired', async () => {
      const hold = await ledger.hold(request(a));
      await store.apply({ kind: 'expire', wallet, chargeId: a, at: Date.now() });
      const settlement = await ledger.settle(hold, used(4n * RUB));
      expect(settlement).to.include({ charged: 4n * RUB, balance: 996n * RUB, confirmed: true });
      expect(await chargeOf(a)).to.include({ state: 'settled', charged: 4n * RUB });
      expect(errors()).to.deep.equal([]);
    });

    it('is free, and logged, if the client has repeated the call while its hold was expired', async () => {
      const idempotency = { id: `rep-${a}`, body: 'hash-1', awaited: true, expiresAt: Date.now() + 60_000 };
      const hold = await ledger.hold(request(a, { idempotency }));
      await store.apply({ kind: 'expire', wallet, chargeId: a, at: Date.now() });
      const again = await ledger.hold(request(`${a}-again`, { idempotency }));
      expect(await ledger.settle(again, used(3n * RUB))).to.include({ charged: 3n * RUB });
      expect(logged).to.deep.equal([]);
      expect(await ledger.settle(hold, used(4n * RUB))).to.include({ charged: 0n, balance: 997n * RUB });
      expect(logged.map(({ level, message }) => [level, message])).to.deep.equal([
        ['warn', 'a late call is free: its client has repeated it'],
      ]);
    });

    for (const ends of [['release'], ['settle', 'refund']] as const) {
      it(`charges nothing and logs an error if the call had ended differently: ${ends.join(', ')}`, async () => {
        const hold = await ledger.hold(request(a));
        const end = { wallet, chargeId: a, at: Date.now(), amount: 3n * RUB, usage: null };
        for (const kind of ends) await store.apply({ ...end, kind });
        const settlement = await ledger.settle(hold, used(4n * RUB));
        expect(settlement).to.include({ charged: 0n, balance: 1000n * RUB, confirmed: true });
        expect(errors()).to.deep.equal(['a call ended twice or too late']);
      });
    }
  });

  describe('release', () => {
    for (const [name, behaviour] of Object.entries({ refuse, vanish, lose })) {
      it(`returns the hold once when the store first answers with: ${name}`, async () => {
        const hold = await ledger.hold(request(a));
        store.next('ledger.apply', behaviour);
        const settlement = await ledger.release(hold);
        expect(settlement).to.deep.equal({
          charged: 0n,
          reserved: 10n * RUB,
          balance: 1000n * RUB,
          confirmed: true,
        });
        expect(await store.read(wallet)).to.include({ avail: 1000n * RUB, held: 0n, seq: 3 });
        expect(errors()).to.deep.equal([]);
      });
    }

    it('returns the hold when the store comes back', async () => {
      const hold = await ledger.hold(request(a));
      store.always('ledger.apply', vanish);
      expect(await impatient.release(hold)).to.include({ charged: 0n, balance: 1000n * RUB, confirmed: false });
      store.always('ledger.apply', undefined);
      expect(await impatient.drain(5000)).to.equal(0);
      expect(await chargeOf(a)).to.include({ state: 'released' });
    });
  });

  describe('orphaned holds', () => {
    const expire = (limit: number) => ledger.expireOrphans({ now: Date.now(), limit });
    const orphan = async (chargeId: string, owner: string, leftMs: number) => {
      const { kind: chargeKind, ...start } = request(chargeId);
      const at = Date.now();
      await store.apply({ ...start, kind: 'reserve', chargeKind, at, owner, lease: at + leftMs });
    };

    it('are expired holds of dead owners; they are returned in full, up to a limit at once', async () => {
      await store.real.owners.renew({ id: 'alive', leaseMs: 60_000, alone: false });
      await store.real.owners.renew({ id: 'late', leaseMs: 1, alone: false });
      await new Promise((resolve) => setTimeout(resolve, 5));
      await orphan('of-alive', 'alive', -1);
      await orphan('of-nobody', 'nobody', -1);
      await orphan('of-late', 'late', -1);
      await orphan('with-lease', 'nobody', 60_000);
      expect(await expire(1)).to.equal(1);
      expect(await expire(10)).to.equal(1);
      expect(await expire(10)).to.equal(0);
      const states = ['of-alive', 'of-nobody', 'of-late', 'with-lease'].map(async (id) => (await chargeOf(id))?.state);
      expect(await Promise.all(states)).to.deep.equal(['held', 'expired', 'expired', 'held']);
      expect(await store.read(wallet)).to.include({ avail: 980n * RUB, held: 20n * RUB });
    });

    it('are counted by the process that returned them, even if two sweep at once', async () => {
      await orphan('of-both', 'nobody', -1);
      const other = createLedger({ store: store.real, ownerId: 'other', leaseMs: 60_000, log: quiet });
      const gate = makeGate();
      store.next('ledger.apply', waitFor(gate.opened));
      const mine = expire(10);
      await until(() => ledger.size() === 1);
      expect(await other.expireOrphans({ now: Date.now(), limit: 10 })).to.equal(1);
      gate.open();
      expect(await mine).to.equal(0);
      expect([ledger.size(), (await chargeOf('of-both'))?.state]).to.deep.equal([0, 'expired']);
    });

    it('reject if they cannot be read, and are returned late if that cannot be written', async () => {
      await orphan(a, 'nobody', -1);
      store.next('ledger.orphans', refuse);
      await expire(10).then(
        () => expect.fail('it was read'),
        (error: Error) => expect(error.name).to.equal('StoreError'),
      );
      store.always('ledger.apply', refuse);
      await impatient.expireOrphans({ now: Date.now(), limit: 10 });
      expect((await chargeOf(a))?.state).to.equal('held');
      store.always('ledger.apply', undefined);
      expect(await impatient.drain(5000)).to.equal(0);
      expect((await chargeOf(a))?.state).to.equal('expired');
    });
  });
});
