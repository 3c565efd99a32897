// Money of test payments and the gift of the demo account buy no real answer: a sandbox becomes a real service, whose
// calls are refused for such wallets before anything is asked, until an operator decides; the sandbox itself goes on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { hashToken } from '../../lib/users/token.ts';
import { CHAT, MESSAGES, send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS, imageCatalog } from '../../testkit/images.ts';
import { createVisitor, makeCode, setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { applied, topup } from '../contract/store/context.ts';

const RUB = 1_000_000n;
const WALLET = '/account/wallet';
const WORDS = 'The wallet holds money from test payments, which cannot pay for real models.';
const LONG = 'hello '.repeat(100_000);

const CALLS: Readonly<Record<string, readonly [path: string, body: object]>> = {
  'a chat': [CHAT, { model: 'a', messages: [{ role: 'user', content: 'hi' }] }],
  'a message': [MESSAGES, { model: 'a', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }],
  'a long chat': [CHAT, { model: 'a', messages: [{ role: 'user', content: LONG }] }],
  'a stream': [CHAT, { model: 'a', stream: true, messages: [{ role: 'user', content: 'hi' }] }],
};
const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const seen = [
  { type: 'text', text: 'what?' },
  { type: 'image_url', image_url: { url: DOT } },
];
/** Of a catalog with images and films. */
const OTHERS: readonly (readonly [path: string, body: object])[] = [
  [GENERATIONS, { model: 'draw', prompt: 'a cat' }],
  [EDITS, { model: 'draw', prompt: 'a cat', images: [DOT] }],
  ['/api/v1/videos', { model: 'film', prompt: 'a cat' }],
  [CHAT, { model: 'eye', messages: [{ role: 'user', content: seen }] }],
];

describe('play money where models cost real money', function () {
  this.timeout(60_000);
  let upstream: TestUpstream;
  let sandbox: TestGateway;
  let real: TestGateway;
  let demoKey = '';
  let paid: TestAccount;
  let plain: TestAccount;
  let owner: Visitor;
  let first: Awaited<ReturnType<typeof setUpOperator>>;
  let operator: Visitor;

  before(async () => {
    upstream = await startUpstream();
    sandbox = await startGateway({ catalog: {}, env: { SANDBOX: 'auto' } });
    demoKey = sandbox.gateway.facts.demoKey ?? '';
    [paid, plain] = [await sandbox.account('0'), await sandbox.account('1000')];
    owner = await setUpOwner(sandbox, paid.id);
    first = await setUpOperator(sandbox);
    const { headers } = await owner.submit(WALLET, { amount: '1000' });
    const page = await owner.get(String(headers.location));
    const link = /class="button" href="([^"]+)"/.exec(page.text)?.[1] ?? '';
    await owner.post(new URL(link).pathname, { button: 'paid' });
  });
  after(async () => {
    await real?.stop();
    await sandbox?.stop();
    await upstream?.close();
  });

  const say = (test: TestGateway, key: string, model: string) =>
    send(test.url + CHAT, { key, body: { model, messages: [{ role: 'user', content: 'hi' }] } });

  it('pays in the sandbox, while a real service on the same store refuses it', async () => {
    for (const key of [demoKey, paid.key]) expect((await say(sandbox, key, 'sandbox-lite')).status).to.equal(200);
    real = await startGateway({ catalog: chatCatalog(upstream.url), database: sandbox.databaseUrl });
    operator = createVisitor(real.url, { session: first.cookies.get('session') ?? '' });
    for (const [name, [path, body]] of Object.entries(CALLS)) {
      for (const key of [demoKey, paid.key]) {
        const { status, json } = await send(real.url + path, { key, body });
        expect([status, JSON.stringify(json).includes(WORDS)], name + JSON.stringify(json)).to.deep.equal([402, true]);
      }
    }
    const images = await startGateway({ catalog: imageCatalog(upstream.url), database: sandbox.databaseUrl });
    for (const [path, body] of OTHERS) {
      const { status, text } = await send(images.url + path, { key: paid.key, body });
      expect([status, text.includes(WORDS)], text).to.deep.equal([402, true]);
    }
    await images.stop();
    expect(upstream.calls).to.have.length(0);
    // The sandbox keeps working, and other wallets too.
    expect((await say(sandbox, paid.key, 'sandbox-lite')).status).to.equal(200);
    expect((await say(real, plain.key, 'a')).status).to.equal(200);
    const log = join(real.folder, 'log');
    await until(() => readFileSync(log, 'utf8').includes('tollgate wallet play-money'));
    expect(readFileSync(log, 'utf8')).to.contain(paid.id);
  });

  it('is also refused at the hold, if it arrived after the first check', async () => {
    const late = await real.account('1000');
    expect((await say(real, late.key, 'a')).status).to.equal(200);
    await applied(real.store, { ...topup(late.id, RUB), isPlay: true } as never);
    const before = upstream.calls.length;
    expect((await say(real, late.key, 'a')).status).to.equal(402);
    expect(upstream.calls).to.have.length(before);
  });

  it("is shown on its owner's pages, and converted or written off by an operator with a reason", async () => {
    expect((await owner.get(WALLET)).text).not.to.contain('money from test payments');
    const visitor = await setUpOwner(real, paid.id, 'second@example.com');
    expect((await visitor.get(WALLET)).text).to.contain('This wallet holds money from test payments');
    const path = `/admin/accounts/${paid.id}`;
    expect((await operator.get(path)).text)
      .to.contain('Play money')
      .and.to.contain('Write off');
    expect((await operator.submit(path, { change: 'convert', reason: '' })).status).to.equal(400);
    const { avail } = await real.wallet(paid);
    const done = await operator.submit(path, { change: 'convert', reason: 'a first customer' });
    expect(done.headers.location).to.equal(`${path}?done=done`);
    expect((await say(real, paid.key, 'a')).status).to.equal(200);
    const [deed] = await real.store.auditLog.page({ limit: 1 });
    expect(deed).to.include({ action: 'wallet.play_money', account: paid.id });
    expect(deed?.detail).to.contain('a first customer');
    const entries = await real.store.ledger.entries(paid.id, { limit: 20 });
    expect(entries.find(({ kind }) => kind === 'adjust')).to.include({
      avail: 0n,
      adjusted: 0n,
      note: 'play money converted: a first customer',
    });
    expect(entries.reduce((sum, entry) => sum + entry.avail, 0n) < avail).to.equal(true);
    expect((await operator.submit(path, { change: 'write_off', reason: 'again' })).status).to.equal(400);
    expect((await operator.get(path)).text).not.to.contain('Write off');

    const demo = (await real.store.settings.get('demo-account')) ?? '';
    const left = (await real.store.ledger.wallet(demo))?.avail ?? 0n;
    await operator.submit(`/admin/accounts/${demo}`, { change: 'write_off', reason: 'the trial is over' });
    expect(left > 0n).to.equal(true);
    expect(await real.store.ledger.wallet(demo)).to.include({ avail: 0n, adjusted: -left });
    const { status, text } = await say(real, demoKey, 'a');
    expect([status, text.includes('The balance is too low')]).to.deep.equal([402, true]);
    await real.checkMoney();
  });

  it('needs a fresh code of the operator', async () => {
    const holder = await real.account('0');
    await applied(real.store, { ...topup(holder.id, 1000n * RUB), isPlay: true } as never);
    const path = `/admin/accounts/${holder.id}`;
    const session = hashToken(operator.cookies.get('session') ?? '');
    const now = Date.now();
    await real.store.sessions.touch(session, { seenAt: now, provenAt: now - 11 * 60_000 });
    expect((await operator.get(path)).text).to.contain('id="convert-code"');
    expect((await operator.submit(path, { change: 'convert', reason: 'mine' })).status).to.equal(403);
    expect((await real.wallet(holder)).playMoney).to.equal(true);
    const code = makeCode(first.secret, 1);
    expect((await operator.submit(path, { change: 'convert', reason: 'mine', code })).status).to.equal(303);
    expect(await real.wallet(holder)).not.to.have.property('playMoney');
  });
});
