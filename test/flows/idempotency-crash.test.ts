// Keys against repeats when the service is killed with -9, and when two of them share a store: one charge, and no repeat
// that pays again.
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ask, MESSAGES, type Reply, send, until } from '../../testkit/client.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import { itLong, longer } from '../../testkit/long.ts';
import type { Books, Service } from '../../testkit/process.ts';
import { openRig, type Rig } from '../../testkit/rig.ts';
import { STORES } from '../../testkit/stores.ts';
import { chatAnswer, chatHeld } from '../../testkit/upstream.ts';
import type { StoreDatabase, StoreKind } from '../contract/store/context.ts';

const HOOK = fileURLToPath(new URL('../../testkit/kill-at.ts', import.meta.url));
const LEASE_MS = 500;
/** A transaction of a dead process locks its wallet on MongoDB for so long; the rest is a busy machine. */
const LATE_MS = 20_000;
const CHARGED = 2_007_000n;

// It takes several processes: `npm test` has what a lost process leaves behind in `test/contract/store`.
for (const kind of longer([], STORES))
  describe(`idempotency keys and processes on ${kind.name}`, () => processes(kind));

function processes(kind: StoreKind): void {
  let database: StoreDatabase;
  let rig: Rig;
  let books: Books;
  let account: TestAccount;
  let survivor: Service;
  const doomed = new Set<Service>();

  before(async function () {
    this.timeout(60_000);
    database = await kind.create();
    rig = await openRig(chatAnswer('Hello there.', { input: 7, output: 400 }), database.url);
    ({ books } = rig);
    survivor = await start();
  });
  beforeEach(async () => {
    account = await books.account();
    rig.upstream.calls.length = 0;
  });
  afterEach(async function () {
    this.timeout(60_000);
    await Promise.all([...doomed].map((service) => service.stop()));
    await books.checkMoney();
  });
  after(async () => {
    await survivor.stop();
    await rig.close();
    await database.remove();
  });

  async function start(killAt?: string): Promise<Service> {
    const env = { LEASE_MS: String(LEASE_MS), LOG_LEVEL: 'warn', ...(killAt !== undefined && { KILL_AT: killAt }) };
    return rig.start({ env, flags: killAt === undefined ? [] : ['--import', HOOK] });
  }

  /** One that ends with its test, at the latest. */
  async function startDoomed(killAt?: string): Promise<Service> {
    const service = await start(killAt);
    doomed.add(service);
    void service.exit.then(() => doomed.delete(service));
    return service;
  }

  const headers = { 'idempotency-key': 'order-1' };
  const post = ({ url }: Service) => send(url + MESSAGES, { key: account.key, body: ask('hi'), headers });
  const charges = async () =>
    (await books.store.ledger.charges(account.id, { limit: 100 })).map(({ state, charged }) => ({ state, charged }));

  /** A service dies in the middle of a call, which is sent again to another one until it is no longer running. */
  async function repeatAfter(killAt: string): Promise<Reply> {
    const dying = await startDoomed(killAt);
    await post(dying).then(
      () => expect.fail('the service lived on'),
      () => undefined,
    );
    await dying.exit;
    let reply = await post(survivor);
    const isRunning = async () => {
      reply = await post(survivor);
      return reply.status !== 409 || reply.headers['retry-after'] === undefined;
    };
    await until(isRunning, LEASE_MS + LATE_MS);
    return reply;
  }

  itLong('a hold whose process died frees its key with the hold', async () => {
    const reply = await repeatAfter('after reserve');
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.headers).not.to.have.property('idempotent-replayed');
    expect(await charges()).to.have.deep.members([
      { state: 'expired', charged: 0n },
      { state: 'settled', charged: CHARGED },
    ]);
  })?.timeout(90_000);

  it('a call that was settled when its process died, before its reply was kept, names its charge', async () => {
    const reply = await repeatAfter('after settle');
    expect(reply.status).to.equal(409);
    expect(reply.headers['x-should-retry']).to.equal('false');
    expect(await charges()).to.deep.equal([{ state: 'settled', charged: CHARGED }]);
    const [charge] = await books.store.ledger.charges(account.id, { limit: 1 });
    expect(reply.json.error.message).to.contain(String(charge?.id));
    expect(rig.upstream.calls).to.have.length(1);
  }).timeout(90_000);

  itLong('a reply that was kept is sent by the next process, though its own died before it could', async () => {
    const reply = await repeatAfter('before reply 200');
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.headers['idempotent-replayed']).to.equal('true');
    expect(reply.json.content).to.deep.equal([{ type: 'text', text: 'Hello there.' }]);
    expect(await charges()).to.deep.equal([{ state: 'settled', charged: CHARGED }]);
    expect(rig.upstream.calls).to.have.length(1);
  })?.timeout(90_000);

  itLong('a process that slept past its lease does not charge what was sent again to another', async () => {
    const sleeper = await startDoomed();
    const { behaviour, finish } = chatHeld();
    rig.upstream.behave(behaviour);
    const late = post(sleeper);
    await until(() => rig.upstream.calls.length === 1);
    const isBack = async () => (await books.wallet(account)).held === 0n;
    for (let tries = 0; tries < 4 && !(await isBack()); tries += 1) {
      sleeper.kill('SIGSTOP');
      // One that was stopped in the middle of a commit has the lock of the file: it commits, and is stopped again.
      await until(isBack, LEASE_MS + 4000).catch(() => undefined);
      if (!(await isBack())) sleeper.kill('SIGCONT');
      if (!(await isBack())) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await isBack()).to.equal(true);
    rig.upstream.behave(chatAnswer('Hello there.', { input: 7, output: 400 }));
    const repeated = await post(survivor);
    expect([repeated.status, repeated.headers['idempotent-replayed']]).to.deep.equal([200, undefined]);

    sleeper.kill('SIGCONT');
    finish();
    // What it had read before it slept is delivered, free of charge.
    expect((await late).status).to.equal(200);
    const [paid, free] = await books.store.ledger.charges(account.id, { limit: 10 });
    expect(paid).to.deep.include({ state: 'settled', charged: CHARGED });
    expect(free).to.deep.include({ state: 'settled', charged: 0n });
    const used = { tokens_input: 7, tokens_output: 400, repeated_as: paid?.id };
    expect(JSON.parse(String(free?.usage))).to.deep.equal(used);
    expect(await books.wallet(account)).to.include({ charged: CHARGED, avail: 1_000_000_000n - CHARGED });
    // Whoever asks now gets the answer that was paid for, from either process.
    for (const service of [sleeper, survivor]) {
      const again = await post(service);
      expect([again.headers['idempotent-replayed'], again.text]).to.deep.equal(['true', repeated.text]);
    }
    expect((await sleeper.stop()).stdout).to.include('a late call is free: its client has repeated it');
  })?.timeout(90_000);

  it('two processes charge once for many calls at the same moment', async () => {
    const services = [survivor, await startDoomed()];
    const calls = Array.from({ length: 20 }, (_, at) => post(services[at % 2] as Service));
    const replies = await Promise.all(calls);
    const fresh = replies.filter(({ status, headers: sent }) => status === 200 && !sent['idempotent-replayed']);
    expect(fresh).to.have.length(1);
    const others = replies.filter((reply) => reply !== fresh[0]).map(({ status }) => status);
    expect(others.every((status) => status === 409 || status === 200)).to.equal(true);
    expect(await charges()).to.deep.equal([{ state: 'settled', charged: CHARGED }]);
    for (const service of services) {
      const again = await post(service);
      expect([again.status, again.text]).to.deep.equal([200, fresh[0]?.text]);
    }
    expect(rig.upstream.calls).to.have.length(1);
  }).timeout(90_000);
}
