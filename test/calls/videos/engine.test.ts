// How videos begin on a store that fails on demand: whatever fails, and whoever leaves, the price and the job end alike.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import { StoreError } from '../../../lib/store/store.ts';
import type { VideoProvider, VideoRef } from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { until } from '../../../testkit/client.ts';
import {
  answerAfter,
  type Behaviour as Fails,
  type FaultyStore,
  lose,
  makeGate,
  openFaultyStore,
  refuse,
  vanish,
  waitFor,
} from '../../../testkit/faulty-store.ts';
import { accepts, client, deaf, openStage, PRICE, RUB, type VideoStage } from './stage.ts';

const FULL = 1000n * RUB;
const refusing: VideoProvider['start'] = async () => {
  throw upstreamFault('quota', 'no money', { status: 402 });
};
const breaking: VideoProvider['start'] = async () => {
  throw upstreamFault('server', 'broken', { status: 500 });
};

describe('video engine', () => {
  let faulty: FaultyStore;
  let wallet: string;
  let stage: VideoStage;

  const open = (...args: Parameters<typeof openStage> extends [unknown, unknown, ...infer Rest] ? Rest : never) => {
    stage = openStage(faulty, 'own_me', ...args);
    return stage;
  };
  /** Another process takes this one for dead. */
  const claimAll = () => faulty.real.jobs.claim({ owner: 'own_other', leaseMs: 60_000, limit: 10, at: Date.now() });
  const balance = async () => (await faulty.read(wallet)).avail;

  before(async () => {
    faulty = await openFaultyStore();
  });
  beforeEach(async () => {
    wallet = await faulty.wallet();
  });
  afterEach(async () => {
    for (const name of ['ledger.apply', 'jobs.change'] as const) faulty.always(name, undefined);
    expect(await stage.ledger.drain(5000)).to.equal(0);
    stage.engine.stop();
    expect(await verifyLedger(faulty.real)).to.include({ ok: true });
  });
  after(() => faulty.close());

  it('charges, asks the upstream, and notes what it calls the job', async () => {
    const { thrown, job } = await open().begin(wallet);
    expect(thrown).to.equal(undefined);
    expect(job).to.include({ phase: 'running', upstream: 'up-0', ref: '{"id":"up_1"}', owner: null });
    expect([await balance(), stage.asked]).to.deep.equal([FULL - PRICE, [1]]);
  });

  it('keeps with the charge what it pays for', async () => {
    const { requestId } = await open().begin(wallet);
    const charge = await faulty.real.ledger.charge(requestId);
    expect(JSON.parse(charge?.usage ?? '{}')).to.deep.equal({ seconds: 5 });
  });

  describe('when the charge', () => {
    it('is not taken, asks nobody', async () => {
      faulty.always('ledger.apply', refuse);
      const { thrown, job } = await open().begin(wallet);
      expect(thrown.message).to.equal(fault('store_unavailable').message);
      expect([job, await balance(), stage.asked]).to.deep.equal([undefined, FULL, [0]]);
    });

    for (const [name, fails] of Object.entries({ vanishes: vanish, 'is made and its answer lost': lose })) {
      it(`${name}, is sent again and made once`, async () => {
        faulty.next('ledger.apply', fails);
        const { thrown, job } = await open().begin(wallet);
        expect([thrown, job?.phase, await balance()]).to.deep.equal([undefined, 'running', FULL - PRICE]);
      });
    }

    for (const [name, slow] of Object.entries({ 'is known': answerAfter, 'is made': waitFor })) {
      it(`${name} after the client was told that it is not known, goes back with its job`, async () => {
        const gate = makeGate();
        faulty.next('ledger.apply', slow(gate.opened));
        const { thrown, id } = await open().begin(wallet);
        expect(thrown.message).to.equal(fault('store_unavailable', { unconfirmed: true }).message);
        gate.open();
        expect(await stage.ledger.drain(5000)).to.equal(0);
        const job = await faulty.real.jobs.get(id);
        expect(job?.phase).to.equal('failed');
        expect([await balance(), stage.asked]).to.deep.equal([FULL, [0]]);
      });
    }
  });

  describe('of a client that', () => {
    it('has left before the charge, takes nothing and asks nobody', async () => {
      const { controller, leave } = client();
      leave();
      const { thrown, job } = await open().begin(wallet, { controller });
      expect(thrown).to.equal(controller.signal.reason);
      expect([job, await balance(), stage.asked]).to.deep.equal([undefined, FULL, [0]]);
    });

    it('leaves while it is charged, or while the upstream begins, goes on', async () => {
      for (const at of ['charge', 'start'] as const) {
        const { controller, leave } = client();
        const start: VideoProvider['start'] = async () => {
          if (at === 'start') leave();
          await sleep(20);
          return { id: 'up_1' };
        };
        if (at === 'charge')
          faulty.next('ledger.apply', async (call) => {
            leave();
            return call();
          });
        const { thrown, job } = await open({ starts: [start] }).begin(wallet, { controller });
        expect([at, thrown, job?.phase]).to.deep.equal([at, undefined, 'running']);
      }
      expect(await balance()).to.equal(FULL - 2n * PRICE);
    });
  });

  describe('when the service ends the call', () => {
    const closes: VideoProvider['start'] = (_call, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(upstreamFault('network', 'closed'))),
      );
    for (const [name, start] of Object.entries({ 'does not notice': deaf, 'says that its connection broke': closes })) {
      it(`gives the price back and says why, though the upstream ${name}`, async () => {
        const controller = new AbortController();
        const ends: VideoProvider['start'] = (call, signal) => {
          setImmediate(() => controller.abort(fault('shutting_down')));
          return start(call, signal);
        };
        const { thrown, job } = await open({ starts: [ends, accepts] }).begin(wallet, { controller });
        expect(thrown.message).to.equal('The service is restarting. Charge refunded.');
        expect(job).to.include({ phase: 'failed', error: 'The service is restarting.' });
        expect([await balance(), stage.asked]).to.deep.equal([FULL, [1, 0]]);
      });
    }

    it('while it is charged, gives the price back and asks nobody', async () => {
      const controller = new AbortController();
      faulty.next('ledger.apply', async (call) => {
        controller.abort(fault('shutting_down'));
        return call();
      });
      const { thrown, job } = await open().begin(wallet, { controller });
      expect(thrown.message).to.equal('The service is restarting. Charge refunded.');
      expect([job?.phase, await balance(), stage.asked]).to.deep.equal(['failed', FULL, [0]]);
    });
  });

  describe('when the upstream', () => {
    it('never answers and its plugin heeds no signal, gives up in time and gives the price back', async () => {
      const { thrown, job } = await open({ starts: [deaf, accepts], startWithinMs: 50 }).begin(wallet);
      expect(thrown.message).to.equal('The upstream provider did not answer in time. Charge refunded.');
      expect([job?.phase, await balance(), stage.asked]).to.deep.equal(['failed', FULL, [1, 0]]);
    });

    const nameless = [undefined, null, {}, { id: 7 }, 'up_1'] as unknown as VideoRef[];
    for (const ref of nameless) {
      it(`begins and names the job ${JSON.stringify(ref)}, gives the price back and asks no other`, async () => {
        const { thrown, job } = await open({ starts: [async () => ref, accepts] }).begin(wallet);
        expect(thrown.message).to.equal('The upstream provider failed. Charge refunded.');
        expect([job?.phase, await balance(), stage.asked]).to.deep.equal(['failed', FULL, [1, 0]]);
      });
    }
  });

  it('notes each route before it is asked, and looks at the one that has begun it', async () => {
    const { thrown, job } = await open({ starts: [refusing, refusing, accepts] }).begin(wallet);
    expect([thrown, stage.asked]).to.deep.equal([undefined, [1, 1, 1]]);
    expect(stage.attempts).to.deep.equal(['up-0 error', 'up-1 error', 'up-2 finish']);
    expect(job).to.include({ upstream: 'up-2', phase: 'running', version: 4 });
  });

  describe('when the next route', () => {
    const ways: readonly [string, Fails, string, bigint][] = [
      ['cannot be noted, asks nobody and gives the price back', refuse, 'failed', FULL],
      ['may have been noted, asks nobody and gives the price back', lose, 'failed', FULL],
    ];
    for (const [name, fails, phase, left] of ways) {
      it(name, async () => {
        faulty.next('jobs.change', fails);
        const { thrown, job } = await open({ starts: [refusing, accepts] }).begin(wallet);
        expect(thrown.message).to.match(/ Charge refunded\.$/);
        expect([job?.phase, await balance(), stage.asked]).to.deep.equal([phase, left, [1, 0]]);
      });
    }
  });

  describe('when what the upstream calls the job', () => {
    it('is not taken at first, is noted later: the client waits for it', async () => {
      faulty.next('jobs.change', refuse, refuse);
      const { thrown, job } = await open().begin(wallet);
      expect([thrown, job?.phase, job?.ref]).to.deep.equal([undefined, 'running', '{"id":"up_1"}']);
      expect(await balance()).to.equal(FULL - PRICE);
    });

    it('is noted and the answer lost, is noted once', async () => {
      faulty.next('jobs.change', lose);
      const { thrown, job } = await open().begin(wallet);
      expect([thrown, job?.phase, job?.version]).to.deep.equal([undefined, 'running', 2]);
    });

    it('is not noted before the service stops: the others give the price back', async () => {
      faulty.always('jobs.change', refuse);
      setTimeout(() => stage.engine.stop(), 100);
      const { thrown, job, id } = await open().begin(wallet);
      expect(thrown.message).to.equal(fault('store_unavailable', { unconfirmed: true }).message);
      expect(job?.phase).to.equal('starting');
      faulty.always('jobs.change', undefined);
      const other = openStage(faulty, 'own_other');
      other.worker.start();
      await until(async () => (await faulty.real.jobs.get(id))?.phase === 'failed');
      await other.worker.stop();
      expect([await balance(), other.asked]).to.deep.equal([FULL, [0]]);
    });

    it('comes after another process has taken this one for dead: begins all the same, or says what went back', async () => {
      for (const fails of [false, true]) {
        const claim = async () => {
          const claimed = await claimAll();
          const job = claimed.find(({ phase }) => phase === 'starting');
          if (!job || !fails) return;
          const fail = { kind: 'fail', id: job.id, version: job.version, at: Date.now(), error: 'gone' } as const;
          await faulty.apply({ kind: 'refund', wallet, chargeId: job.charge, at: Date.now(), job: fail });
        };
        const late: VideoProvider['start'] = async () => {
          await sleep(500);
          await claim();
          return { id: 'up_1' };
        };
        const before = await balance();
        const { thrown, job } = await open({ starts: [late] }).begin(wallet);
        expect(job?.phase).to.equal(fails ? 'failed' : 'running');
        expect(thrown?.message).to.equal(fails ? 'The upstream provider failed. Charge refunded.' : undefined);
        expect(await balance()).to.equal(fails ? before : before - PRICE);
      }
    });
  });

  describe('when the refund', () => {
    for (const [name, fails] of Object.entries({ 'is refused at first': refuse, vanishes: vanish, 'is lost': lose })) {
      it(`${name}, goes back once`, async () => {
        faulty.next('ledger.apply', (call) => call(), fails);
        const { thrown, job } = await open({ starts: [breaking] }).begin(wallet);
        expect(thrown.message).to.equal('The upstream provider failed. Charge refunded.');
        expect([job?.phase, await balance()]).to.deep.equal(['failed', FULL]);
        const entries = await faulty.real.ledger.entries(wallet, { limit: 10 });
        expect(entries.map(({ kind }) => kind)).to.deep.equal(['refund', 'charge', 'topup']);
      });
    }

    it('is not confirmed in time, goes back later, by whichever process is first', async () => {
      const gate = makeGate();
      faulty.next('ledger.apply', (call) => call(), answerAfter(gate.opened));
      const { thrown } = await open({ starts: [breaking] }).begin(wallet);
      expect(thrown.message).to.equal('The upstream provider failed. Charge refunded.');
      stage.worker.start();
      gate.open();
      await until(async () => (await balance()) === FULL);
      await stage.worker.stop();
    });

    it('meets a claim of another process, goes back all the same', async () => {
      const claiming: Fails = async (call) => {
        await sleep(400);
        await claimAll();
        return call();
      };
      faulty.next('ledger.apply', (call) => call(), claiming);
      const { thrown, job } = await open({ starts: [breaking], ledger: { answerWithinMs: 5000 } }).begin(wallet);
      expect(thrown.message).to.equal('The upstream provider failed. Charge refunded.');
      expect([job?.phase, await balance()]).to.deep.equal(['failed', FULL]);
    });
  });

  it('is noted for as long as it takes when the store says no to everything but reads', async () => {
    let left = 5;
    faulty.always('jobs.change', async (call) => {
      left -= 1;
      if (left > 0) throw new StoreError('no', 'no');
      return call();
    });
    const { id } = await open().begin(wallet);
    await until(async () => (await faulty.real.jobs.get(id))?.phase === 'running');
    expect(await balance()).to.equal(FULL - PRICE);
  });
});
