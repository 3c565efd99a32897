// Killed with -9 at any step of a call for an image, a gateway loses nothing: another one returns the hold, or the charge
// stands that was settled, once.
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { open, send, until } from '../../testkit/client.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS, imageAnswer, imageCatalog } from '../../testkit/images.ts';
import { longer } from '../../testkit/long.ts';
import { type Books, type Home, makeHome, openBooks, type Service, startService } from '../../testkit/process.ts';
import { STORES } from '../../testkit/stores.ts';
import { answerStatus, type Behaviour, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const HOOK = fileURLToPath(new URL('../../testkit/kill-at.ts', import.meta.url));
const LEASE_MS = 400;
/** The lease, a sweep, what a database may lock for a dead process, and room for a busy machine. */
const BACK_MS_MAX = 20_000;
const RUB = 1_000_000n;

interface Step {
  /** The step of `kill-at.ts`; undefined: killed from outside while the upstream works. */
  readonly at: string | undefined;
  readonly fails?: boolean;
  readonly ends: 'settled' | 'returned';
}

const STEPS: Readonly<Record<string, Step>> = {
  'before the hold is made': { at: 'before reserve', ends: 'returned' },
  'when the hold is made': { at: 'after reserve', ends: 'returned' },
  'while the upstream works': { at: undefined, ends: 'returned' },
  'when the image is there': { at: 'before media', ends: 'returned' },
  'while the image is stored': { at: 'before file', ends: 'returned' },
  'before the charge is made': { at: 'before settle', ends: 'returned' },
  'when the charge is made': { at: 'after settle', ends: 'settled' },
  'before the client is answered': { at: 'before reply 200', ends: 'settled' },
  'before the hold of a failure goes back': { at: 'before release', fails: true, ends: 'returned' },
  'when the hold of a failure has gone back': { at: 'after release', fails: true, ends: 'returned' },
  'before the client is told of a failure': { at: 'before reply 502', fails: true, ends: 'returned' },
};

// `npm test` has the crashes of a text and of a video.
for (const kind of longer([], STORES)) {
  describe(`crash of images on ${kind.name}`, function () {
    this.timeout(60_000);
    let upstream: TestUpstream;
    let home: Home;
    let books: Books;
    let survivor: Service;
    let account: TestAccount;
    let remove: () => Promise<void>;

    before(async () => {
      upstream = await startUpstream();
      const database = await kind.create();
      remove = database.remove;
      home = makeHome(imageCatalog(upstream.url), database.url);
      books = await openBooks(home);
      survivor = await start();
    });
    beforeEach(async () => {
      account = await books.account();
    });
    after(async () => {
      await survivor.stop();
      await books.close();
      await upstream.close();
      await remove();
      home.remove();
    });

    const start = (more: { readonly KILL_AT?: string } = {}) =>
      startService(home, {
        flags: ['--import', HOOK],
        env: { SANDBOX: 'off', LOG_LEVEL: 'warn', LEASE_MS: String(LEASE_MS), ...more },
      });

    /** What the upstream does, or how the sandbox is asked to. */
    const behaviours = (step: Step): Readonly<Record<string, readonly [price: bigint, prompt: string, Behaviour]>> => ({
      draw: [
        10n * RUB,
        'a hill',
        step.at === undefined ? () => undefined : step.fails ? answerStatus(500) : imageAnswer(PNG),
      ],
      sketch: [
        5n * RUB,
        `a hill ${step.at === undefined ? '[[stall]]' : step.fails ? '[[fail]]' : ''}`,
        () => undefined,
      ],
    });

    for (const [name, step] of Object.entries(STEPS)) {
      const cases = Object.entries(behaviours(step));
      for (const [model, [price, prompt, behaviour]] of cases) {
        it(`${name}: ${model}`, async () => {
          upstream.behave(behaviour);
          const doomed = await start(step.at === undefined ? {} : { KILL_AT: step.at });
          const path = model === 'draw' ? EDITS : GENERATIONS;
          const body = { model, prompt, image: `data:image/png;base64,${PNG.toString('base64')}` };
          const sent = open(doomed.url + path, { key: account.key, body });
          const answered = new Promise<boolean>((resolve) => {
            sent.once('response', () => resolve(true)).once('error', () => resolve(false));
          });
          if (step.at === undefined) {
            await until(async () => (await books.wallet(account)).held === price);
            doomed.kill('SIGKILL');
          }
          const { signal } = await doomed.exit;
          expect([signal, await answered]).to.deep.equal(['SIGKILL', false]);
          await until(async () => (await books.wallet(account)).held === 0n, BACK_MS_MAX).catch((error) => {
            throw new Error(`${error}; the other gateway says ${survivor.stdout()}`);
          });
          const charged = step.ends === 'settled' ? price : 0n;
          expect(await books.wallet(account)).to.include({ charged, avail: 1000n * RUB - charged });
          const entries = await books.store.ledger.entries(account.id, { limit: 50 });
          expect(entries.filter((entry) => entry.kind === 'settle')).to.have.length(charged > 0n ? 1 : 0);
          await books.checkMoney();
          // Another gateway serves the account at once.
          upstream.behave(imageAnswer(PNG));
          const next = await send(survivor.url + path, { key: account.key, body: { ...body, prompt: 'a hill' } });
          expect(next.status, next.text).to.equal(200);
        });
      }
    }
  });
}
