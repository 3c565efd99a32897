// A call that is refused for lack of money before anything is held sets off the automatic top-up, whatever it asks for.
import { expect } from 'chai';
import { CHAT, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { adjust, applied } from '../contract/store/context.ts';
import { newAuto } from '../contract/store/payments.ts';

const RUB = 1_000_000n;
const WALLET = '/account/wallet';
/** A wallet is checked once a second at most. */
const CHECKED_MS = 1100;
const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { type: 'image_url', image_url: { url: DOT } };

/** By what is asked for: where, and what. */
const CALLS: Readonly<Record<string, readonly [path: string, body: object]>> = {
  'a video': ['/api/v1/videos', { model: 'sandbox-video', prompt: 'a cat' }],
  'an image': ['/api/v1/images/generations', { model: 'sandbox-image', prompt: 'a cat' }],
  'an edit': ['/api/v1/images/edits', { model: 'sandbox-image', prompt: 'a dog', images: [DOT] }],
  'a text about an image': [
    CHAT,
    { model: 'sandbox-vision', messages: [{ role: 'user', content: [{ type: 'text', text: 'what?' }, image] }] },
  ],
  'a text': [CHAT, { model: 'sandbox-lite', messages: [{ role: 'user', content: 'hello' }] }],
  'a long text': [CHAT, { model: 'sandbox-lite', messages: [{ role: 'user', content: 'hello '.repeat(100_000) }] }],
};

describe('a call refused for lack of money', function () {
  this.timeout(60_000);
  let test: TestGateway;
  const accounts = new Map<string, TestAccount>();

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    for (const name of Object.keys(CALLS)) accounts.set(name, await createPayer());
    await new Promise((resolve) => setTimeout(resolve, CHECKED_MS));
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  /** An account with an empty wallet and an automatic top-up. */
  async function createPayer(): Promise<TestAccount> {
    const account = await test.account('0');
    const owner = await setUpOwner(test, account.id);
    await pay(owner, { save: 'yes' });
    const [card] = await test.store.payments.methods(account.id);
    // Only a refused call sets it off: nothing is below 0 RUB.
    const wish = { threshold: 0n, amount: 500n * RUB, cap: 100_000n * RUB, method: card?.id ?? '' };
    await test.store.payments.changeAutoTopup(newAuto(account.id, wish));
    await pay(owner, {});
    await until(async () => (await test.store.payments.autoTopup(account.id))?.order === null);
    await applied(test.store, adjust(account.id, -(await readBalance(account))));
    return account;
  }

  /** Pays on the pages; the credit lets the gateway see the automatic top-up. */
  async function pay(owner: Visitor, more: Readonly<Record<string, string>>): Promise<void> {
    const { headers } = await owner.submit(WALLET, { amount: '1000', ...more });
    const { text } = await owner.get(String(headers.location));
    const link = /class="button" href="([^"]+)"/.exec(text)?.[1] ?? '';
    await owner.post(new URL(link).pathname, { button: 'paid', card: 'good' });
  }

  const readBalance = async (account: TestAccount) => (await test.wallet(account)).avail;

  for (const [name, [path, body]] of Object.entries(CALLS)) {
    it(`succeeds a moment later: ${name}`, async () => {
      const account = accounts.get(name) as TestAccount;
      const { status, text } = await send(test.url + path, { key: account.key, body });
      expect(status, text).to.equal(402);
      await until(async () => (await readBalance(account)) >= 500n * RUB, 10_000);
      expect(await readBalance(account)).to.equal(500n * RUB);
    });
  }
});
