// Two processes of the service on one database: one limit, one ledger, the same keys, and the one finds out that the other died.
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { getAccountCallsId } from '../../lib/money/budget.ts';
import {
  ask,
  DIALECTS,
  findBilling,
  joinText,
  MESSAGES,
  open,
  parseEvents,
  readHead,
  send,
  until,
} from '../../testkit/client.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import { itLong, longer } from '../../testkit/long.ts';
import type { Books, Service, StartOptions } from '../../testkit/process.ts';
import { openRig, type Rig } from '../../testkit/rig.ts';
import { STORES } from '../../testkit/stores.ts';
import { itTimed } from '../../testkit/timed.ts';
import { chatAnswer, chatHeld, chatStall, type TestUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase, StoreKind } from '../contract/store/context.ts';

const CLOCK_JUMP = new URL('../../testkit/clock-jump.ts', import.meta.url).href;
const LIMIT = 10;
const LEASE_MS = 600;
/** Leases are renewed and orphans looked for three times per lease. */
const SWEEP_MS = LEASE_MS / 3;
/** What a busy machine may take on top. */
const LATE_MS = 6000;

// It takes several processes: `npm test` has two stores of one database in `test/contract/store`.
for (const kind of longer([], STORES))
  describe(`two processes on one database of ${kind.name}`, () => twoProcesses(kind));

function twoProcesses(kind: StoreKind): void {
  let database: StoreDatabase;
  let upstream: TestUpstream;
  let rig: Rig;
  let books: Books;
  let first: Service;
  let second: Service;
  const started = new Set<Service>();

  before(async () => {
    database = await kind.create();
    rig = await openRig(undefined, database.url);
    ({ upstream, books } = rig);
  });
  afterEach(async function () {
    if (this.currentTest?.isFailed()) await stopAll();
  });
  after(async () => {
    await stopAll();
    await books.checkMoney();
    await rig.close();
    await database.remove();
  });
  async function start({ env, flags = [] }: StartOptions = {}): Promise<Service> {
    const service = await rig.start({ env: { LEASE_MS: String(LEASE_MS), ...env }, flags });
    started.add(service);
    void service.exit.then(() => started.delete(service));
    return service;
  }
  const stopAll = () => Promise.all([...started].map((service) => service.stop()));
  /** Two as they are by default: those that an earlier test has left, or new ones. */
  async function startBoth(): Promise<void> {
    const missing = Array.from({ length: 2 - started.size }, () => start());
    [first, second] = [...started, ...(await Promise.all(missing))] as [Service, Service];
  }

  const askAt = async ({ url }: Service, { key }: TestAccount, index = 0) => {
    const path = DIALECTS[index % DIALECTS.length] as string;
    return (await send(url + path, { key, body: ask('hi') })).status;
  };

  /** A stream that has brought its first word. */
  const begin = async ({ url }: Service, account: TestAccount, path: string) => {
    const sent = open(url + path, { key: account.key, body: ask('hi', { stream: true }) });
    sent.on('error', () => undefined);
    const response = await readHead(sent);
    const chunks: string[] = [];
    response.setEncoding('utf8').on('data', (chunk: string) => void chunks.push(chunk));
    response.on('error', () => undefined);
    await until(() => chunks.join('').includes('first'));
    return { chunks, ended: new Promise((resolve) => response.once('close', resolve)) };
  };

  itLong('share one rate limit from the start of the second, and keep it when that one exits', async () => {
    const env = { RATE_LIMIT_PER_MINUTE: String(LIMIT) };
    first = await start({ env });
    const account = await books.account();
    const alone = await Promise.all([1, 2, 3, 4].map((index) => askAt(first, account, index)));
    expect(alone).to.deep.equal([200, 200, 200, 200]);
    second = await start({ env });
    const statuses: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      statuses.push(await askAt(index % 2 === 0 ? second : first, account, index));
    }
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 200, 429, 429]);
    const other = await books.account();
    const parallel = Array.from({ length: 30 }, (_, index) => askAt(index % 2 === 0 ? first : second, other, index));
    expect((await Promise.all(parallel)).filter((status) => status === 200)).to.have.length(LIMIT);

    await second.stop();
    await new Promise((resolve) => setTimeout(resolve, SWEEP_MS + 200));
    expect([await askAt(first, account), await askAt(first, other)]).to.deep.equal([429, 429]);
    await first.stop();
  });

  // On SQLite both have the one clock of the machine.
  if (kind.name === 'mongodb') {
    it('leave the calls of the living alone when the clock of one jumps', async () => {
      first = await start();
      second = await start({ flags: ['--import', CLOCK_JUMP] });
      const { behaviour, finish } = chatHeld();
      upstream.behave(behaviour);
      const account = await books.account();
      const other = await books.account();
      const running = [await begin(first, account, MESSAGES), await begin(second, other, MESSAGES)];
      try {
        // Long enough for the one to trust that whoever does not renew is dead.
        await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
        second.kill('SIGUSR2');
        await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
        for (const { id } of [account, other]) {
          const entries = await books.store.ledger.entries(id, { limit: 10 });
          expect(entries.map(({ kind }) => kind)).to.deep.equal(['reserve', 'topup']);
        }
      } finally {
        finish();
        await Promise.all(running.map(({ ended }) => ended));
        await stopAll();
      }
    });
  }

  itTimed(
    'return the holds of one that was killed, with their places, and leave those of the living alone',
    async () => {
      await startBoth();
      upstream.behave(chatStall(['first ']));
      const orphaned = await Promise.all([books.account(), books.account()]);
      const accounts = createAccounts({ store: books.store, keyPrefix: 'tg-' });
      for (const { id } of orphaned) await accounts.limit(id, { atOnce: DIALECTS.length });
      for (const account of orphaned) for (const path of DIALECTS) await begin(first, account, path);
      const alive = await books.account();
      const { behaviour, finish } = chatHeld();
      upstream.behave(behaviour);
      const running = await begin(second, alive, MESSAGES);
      for (const account of orphaned) expect(await askAt(second, account)).to.equal(429);

      first.kill('SIGKILL');
      const killedAt = performance.now();
      const isBack = async () => (await Promise.all(orphaned.map(books.wallet))).every(({ held }) => held === 0n);
      await until(isBack);
      // The lease had up to a whole life left when its owner died.
      expect(performance.now() - killedAt).to.be.within(LEASE_MS / 3, LEASE_MS + SWEEP_MS + LATE_MS);
      for (const account of orphaned) {
        expect(await books.wallet(account)).to.include({ avail: 1_000_000_000n, charged: 0n });
      }
      for (const { id } of orphaned) {
        const [count] = await books.store.ledger.budgets([getAccountCallsId(id)]);
        expect(count?.spent).to.equal(0n);
      }
      await new Promise((resolve) => setTimeout(resolve, LEASE_MS));
      expect((await books.wallet(alive)).held).to.equal(5_005_000n);
      finish();
      await running.ended;
      const events = parseEvents(running.chunks.join(''));
      expect(joinText(events)).to.equal('first last.');
      expect(findBilling(events)).to.include({ charged_rub: 2.007 });
    },
  );

  it('charge the answer of a process that slept until the other returned its hold', async () => {
    await startBoth();
    const { behaviour, finish } = chatHeld();
    upstream.behave(behaviour);
    const account = await books.account();
    const running = await begin(first, account, MESSAGES);
    const isBack = async () => (await books.wallet(account)).held === 0n;
    for (let tries = 0; tries < 4 && !(await isBack()); tries += 1) {
      first.kill('SIGSTOP');
      // One that was stopped in the middle of a commit has the lock of the file: it commits, and is stopped again.
      await until(isBack, 4000).catch(() => undefined);
      first.kill('SIGCONT');
      if (!(await isBack())) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await isBack()).to.equal(true);
    finish();
    await running.ended;
    const events = parseEvents(running.chunks.join(''));
    expect(joinText(events)).to.equal('first last.');
    expect(findBilling(events)).to.include({ charged_rub: 2.007, balance_rub: 997.993 });
    expect(await books.wallet(account)).to.include({ avail: 997_993_000n, held: 0n, charged: 2_007_000n });
    const entries = await books.store.ledger.entries(account.id, { limit: 10 });
    expect(entries.map(({ kind }) => kind)).to.deep.equal(['settle', 'expire', 'reserve', 'topup']);
    expect(entries[0]?.overshoot).to.equal(2_007_000n);
  });

  it('keep one ledger under load on both', async () => {
    upstream.behave(chatAnswer('Hello.', { input: 7, output: 400 }));
    await startBoth();
    const accounts = await Promise.all([books.account(), books.account()]);
    const calls = Array.from({ length: 120 }, (_, index) =>
      askAt(index % 2 === 0 ? first : second, accounts[index % 4 < 2 ? 0 : 1] as TestAccount, index),
    );
    expect(new Set(await Promise.all(calls))).to.deep.equal(new Set([200]));
    for (const account of accounts) {
      expect(await books.wallet(account)).to.include({ held: 0n, charged: 60n * 2_007_000n });
    }
  });

  itLong('refuse a key that was revoked, and an account that was suspended, within a second', async () => {
    upstream.behave(chatAnswer('Hello.', { input: 7, output: 400 }));
    await startBoth();
    const holder = await books.account();
    const suspended = await books.account();
    const { keys, accounts } = books.store;
    const events = [
      { account: holder, status: 401, strike: () => keys.revoke(holder.keyId, Date.now()) },
      { account: suspended, status: 403, strike: () => accounts.setStatus(suspended.id, 'suspended') },
    ];
    for (const { account, status, strike } of events) {
      const services = [first, second];
      // Both have looked the key up just now.
      for (const service of services) expect(await askAt(service, account)).to.equal(200);
      await strike();
      const struckAt = performance.now();
      for (const acceptedAt of await Promise.all(services.map((service) => lastAccepted(service, account, status)))) {
        expect(acceptedAt - struckAt).to.be.below(1000);
      }
    }
  });

  /** When the last call was sent that was not yet refused with this status. */
  async function lastAccepted(service: Service, account: TestAccount, status: number): Promise<number> {
    let acceptedAt = Number.NEGATIVE_INFINITY;
    while (true) {
      const sentAt = performance.now();
      const found = await askAt(service, account);
      if (found === status) return acceptedAt;
      expect(found).to.equal(200);
      acceptedAt = sentAt;
    }
  }
}
