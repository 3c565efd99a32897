// The store breaks for real: the disk is full, its threads die in the middle of their work.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { expect } from 'chai';
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
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { download, GENERATIONS, imageAnswer, imageCatalog } from '../../testkit/images.ts';
import { describeLong, longer } from '../../testkit/long.ts';
import type { Books, Service } from '../../testkit/process.ts';
import { openRig, type Rig } from '../../testkit/rig.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';
import { keepThreads } from '../../testkit/threads.ts';
import { itTimed } from '../../testkit/timed.ts';
import { chatAnswer, chatHeld, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG, png } from '../media/sample-images.ts';

// The store meets one in `store/sqlite/processes.test.ts`, a gateway a store that does not write in `failures.test.ts`.
describeLong('a full disk', () => {
  /** The largest file the service may write. */
  const FILE_KIB_MAX = 1024;
  let upstream: TestUpstream;
  let rig: Rig;
  let books: Books;
  let service: Service;

  before(async () => {
    rig = await openRig();
    ({ upstream, books } = rig);
    service = await rig.start({ fileKiBMax: FILE_KIB_MAX });
  });
  after(async () => {
    await service.stop();
    await rig.close();
  });

  /** The log of the database grows beyond what the service may write; this process may. */
  const fill = () => books.store.settings.set('filler', 'x'.repeat(3 * FILE_KIB_MAX * 1024));
  /** The log is written into the database and begins anew. */
  function makeRoom(): void {
    const db = new DatabaseSync(rig.home.database, { timeout: 5000 });
    expect(db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()).to.include({ busy: 0 });
    db.close();
  }

  itTimed('refuses new calls, delivers the running one, and books everything when there is room again', async () => {
    // An earlier try may have left the disk full.
    makeRoom();
    upstream.calls.length = 0;
    const [running, late] = await Promise.all([books.account(), books.account()]);
    const { behaviour, finish } = chatHeld();
    upstream.behave(behaviour);
    const response = await readHead(
      open(service.url + MESSAGES, { key: running.key, body: ask('hi', { stream: true }) }),
    );
    const text = response.setEncoding('utf8').toArray() as Promise<string[]>;
    await until(() => upstream.calls.length === 1);

    const isReady = async () => (await send(`${service.url}/readyz`)).json;
    expect(await isReady()).to.include({ status: 'ok', store: true });
    await fill();
    await until(async () => (await isReady()).status === 'unavailable');
    finish();
    const startedAt = performance.now();
    const refused = await Promise.all(
      DIALECTS.map((path) => send(service.url + path, { key: late.key, body: ask('hi') })),
    );
    expect(performance.now() - startedAt).to.be.below(6000);
    for (const { status, json } of refused) {
      expect(status).to.equal(503);
      expect(json.error).to.include({
        type: 'api_error',
        message:
          'The service is temporarily unavailable. Anything reserved for this call will be returned automatically.',
      });
    }
    const events = parseEvents((await text).join(''));
    expect(joinText(events)).to.equal('first last.');
    expect(findBilling(events).charged_rub).to.equal(2.007);
    expect(await books.wallet(running)).to.include({ charged: 0n, held: 5_005_000n });
    expect(upstream.calls).to.have.length(1);

    expect(await isReady()).to.include({ store: false });
    makeRoom();
    await until(async () => (await isReady()).status === 'ok');
    await until(async () => (await books.wallet(running)).charged === 2_007_000n);
    await until(async () => (await books.held()) === 0n);
    expect(await books.wallet(late)).to.include({ avail: 1_000_000_000n, charged: 0n });
    upstream.behave(chatAnswer('Hello.'));
    const again = await send(service.url + MESSAGES, { key: late.key, body: ask('hi') });
    expect(again.status).to.equal(200);
    await books.checkMoney();
    expect(service.stdout()).to.match(/"level":"warn".*the store did not accept a batch/);
    expect(service.stderr()).to.equal('');
  });
});

// `images-endings.test.ts` has a store that does not accept an image.
describeLong('a disk too full for an image', () => {
  let rig: Rig;
  let service: Service;

  before(async () => {
    rig = await openRig();
    rig.home.writeCatalog(imageCatalog(rig.upstream.url));
    service = await rig.start({ fileKiBMax: 1024 });
  });
  after(async () => {
    await service.stop();
    await rig.close();
  });

  it('answers 503, refunds, leaves nothing behind, and accepts the next image that fits', async () => {
    const { upstream, books } = rig;
    const account = await books.account();
    const body = { model: 'draw', prompt: 'a red square' };
    const draw = () => send(service.url + GENERATIONS, { key: account.key, body });
    upstream.behave(imageAnswer(png({ bytes: 2 * 1024 * 1024 })));
    const { status, json } = await draw();
    expect([status, json.error.message]).to.deep.equal([
      503,
      'The service could not store the result. Charge refunded.',
    ]);
    const media = join(rig.home.env.DATA_DIR ?? '', 'media');
    const files = () => readdirSync(media, { recursive: true, encoding: 'utf8' }).filter((name) => name.length > 40);
    expect(files()).to.deep.equal([]);
    expect(await books.wallet(account)).to.include({ avail: 1_000_000_000n, held: 0n, charged: 0n });
    upstream.behave(imageAnswer(PNG));
    const made = await draw();
    expect(made.status, made.text).to.equal(200);
    expect((await download(made.json.data[0].url)).bytes.equals(PNG)).to.equal(true);
    expect(files()).to.have.length(1);
    await books.checkMoney();
    expect(service.stderr()).to.equal('');
  });
});

describe('store threads that die', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  const workers: Worker[] = [];
  const onWorker = (worker: Worker) => void workers.push(worker);
  const living = (role: string) => workers.filter(({ threadName }) => threadName === `tollgate-${role}`);

  before(async () => {
    upstream = await startUpstream(chatAnswer('Hello.', { input: 7, output: 400 }));
    keepThreads(false);
    process.on('worker', onWorker);
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
  });
  after(async () => {
    process.off('worker', onWorker);
    await gateway.stop();
    await upstream.close();
    keepThreads(true);
  });
  afterEach(() => gateway.checkMoney());

  it('charge every answered call once, however often the writer dies', async () => {
    // The gateway opens its store before this test opens its own.
    const own = living('writer')[1] as Worker;
    const writers = () => living('writer').filter((worker) => worker !== own);
    const account = await gateway.account();
    const deaths = longer(6, 12);
    const statuses: number[] = [];
    let isOver = false;
    const callers = Array.from({ length: 12 }, async (_, index) => {
      while (!isOver) {
        const path = DIALECTS[index % DIALECTS.length] as string;
        const { status } = await send(gateway.url + path, { key: account.key, body: ask('hi') });
        statuses.push(status);
      }
    });
    try {
      for (let death = 0; death < deaths; death += 1) {
        // A thread that has just begun its work dies in the middle of it.
        const before = statuses.length;
        await until(() => statuses.length > before + 5 * Math.random());
        await writers().at(-1)?.terminate();
      }
    } finally {
      isOver = true;
      await Promise.all(callers);
    }
    // On a busy machine a hold may not get its turn in time; and a call does not wait for long for its booking.
    expect(statuses.filter((status) => status !== 200 && status !== 503)).to.deep.equal([]);
    const answered = statuses.filter((status) => status === 200).length;
    expect(answered).to.be.above(statuses.length / 2);
    await until(async () => (await gateway.wallet(account)).held === 0n);
    expect((await gateway.wallet(account)).charged).to.equal(BigInt(answered) * 2_007_000n);
  });

  itOnSqlite('replace a dead reader by the next call', async () => {
    const account = await gateway.account();
    const askStatus = async () => (await send(`${gateway.url}/api/v1/balance`, { key: account.key })).status;
    expect(await askStatus()).to.equal(200);
    for (const reader of living('reader')) await reader.terminate();
    expect(living('reader')).to.have.length(0);
    expect(await askStatus()).to.equal(200);
    expect(living('reader')).to.have.length(1);
  });
});
