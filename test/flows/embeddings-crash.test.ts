// Killed with -9 at any step of a call for embeddings, a gateway loses nothing: another one returns the hold, or the charge
// stands that was settled, once.
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { open, send, until } from '../../testkit/client.ts';
import { EMBEDDINGS, embedAnswer, embeddingCatalog } from '../../testkit/embeddings.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { type Books, type Home, makeHome, openBooks, type Service, startService } from '../../testkit/process.ts';
import { STORES } from '../../testkit/stores.ts';
import { answerStatus, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const HOOK = fileURLToPath(new URL('../../testkit/kill-at.ts', import.meta.url));
const LEASE_MS = 400;
/** The lease, a sweep, what a database may lock for a dead process, and room for a busy machine. */
const BACK_MS_MAX = 20_000;
const RUB = 1_000_000n;
const MINIMUM = RUB / 2n;

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
  'before the charge is made': { at: 'before settle', ends: 'returned' },
  'when the charge is made': { at: 'after settle', ends: 'settled' },
  'before the client is answered': { at: 'before reply 200', ends: 'settled' },
  'before the hold of a failure goes back': { at: 'before release', fails: true, ends: 'returned' },
  'before the client is told of a failure': { at: 'before reply 502', fails: true, ends: 'returned' },
};

// `npm test` has the crashes of a text and of a video.
for (const kind of longer([], STORES)) {
  describe(`crash of embeddings on ${kind.name}`, function () {
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
      home = makeHome(embeddingCatalog(upstream.url), database.url);
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

    for (const [name, step] of Object.entries(STEPS)) {
      it(name, async () => {
        upstream.behave(step.at === undefined ? () => undefined : step.fails ? answerStatus(500) : embedAnswer());
        const doomed = await start(step.at === undefined ? {} : { KILL_AT: step.at });
        const body = { model: 'embed-a', input: ['a', 'b'] };
        const sent = open(doomed.url + EMBEDDINGS, { key: account.key, body });
        const answered = new Promise<boolean>((resolve) => {
          sent.once('response', () => resolve(true)).once('error', () => resolve(false));
        });
        if (step.at === undefined) {
          await until(async () => (await books.wallet(account)).held === MINIMUM);
          doomed.kill('SIGKILL');
        }
        const { signal } = await doomed.exit;
        expect([signal, await answered]).to.deep.equal(['SIGKILL', false]);
        await until(async () => (await books.wallet(account)).held === 0n, BACK_MS_MAX);
        const charged = step.ends === 'settled' ? MINIMUM : 0n;
        expect(await books.wallet(account)).to.include({ charged, avail: 1000n * RUB - charged });
        const entries = await books.store.ledger.entries(account.id, { limit: 50 });
        expect(entries.filter((entry) => entry.kind === 'settle')).to.have.length(charged > 0n ? 1 : 0);
        await books.checkMoney();
        // Another gateway serves the account at once.
        upstream.behave(embedAnswer());
        expect((await send(survivor.url + EMBEDDINGS, { key: account.key, body })).status).to.equal(200);
      });
    }
  });
}
