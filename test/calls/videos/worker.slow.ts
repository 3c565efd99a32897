// What two thousand open videos cost a gateway: a part of a core and of its memory, on both stores.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Job } from '../../../lib/money/job-rules.ts';
import { type FilmUpstream, filmCatalog, inState, startFilmUpstream } from '../../../testkit/film-upstream.ts';
import { startFlags } from '../../../testkit/npm-start.ts';
import { type Books, type Home, makeHome, openBooks, type Service, startService } from '../../../testkit/process.ts';
import { STORES } from '../../../testkit/stores.ts';
import type { StoreDatabase } from '../../contract/store/context.ts';
import { chargeWithJob } from '../../contract/store/jobs.ts';

const JOBS = 2000;
const AGE_MS = 600_000;
const ROUND_MS = 60_000;
const SETTLE_MS = 20_000;
const LOOK_MS = 250;
const CORE_SHARE_MAX = 0.05;
const BYTES_MAX = 50 * 1024 * 1024;
/** Ticks of the kernel's clock for processes. */
const TICKS_PER_S = 100;

for (const kind of STORES) {
  describe(`two thousand open videos on ${kind.name}`, () => {
    let database: StoreDatabase;
    let upstream: FilmUpstream;
    let home: Home;
    let books: Books;
    let service: Service;

    before(async () => {
      database = await kind.create();
      upstream = await startFilmUpstream();
      upstream.behave({ look: inState('processing') });
      home = makeHome(filmCatalog(upstream.url), database.url);
      books = await openBooks(home);
      service = await startService(home, { env: { SANDBOX: 'off', LOG_LEVEL: 'warn' }, flags: startFlags() });
    });
    after(async () => {
      await service.stop();
      await books.close();
      await upstream.close();
      home.remove();
      await database.remove();
    });

    async function fill(): Promise<void> {
      const { id: wallet } = await books.account('1000000');
      const jobs: Job[] = [];
      for (let made = 0; made < JOBS; made += 1) {
        const op = chargeWithJob(wallet, { createdAt: Date.now() - AGE_MS });
        const [outcome] = await books.store.ledger.apply([op]);
        const ref = JSON.stringify({ id: `up_${made}`, url: `${upstream.url}/v1/videos/text2video/up_${made}` });
        const dueAt = Date.now() + SETTLE_MS + (ROUND_MS * made) / JOBS;
        const job = { ...(outcome?.job as Job), upstream: 'films', model: 'film-flat', ref, dueAt };
        jobs.push({ ...job, phase: 'running', owner: null, lease: null });
      }
      for (let at = 0; at < JOBS; at += 500) await books.store.jobs.put(jobs.slice(at, at + 500));
    }

    const coreSeconds = () => {
      const fields = readFileSync(`/proc/${service.process.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
    };
    const bytes = () => {
      const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8')) ?? [];
      return Number(kib) * 1024;
    };
    /** The share of a core, and the memory in use most of the time: a single look also sees garbage that is about to go. */
    const costOver = async (ms: number) => {
      const from = coreSeconds();
      const startedAt = performance.now();
      const looks = [] as number[];
      while (performance.now() - startedAt < ms) {
        looks.push(bytes());
        await sleep(LOOK_MS);
      }
      const share = ((coreSeconds() - from) * 1000) / (performance.now() - startedAt);
      return { share, bytes: looks.sort((a, b) => a - b)[Math.floor(looks.length / 2)] ?? Number.NaN };
    };

    it('cost less than 5 % of a core and 50 MB', async function () {
      this.timeout(300_000);
      await sleep(10_000);
      const idle = await costOver(20_000);
      await fill();
      await sleep(SETTLE_MS);
      // Each is looked at once in the first round, and the pace is known in the second.
      await sleep(ROUND_MS);
      const looks = [...upstream.looks.values()].reduce((sum, count) => sum + count, 0);
      const busy = await costOver(ROUND_MS);
      const seen = [...upstream.looks.values()].reduce((sum, count) => sum + count, 0) - looks;
      const grown = busy.bytes - idle.bytes;
      console.log({
        idle: idle.share,
        busy: busy.share,
        looksPerSecond: (seen * 1000) / ROUND_MS,
        grownMiB: grown / 1024 / 1024,
      });
      expect(upstream.looks.size).to.equal(JOBS);
      expect(seen).to.be.above(JOBS / 2);
      expect(busy.share - idle.share).to.be.below(CORE_SHARE_MAX);
      expect(grown).to.be.below(BYTES_MAX);
    });
  });
}
