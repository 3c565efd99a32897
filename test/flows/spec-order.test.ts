// Which check comes first, on every endpoint that generates: a request that breaks two rules is told the earlier one.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { SMALL_BYTES } from '../../lib/http/memory-quota.ts';
import { CHAT, MESSAGES, type Reply, type SendOptions, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS, imageCatalog } from '../../testkit/images.ts';

const VIDEOS = '/api/v1/videos';
/** Shortened from a second: how long a gateway takes for a change of a key. */
const KEY_CACHE_MS = 100;
const BLOCKED = 'https://127.0.0.1/a.png';
const blockedPart = [{ type: 'image', source: { type: 'url', url: BLOCKED } }];
const messages = (content: unknown) => ({ messages: [{ role: 'user', content }] });

interface Endpoint {
  readonly path: string;
  /** Right in every field. */
  readonly good: object;
  /** A field of the wrong type. */
  readonly wrong: object;
  /** An image that may not be fetched, where the endpoint takes one. */
  readonly withImage?: object;
}

const ENDPOINTS: readonly Endpoint[] = [
  ...[MESSAGES, CHAT].map((path) => ({
    path,
    good: { model: 'words', ...messages('hi') },
    wrong: { stream: 'true' },
    withImage: messages(blockedPart),
  })),
  { path: GENERATIONS, good: { model: 'sketch', prompt: 'a hill' }, wrong: { size: 7 } },
  {
    path: EDITS,
    good: { model: 'sketch', prompt: 'a hill', image: BLOCKED },
    wrong: { size: 7 },
    withImage: { image: BLOCKED },
  },
  { path: VIDEOS, good: { model: 'film', prompt: 'a hill' }, wrong: { size: 7 }, withImage: { image: BLOCKED } },
];

describe('the order of checks', () => {
  let gateway: TestGateway;
  let rich: TestAccount;
  let empty: TestAccount;

  before(async () => {
    gateway = await startGateway({
      catalog: imageCatalog('http://127.0.0.1:9'),
      env: { RATE_LIMIT_PER_MINUTE: '12' },
      timings: { keyCacheMs: KEY_CACHE_MS, fetchLimits: { stepMs: 50 } },
    });
  });
  beforeEach(async () => {
    [rich, empty] = [await gateway.account(), await gateway.account('0')];
  });
  afterEach(async () => {
    expect((await gateway.wallet(rich)).avail).to.equal(1_000_000_000n);
    await gateway.checkMoney();
  });
  after(() => gateway.stop());

  async function adjust({ id }: TestAccount, amount: bigint): Promise<void> {
    const change = { amount, reason: 'test', adjustId: `adjust-${id}` };
    await gateway.store.ledger.apply([{ kind: 'adjust', wallet: id, at: Date.now(), ...change }]);
  }

  for (const { path, good, wrong, withImage } of ENDPOINTS) {
    describe(path, () => {
      const post = (options: SendOptions) => send(gateway.url + path, { method: 'POST', ...options });
      const expectStatus = ({ status, text }: Reply, wanted: number, says: RegExp) => {
        expect(status, text).to.equal(wanted);
        expect(text).to.match(says);
      };
      async function exhaust({ key }: TestAccount): Promise<void> {
        const replies = await Promise.all(Array.from({ length: 12 }, () => post({ key, body: '{' })));
        expect(replies.map(({ status }) => status)).to.deep.equal(Array(12).fill(400));
      }

      it('checks the key before the account, the limit and the body', async () => {
        expectStatus(await post({ body: '{' }), 401, /No API key/);
        expectStatus(await post({ key: 'tg-sk-x', body: '{', headers: { 'content-type': 'text/plain' } }), 401, /key/);
      });

      it('checks the account before the limit, and both before the body', async () => {
        await exhaust(rich);
        expectStatus(await post({ key: rich.key, body: '{' }), 429, /limit is 12 per minute/);
        const headers = { 'content-type': 'text/plain' };
        expectStatus(await post({ key: rich.key, body: 'hi', headers }), 429, /limit is 12/);
        await gateway.store.accounts.setStatus(rich.id, 'suspended');
        await sleep(2 * KEY_CACHE_MS);
        expectStatus(await post({ key: rich.key, body: '{' }), 403, /suspended/);
      });

      it('checks type and JSON before the fields, the fields before the model, the model before the wallet', async () => {
        const { key } = empty;
        const headers = { 'content-type': 'text/plain' };
        expectStatus(await post({ key, body: '{', headers }), 415, /content-type/);
        expectStatus(await post({ key, body: '{', headers: { 'content-encoding': 'gzip' } }), 415, /content-encoding/);
        expectStatus(await post({ key, body: '{' }), 400, /JSON/);
        expectStatus(await post({ key, body: { ...good, ...wrong, model: 'nope' } }), 400, /Invalid `(?:size|stream)`/);
        expectStatus(await post({ key, body: { ...good, ...withImage, model: 'nope' } }), 400, /Unknown model `nope`/);
        expectStatus(await post({ key, body: { ...good, ...withImage } }), 402, /minimum first top-up is 1000\.00 RUB/);
      });

      it('names no price before it has read a long body, or the least that there is', async () => {
        const spent = await gateway.account();
        await adjust(spent, -1_000_000_000n);
        const refused = await post({ key: spent.key, body: { ...good, user: 'x'.repeat(SMALL_BYTES) } });
        expectStatus(
          refused,
          402,
          /too low: (?:this call needs a reserve of at least 0\.50 RUB and the balance|it) is 0\.00 RUB/,
        );
      });

      if (withImage) {
        it('checks the wallet before images are fetched, and those before anything is held', async () => {
          const low = await gateway.account();
          await adjust(low, -999_000_000n);
          const refused = await post({ key: low.key, body: { ...good, ...withImage } });
          expectStatus(refused, 402, /this call (?:needs a reserve of|costs) .* the balance is 1\.00 RUB/);
          const reply = await post({ key: rich.key, body: { ...good, ...withImage } });
          expectStatus(reply, 400, /cannot be fetched from a public https address/);
          expect(await gateway.store.ledger.charge(String(reply.headers['x-request-id']))).to.equal(undefined);
        });
      }
    });
  }
});
