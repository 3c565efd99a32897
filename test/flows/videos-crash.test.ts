// The service killed with -9 at every step of a video's life: no video is lost, none is charged without its job, refunded
// twice or begun twice, whichever process goes on with it.
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { send, until } from '../../testkit/client.ts';
import {
  type Answer,
  accept,
  FILM,
  type FilmUpstream,
  filmCatalog,
  finished,
  inState,
  startFilmUpstream,
  status,
} from '../../testkit/film-upstream.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import { describeLong } from '../../testkit/long.ts';
import { type Books, type Home, makeHome, openBooks, type Service, startService } from '../../testkit/process.ts';
import { STORES } from '../../testkit/stores.ts';
import { itTimed } from '../../testkit/timed.ts';
import type { StoreDatabase, StoreKind } from '../contract/store/context.ts';

const HOOK = fileURLToPath(new URL('../../testkit/kill-at.ts', import.meta.url));
const VIDEOS = '/api/v1/videos';
const LEASE_MS = 500;
/** A transaction of a dead process locks its wallet on MongoDB for so long; the rest is a busy machine. */
const LATE_MS = 30_000;
const PRICE = 45_000_000n;

// It takes several processes.
for (const kind of STORES) describeLong(`videos and kill -9 on ${kind.name}`, () => crashes(kind));

function crashes(kind: StoreKind): void {
  let database: StoreDatabase;
  let upstream: FilmUpstream;
  let home: Home;
  let books: Books;
  let service: Service;
  let account: TestAccount;

  before(async function () {
    this.timeout(60_000);
    database = await kind.create();
    upstream = await startFilmUpstream();
    const catalog = filmCatalog(upstream.url) as { upstreams: object; models: object[] };
    const sandbox = { plugin: 'sandbox', settings: { videoMs: 300 } };
    const own = { id: 'own', type: 'video', provider: 'Test', price: { second: '9' } };
    home = makeHome(
      {
        ...catalog,
        upstreams: { ...catalog.upstreams, here: sandbox },
        models: [...catalog.models, { ...own, routes: [{ upstream: 'here', model: 'video' }] }],
      },
      database.url,
    );
    books = await openBooks(home);
    service = await start();
  });
  beforeEach(async () => {
    upstream.behave({});
    upstream.begun.clear();
    upstream.looks.clear();
    account = await books.account();
  });
  after(async function () {
    this.timeout(60_000);
    await service.stop();
    await books.close();
    await upstream.close();
    home.remove();
    await database.remove();
  });

  const start = (more: { readonly KILL_AT?: string } = {}) =>
    startService(home, {
      env: { SANDBOX: 'off', LEASE_MS: String(LEASE_MS), VIDEO_POLL_MS: '30', LOG_LEVEL: 'warn', ...more },
      flags: ['--import', HOOK],
    });
  const begin = (prompt = 'A red square', model = 'film-flat') =>
    send(service.url + VIDEOS, { key: account.key, body: { model, prompt } }).catch(() => undefined);
  const kill = () => service.kill('SIGKILL');
  const jobs = async () =>
    (await books.store.jobs.page({ limit: 10_000 })).filter(({ wallet }) => wallet === account.id);
  const kinds = async () =>
    (await books.store.ledger.entries(account.id, { limit: 100 })).map((entry) => entry.kind).reverse();

  /** Another process comes, and everything has come to its end. */
  async function recover(): Promise<void> {
    await service.exit;
    service = await start();
    await until(async () => (await jobs()).every(({ dueAt }) => dueAt === null), LEASE_MS + LATE_MS);
    await books.checkMoney();
    const charges = await books.store.ledger.charges(account.id, { limit: 100 });
    const paid = (await jobs()).map(({ charge }) => charge);
    expect(charges.map(({ id }) => id).sort(), 'each charge has its job').to.deep.equal(paid.sort());
    expect(upstream.begun.size, 'submissions').to.be.at.most(1);
  }

  /** The one video of the account, how it ended, and what its money did. */
  async function expectEnd(phase: 'completed' | 'failed'): Promise<void> {
    expect((await jobs()).map((job) => job.phase)).to.deep.equal([phase]);
    const moves = phase === 'completed' ? ['topup', 'charge'] : ['topup', 'charge', 'refund'];
    expect(await kinds()).to.deep.equal(moves);
    const { avail } = await books.wallet(account);
    expect(avail).to.equal(phase === 'completed' ? 1_000_000_000n - PRICE : 1_000_000_000n);
  }

  /** Kills the service in the middle of an answer to it, which it never sees. */
  const killed =
    (answer: Answer): Answer =>
    async (exchange) => {
      service.kill('SIGSTOP');
      await answer(exchange);
      kill();
    };
  /** The first time; later ones are answered as they should. */
  const once =
    (first: Answer, then: Answer): Answer =>
    (exchange) =>
      (exchange.before === 0 ? first : then)(exchange);

  /** Begins a video in a process that ends itself at a step of `kill-at.ts`, and lets another one go on. */
  async function beginAndDie(step: string): Promise<void> {
    await service.stop();
    service = await start({ KILL_AT: step });
    expect(await begin()).to.equal(undefined);
    expect((await service.exit).signal).to.equal('SIGKILL');
    await recover();
  }

  it('before the charge commits: nothing has happened', async () => {
    await beginAndDie('before charge');
    expect([await jobs(), await kinds(), upstream.begun.size]).to.deep.equal([[], ['topup'], 0]);
  });

  it('when the charge has committed, and nobody here knows: refunded, and not begun', async () => {
    await beginAndDie('after charge');
    await expectEnd('failed');
    expect(upstream.begun.size).to.equal(0);
  });

  it('after the charge, when the upstream has the submission: refunded, and not begun again', async () => {
    upstream.behave({ submit: kill });
    await begin();
    await recover();
    await expectEnd('failed');
    expect(upstream.begun.size).to.equal(1);
  });

  it('after the upstream has accepted, before its id is stored: refunded, and not begun again', async () => {
    upstream.behave({ submit: killed(accept) });
    await begin();
    await recover();
    await expectEnd('failed');
    expect(upstream.begun.size).to.equal(1);
  });

  it('after the upstream has refused, during the refund: refunded once', async () => {
    upstream.behave({
      submit: async (exchange) => {
        await status(400)(exchange);
        setTimeout(kill, Math.random() * 10);
      },
    });
    await begin();
    await recover();
    await expectEnd('failed');
  });

  it('while it is looked at: goes on in the next process', async () => {
    upstream.behave({ look: once(kill, finished) });
    await begin();
    await recover();
    await expectEnd('completed');
    expect([...upstream.looks.values()][0]).to.be.above(1);
  });

  it('when the upstream has said that it is finished: goes on in the next process', async () => {
    upstream.behave({ look: once(killed(finished), finished) });
    await begin();
    await recover();
    await expectEnd('completed');
  });

  itTimed('while the result is stored: stored by the next process, and linked', async () => {
    let first = true;
    upstream.behave({
      download({ response }) {
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': FILM.length });
        if (!first) return void response.end(FILM);
        first = false;
        response.write(FILM.subarray(0, FILM.length >> 1), () => setTimeout(kill, 20));
      },
    });
    const reply = await begin();
    await recover();
    await expectEnd('completed');
    const seen = await send(`${service.url}${VIDEOS}?id=${reply?.json.id}`, { key: account.key });
    expect(Buffer.from(await (await fetch(seen.json.url)).arrayBuffer()).equals(FILM)).to.equal(true);
  });

  for (const afterMs of [0, 3]) {
    it(`${afterMs} ms after the verdict, during the refund: refunded once`, async () => {
      upstream.behave({
        look: async (exchange) => {
          await inState('failed')(exchange);
          setTimeout(kill, afterMs);
        },
      });
      await begin();
      await service.exit;
      upstream.behave({ look: inState('failed') });
      await recover();
      await expectEnd('failed');
    });
  }

  it('at any moment of a start: every charge has its job, and each comes to its end', async function () {
    this.timeout(120_000);
    for (let round = 0; round < 3; round += 1) {
      account = await books.account();
      upstream.begun.clear();
      const asked = begin();
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      kill();
      await asked;
      await recover();
      const [job] = await jobs();
      if (job) await expectEnd(job.phase === 'completed' ? 'completed' : 'failed');
      else expect(await kinds()).to.deep.equal(['topup']);
    }
  });

  for (const [prompt, phase, delayMs] of [
    ['A red square', 'completed', 0],
    ['A red square', 'completed', 310],
    ['[[fail]]', 'failed', 310],
    ['[[moderated]]', 'failed', 330],
  ] as const) {
    it(`${delayMs} ms into a video of the sandbox (${prompt}): ${phase} in the next process`, async () => {
      const reply = await begin(prompt, 'own');
      expect(reply?.status).to.equal(200);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      kill();
      await recover();
      await expectEnd(phase);
    });
  }

  it('of one of two processes: the other goes on within a lease and a sweep', async function () {
    this.timeout(120_000);
    const other = await start();
    try {
      // Both look at them; each video is begun once and ends once.
      upstream.behave({
        look: ({ before, ...exchange }) => (before < 5 ? inState('processing') : finished)({ before, ...exchange }),
      });
      const begun = await Promise.all(Array.from({ length: 20 }, () => begin()));
      expect(begun.map((reply) => reply?.status)).to.deep.equal(begun.map(() => 200));
      kill();
      const killedAt = performance.now();
      await until(async () => (await jobs()).every((job) => job.phase === 'completed'), LEASE_MS + LATE_MS);
      if (kind.name === 'sqlite') expect(performance.now() - killedAt).to.be.below(LEASE_MS + 5000);
      expect(await kinds()).to.deep.equal(['topup', ...begun.map(() => 'charge')]);
      expect(upstream.begun.size).to.equal(20);
      await books.checkMoney();
    } finally {
      await service.exit;
      service = other;
    }
  });
}
