// Immediate charges with a failing store: charged once or not at all, together with the job.
import { expect } from 'chai';
import type { Fault } from '../../lib/base/faults.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { createLedger, type Ledger } from '../../lib/ledger/ledger.ts';
import type { CreateJob, FailJob, Job } from '../../lib/money/job-rules.ts';
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

/** For stores that do not answer. */
const SOON_MS = 150;
/** For all others, however busy the machine is. */
const PATIENT_MS = 10_000;
const RUB = 1_000_000n;

describe('the ledger with immediate charges', () => {
  let store: FaultyStore;
  let ledger: Ledger;
  let impatient: Ledger;
  let wallet: string;
  let errors: string[];
  /** The charge of the running test. */
  let a: string;
  let tests = 0;

  before(async () => {
    store = await openFaultyStore();
  });
  beforeEach(async () => {
    tests += 1;
    a = `charge-${tests}`;
    wallet = await store.wallet();
    errors = [];
    const log = { warn: () => undefined, error: (_: object, message: string) => void errors.push(message) };
    const options = { store: store.store, ownerId: 'me', leaseMs: 60_000, log };
    ledger = createLedger({ ...options, answerWithinMs: PATIENT_MS });
    impatient = createLedger({ ...options, answerWithinMs: SOON_MS });
  });
  afterEach(async () => {
    store.always('ledger.apply', undefined);
    for (const each of [ledger, impatient]) expect(await each.drain(5000)).to.equal(0);
    expect(await verifyLedger(store.real)).to.include({ ok: true, drift: 0n });
  });
  after(() => store.close());

  const request = (more: object = {}) => ({
    chargeId: a,
    wallet,
    key: 'key',
    kind: 'video' as const,
    model: 'model-v',
    prices: '{"request":"10000000"}',
    amount: 10n * RUB,
    usage: { seconds: 5 },
    ...more,
  });
  const create = (): CreateJob => {
    const at = Date.now();
    const of = { id: `job-${a}`, wallet, charge: a, model: 'model-v', upstream: 'up', facts: '{}', owner: 'me' };
    return { kind: 'create', job: { ...of, lease: at + 60_000, createdAt: at, deadline: at + 60_000 } };
  };
  const fail = ({ id, version }: Pick<Job, 'id' | 'version'>): FailJob => {
    return { kind: 'fail', id, version, at: Date.now(), error: 'it failed' };
  };
  const faultOf = async (charged: Promise<unknown>) => {
    const error = await charged.then(
      () => undefined,
      (thrown: unknown) => thrown as Fault,
    );
    return [error?.output.statusCode, error?.data?.code, error?.message];
  };
  const chargeOf = () => store.real.ledger.charge(a);
  const jobOf = () => store.real.jobs.get(`job-${a}`);

  describe('charge', () => {
    it('charges the price at once and creates the job', async () => {
      const paid = await ledger.charge(request(), create());
      expect(paid.wallet).to.include({ avail: 990n * RUB, held: 0n, charged: 10n * RUB });
      expect(paid.charge).to.include({ state: 'settled', kind: 'video', charged: 10n * RUB, owner: null });
      expect(paid.job).to.include({ phase: 'starting', owner: 'me', version: 1 });
      expect([await chargeOf(), await jobOf()]).to.deep.equal([paid.charge, paid.job]);
    });

    it('works without a job', async () => {
      const paid = await ledger.charge(request());
      expect(paid).to.have.all.keys('charge', 'wallet');
      expect(await jobOf()).to.equal(undefined);
    });

    it('throws a fault that says why nothing was charged', async () => {
      const codeOf = async (more: object) => (await faultOf(ledger.charge(request(more), create()))).slice(0, 2);
      expect(await codeOf({ amount: 1001n * RUB })).to.deep.equal([402, 'insufficient_balance']);
      expect(await codeOf({ wallet: await store.wallet(0n) })).to.deep.equal([402, 'never_topped_up']);
      expect(await codeOf({ wallet: 'nobody' })).to.deep.equal([500, 'internal']);
      await store.real.accounts.setStatus(wallet, 'suspended');
      expect(await codeOf({})).to.deep.equal([403, 'account_suspended']);
      expect([await chargeOf(), await jobOf()]).to.deep.equal([undefined, undefined]);
    });

    it('is refused under the id of another call, which stays unchanged', async () => {
      const { charge } = await ledger.charge(request(), create());
      expect((await faultOf(ledger.charge(request({ amount: RUB })))).slice(0, 2)).to.deep.equal([500, 'internal']);
      expect(await chargeOf()).to.deep.equal(charge);
    });

    for (const [name, behaviour] of Object.entries({ refuse, vanish, lose })) {
      it(`happens once when the store first answers with: ${name}`, async () => {
        store.next('ledger.apply', behaviour);
        const { charge, job } = await ledger.charge(request(), create());
        expect(charge).to.include({ id: a, state: 'settled', charged: 10n * RUB });
        expect(job).to.include({ version: 1 });
        expect(await store.read(wallet)).to.include({ charged: 10n * RUB, seq: 2 });
      });
    }

    it('counts the time that the call has already waited for the store', async () => {
      const quiet = { warn: () => undefined, error: () => undefined };
      const options = { store: store.store, ownerId: 'me', leaseMs: 60_000, log: quiet, answerWithinMs: 60_000 };
      const patient = createLedger(options);
      store.always('ledger.apply', refuse);
      const failed = await faultOf(patient.charge(request({ waitedMs: 59_990 })));
      expect(failed.slice(0, 2)).to.deep.equal([503, 'store_unavailable']);
      store.always('ledger.apply', undefined);
      expect(await patient.drain(5000)).to.equal(0);
      expect(await chargeOf()).to.equal(undefined);
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
    for (const [name, [known, failIt]] of Object.entries(failures)) {
      for (const withJob of [true, false]) {
        it(`is answered 503 when the store ${name}, and is refunded${withJob ? ' with its job' : ''}`, async () => {
          const gate = makeGate();
          failIt(gate.opened);
          const money = known
            ? 'Nothing was charged.'
            : 'Anything reserved for this call will be returned automatically.';
          expect(await faultOf(impatient.charge(request(), withJob ? create() : undefined))).to.deep.equal([
            ...[503, 'store_unavailable'],
            `The service is temporarily unavailable. ${money}`,
          ]);
          gate.open();
          store.always('ledger.apply', undefined);
          // The refund of a late charge is a new operation: the queue is not empty until both are done.
          await until(async () => (await impatient.drain(1000)) === 0 && (await chargeOf())?.state !== 'settled');
          expect(await store.read(wallet)).to.include({ avail: 1000n * RUB, held: 0n, charged: 0n });
          const state = (await chargeOf())?.state;
          expect(state).to.be.oneOf([undefined, 'refunded']);
          expect((await jobOf())?.phase).to.equal(withJob && state ? 'failed' : undefined);
        });
      }
    }

    for (const way of ['hold', 'charge'] as const) {
      it(`stores the idempotency key with a ${way}, and distinguishes a repeated request from another one`, async () => {
        const repeat = { id: `rep-${a}`, body: 'hash-1', awaited: true, expiresAt: Date.now() + 60_000 };
        await ledger[way](request({ idempotency: repeat }));
        expect(await store.real.idempotency.get(repeat.id)).to.include({ charge: a, wallet, reply: null });
        const codeOf = async (body: string) =>
          (await faultOf(ledger[way](request({ chargeId: `${a}-again`, idempotency: { ...repeat, body } })))).slice(
            0,
            2,
          );
        expect(await codeOf('hash-1')).to.deep.equal([409, 'idempotency_running']);
        expect(await codeOf('hash-2')).to.deep.equal([422, 'idempotency_mismatch']);
      });
    }

    it('is refunded late with its job, at the time when it is found', async () => {
      let clock = 1000;
      const log = { warn: () => undefined, error: () => undefined };
      const options = { store: store.store, ownerId: 'me', leaseMs: 60_000, log, answerWithinMs: SOON_MS };
      const late = createLedger({ ...options, now: () => clock });
      const gate = makeGate();
      store.next('ledger.apply', answerAfter(gate.opened));
      expect((await faultOf(late.charge(request(), create())))[0]).to.equal(503);
      clock = 5000;
      gate.open();
      await until(async () => (await jobOf())?.phase === 'failed');
      expect(await chargeOf()).to.include({ state: 'refunded', createdAt: 1000, endedAt: 5000 });
      expect(await jobOf()).to.include({ endedAt: 5000 });
    });

    it('has nothing to refund if it arrives late and the wallet does not cover it', async () => {
      const gate = makeGate();
      store.next('ledger.apply', answerAfter(gate.opened));
      expect((await faultOf(impatient.charge(request({ amount: 2000n * RUB }), create())))[0]).to.equal(503);
      gate.open();
      await until(async () => (await impatient.drain(1000)) === 0);
      expect(errors).to.deep.equal([]);
      expect(store.batches.flat().filter((id) => id === `refund:${a}`)).to.deep.equal([]);
    });
  });

  describe('refund', () => {
    it('returns the charged amount of a settled hold', async () => {
      const hold = await ledger.hold(request({ prices: '{}' }));
      await ledger.settle(hold, { amount: 3n * RUB, usage: {} });
      const { amount, status } = await ledger.refund({ chargeId: a, wallet });
      expect({ amount, status }).to.deep.equal({ amount: 3n * RUB, status: 'refunded' });
      expect(await store.read(wallet)).to.include({ avail: 1000n * RUB, held: 0n, charged: 0n });
    });

    it('returns the price and fails the job', async () => {
      const { job } = await ledger.charge(request(), create());
      const refund = await ledger.refund({ chargeId: a, wallet, job: fail(job as Job) });
      expect(refund.status).to.equal('refunded');
      expect(refund.job).to.include({ phase: 'failed', error: 'it failed', version: 2 });
      expect(await jobOf()).to.deep.equal(refund.job);
      expect(await chargeOf()).to.include({ state: 'refunded', charged: 10n * RUB });
      expect(await store.read(wallet)).to.include({ avail: 1000n * RUB, charged: 0n, seq: 3 });
      expect([refund.amount, refund.model]).to.deep.equal([10n * RUB, 'model-v']);
      const again = await ledger.refund({ chargeId: a, wallet, job: fail(job as Job) });
      expect(again, 'nothing was returned this time').to.deep.equal({ status: 'refunded', job: refund.job });
      expect((await store.read(wallet)).seq).to.equal(3);
      expect(errors).to.deep.equal([]);
    });

    for (const [name, behaviour] of Object.entries({ refuse, vanish, lose })) {
      it(`happens once when the store first answers with: ${name}`, async () => {
        const { job } = await ledger.charge(request(), create());
        store.next('ledger.apply', behaviour);
        expect((await ledger.refund({ chargeId: a, wallet, job: fail(job as Job) })).status).to.equal('refunded');
        expect(await store.read(wallet)).to.include({ avail: 1000n * RUB, seq: 3 });
        expect((await jobOf())?.version).to.equal(2);
        expect(errors).to.deep.equal([]);
      });
    }

    it('does nothing if the job has changed in the meantime', async () => {
      const { job } = await ledger.charge(request(), create());
      const begin = { kind: 'begin', id: job?.id ?? '', version: 1, at: 1, ref: 'up', dueAt: 2 } as const;
      const { job: begun } = await store.real.jobs.change(begin);
      const refund = await ledger.refund({ chargeId: a, wallet, job: fail(job as Job) });
      expect(refund).to.deep.equal({ status: 'stale_job', job: begun });
      expect(await chargeOf()).to.include({ state: 'settled' });
      expect(errors).to.deep.equal([]);
    });

    it('is logged if there is nothing to refund', async () => {
      expect(await ledger.refund({ chargeId: a, wallet })).to.deep.equal({ status: 'refused' });
      await ledger.hold(request());
      expect(await ledger.refund({ chargeId: a, wallet })).to.deep.equal({ status: 'refused' });
      expect(errors).to.deep.equal(['a refund was refused', 'a refund was refused']);
      expect(await store.read(wallet)).to.include({ held: 10n * RUB });
    });

    it('is retried until the store has applied it, after the caller was told that it is unconfirmed', async () => {
      const { job } = await ledger.charge(request(), create());
      store.always('ledger.apply', refuse);
      const refund = await impatient.refund({ chargeId: a, wallet, job: fail(job as Job) });
      expect(refund).to.deep.equal({ status: 'unconfirmed' });
      expect(errors).to.deep.equal(['the store has not confirmed the end of a call; retrying']);
      expect(await chargeOf()).to.include({ state: 'settled' });
      store.always('ledger.apply', undefined);
      expect(await impatient.drain(5000)).to.equal(0);
      expect([(await chargeOf())?.state, (await jobOf())?.phase]).to.deep.equal(['refunded', 'failed']);
    });

    it('is logged if it is refused late', async () => {
      const gate = makeGate();
      store.next('ledger.apply', answerAfter(gate.opened));
      expect(await impatient.refund({ chargeId: a, wallet })).to.deep.equal({ status: 'unconfirmed' });
      gate.open();
      expect(await impatient.drain(5000)).to.equal(0);
      expect(errors).to.deep.equal(['the store has not confirmed the end of a call; retrying', 'a refund was refused']);
    });
  });
});
