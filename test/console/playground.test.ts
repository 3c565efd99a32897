// The playground over HTTP: calls are charged to the chosen key at the quoted price, and every refusal is explained and
// costs nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { getKeyCallsId } from '../../lib/money/budget.ts';
import type { Charge } from '../../lib/money/decide.ts';
import { SERVICE_OWNER } from '../../lib/money/operations.ts';
import { CHAT, joinText, open, parseEvents, type Reply, readHead, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import { createVisitor, hiddenFields, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { applied, giveBack, reserve } from '../contract/store/context.ts';

const PAGE = '/account/playground';
const TEXT = { kind: 'text', model: 'sandbox-lite', max_tokens: '700' };
const EMBEDDING = { kind: 'embedding', model: 'sandbox-embedding', prompt: 'A red square', dimensions: '12' };
const IMAGE = { kind: 'image', model: 'sandbox-image', prompt: 'A red square', size: '1792x1024' };
const VIDEO = { kind: 'video', model: 'sandbox-video', prompt: 'Waves', seconds: '4', resolution: '720p', aspect: '' };

describe('the playground', function () {
  this.timeout(30_000);
  let test: TestGateway;
  let account: TestAccount;
  let owner: Visitor;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on', VIDEO_POLL_MS: '1000' } });
    account = await test.account();
    owner = await setUpOwner(test, account.id);
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  const ask = (fields: Readonly<Record<string, string>>, key = account.keyId, by = owner) =>
    by.submit(PAGE, { do: 'send', key, ...fields });

  async function stream(fields: Readonly<Record<string, string>>): Promise<Reply> {
    const { csrf = '' } = hiddenFields((await owner.get(PAGE)).text, PAGE);
    return owner.post(`${PAGE}/text`, { csrf, key: account.keyId, ...fields });
  }

  const lines = (): Record<string, unknown>[] => readLogLines(test);

  async function lastCharge({ id } = account): Promise<Charge | undefined> {
    return (await test.store.ledger.charges(id, { limit: 1 }))[0];
  }

  it('answers a text call on the page and charges the chosen key', async () => {
    const { id: other } = await createAccounts({ store: test.store, keyPrefix: 'tg-' }).issueKey(account.id, 'other');
    const reply = await ask({ ...TEXT, prompt: 'Tell me <b>all</b>\r\nabout trees' }, other);
    expect(reply.status).to.equal(200);
    expect(reply.text).to.contain('You wrote: “Tell me &lt;b&gt;all&lt;/b&gt; about trees”');
    const charge = await lastCharge();
    expect(charge).to.include({ kind: 'text', key: other, model: 'sandbox-lite', state: 'settled', charged: 500_000n });
    expect(reply.text).to.contain(`/account/calls/${charge?.id}`).and.to.contain('₽0.50');
    expect(reply.headers['x-request-id']).to.equal(charge?.id);
    await until(async () => (await test.store.keys.get(other))?.requestsCount === 1);
  });

  it('streams text as chat events and ends with the outcome of the page', async () => {
    const reply = await stream({ ...TEXT, prompt: 'Hello' });
    expect(reply.headers['content-type']).to.contain('text/event-stream');
    expect(reply.headers['content-security-policy']).to.contain("connect-src 'self'");
    const events = parseEvents(reply.text);
    expect(joinText(events)).to.contain('You wrote: “Hello”');
    expect(events.at(-2)?.data).to.equal('[DONE]');
    const outcome = events.at(-1);
    expect(outcome?.event).to.equal('outcome');
    expect(outcome?.data.html).to.contain('₽0.50').and.to.contain(String(reply.headers['x-request-id']));
    const id = String(reply.headers['x-request-id']);
    expect(await lastCharge()).to.include({ id, state: 'settled', key: account.keyId });
    const line = () => lines().find((one) => one.request_id === id && one.path !== undefined);
    await until(() => line() !== undefined);
    expect(line()?.stream).to.equal(true);
  });

  it("reports an upstream failure during a stream in the visitor's language", async () => {
    await owner.get(`${PAGE}?lang=ru`);
    const events = parseEvents((await stream({ ...TEXT, prompt: '[[fail-mid]]' })).text);
    await owner.get(`${PAGE}?lang=en`);
    expect(events.at(-1)?.data.html).to.contain('сбой у провайдера').and.to.contain('/account/calls/');
    expect((await lastCharge())?.charged).to.equal(500_000n);
  });

  it('generates an image and links to it on the same origin', async () => {
    const reply = await ask(IMAGE);
    expect(reply.status).to.equal(200);
    const [, path = ''] = /<img src="(\/media\/[^"]+\.png)" alt="A red square">/.exec(reply.text) ?? [];
    const image = await send(`${test.url}${path}`);
    expect([image.status, image.headers['content-type']]).to.deep.equal([200, 'image/png']);
    expect(await lastCharge()).to.include({ kind: 'image', key: account.keyId, charged: 5_000_000n, state: 'settled' });
  });

  it('starts a video and shows its progress to its own account only', async () => {
    const begun = await ask(VIDEO);
    const place = begun.headers.location ?? '';
    expect(begun.status).to.equal(303);
    expect(place).to.match(/^\/account\/playground\/video\?id=vid_[0-9a-f]{32}$/);
    expect((await owner.get(place)).text)
      .to.contain('data-again')
      .and.to.contain(`href="${place}"`);
    expect(await lastCharge()).to.include({ kind: 'video', key: account.keyId, charged: 32_000_000n });
    await until(async () => !(await owner.get(place)).text.includes('data-again'));
    const [, path = ''] =
      /<video controls preload="metadata" src="(\/media\/[^"]+)">/.exec((await owner.get(place)).text) ?? [];
    expect((await send(`${test.url}${path}`)).headers['content-type']).to.equal('video/mp4');
    const stranger = await setUpOwner(test, (await test.account()).id);
    expect((await stranger.get(place)).status).to.equal(404);
    expect((await owner.get(`${PAGE}/video?id=vid_1`)).status).to.equal(404);
  });

  it('shows that a video failed and was refunded', async () => {
    const before = await test.wallet(account);
    const { location = '' } = (await ask({ ...VIDEO, prompt: '[[fail]]' })).headers;
    await until(async () => !(await owner.get(location)).text.includes('data-again'));
    expect((await owner.get(location)).text).to.contain('The video failed and was refunded');
    expect((await lastCharge())?.state).to.equal('refunded');
    expect((await test.wallet(account)).charged).to.equal(before.charged);
  });

  it('shows the first numbers of a vector, with its length and cost', async () => {
    const reply = await ask(EMBEDDING);
    expect(reply.status).to.equal(200);
    expect(reply.text).to.match(/<div id="reply">\[(?:[\d.]+, ){8}…\]</);
    expect(reply.text).to.contain('<dt>Length of the vector (dimensions)</dt><dd>12</dd>');
    expect(reply.text).to.contain('<dt>Input tokens</dt><dd>3</dd>');
    expect(await lastCharge()).to.include({ kind: 'embedding', key: account.keyId, charged: 500_000n });
    const russian = await owner.get(`${PAGE}?${new URLSearchParams({ ...EMBEDDING, lang: 'ru' })}`);
    expect(russian.text).to.match(/40,00\s₽ за 1\sмлн токенов/);
    await owner.get('/account?lang=en');
  });

  describe('shows the price before sending', () => {
    const priceIn = ({ text }: Reply) => /<section id="price"[\s\S]*?<strong class="big">([^<]+)</.exec(text)?.[1];

    it('of a text call: the amount that will be held', async () => {
      const fields = { ...TEXT, model: 'sandbox-heavy', prompt: 'word '.repeat(1000) };
      const before = await lastCharge();
      const page = await owner.get(`${PAGE}?${new URLSearchParams(fields)}`);
      const shown = await owner.submit(PAGE, { ...fields, key: account.keyId, do: 'price' });
      expect(priceIn(shown)).to.equal(priceIn(page));
      expect(await lastCharge()).to.deep.equal(before);
      await ask(fields);
      const { reserved = 0n } = (await lastCharge()) ?? {};
      expect(priceIn(shown)).to.equal(`₽${(Number(reserved) / 1e6).toFixed(2)}`);
      expect(Number(reserved)).to.be.above(700 * 7500);
    });

    for (const [fields, price, sum] of [
      [EMBEDDING, '₽0.50', '₽40.00 per 1M tokens'],
      [IMAGE, '₽5.00', ''],
      [VIDEO, '₽32.00', '4 s × ₽8.00 (720p)'],
      [{ ...VIDEO, resolution: '', seconds: '' }, '₽75.00', '5 s × ₽15.00 (1080p)'],
    ] as const) {
      it(`of a ${fields.kind}: ${price}`, async () => {
        const before = await lastCharge();
        const page = await owner.get(`${PAGE}?${new URLSearchParams(fields)}`);
        expect(priceIn(page)).to.equal(price);
        expect(page.text).to.contain(sum);
        expect(priceIn(await owner.submit(PAGE, { ...fields, key: account.keyId, do: 'price' }))).to.equal(price);
        expect(await lastCharge()).to.deep.equal(before);
      });
    }

    it('of smart: with the model that will answer', async () => {
      const page = await owner.get(`${PAGE}?kind=text&model=smart&max_tokens=100&prompt=Translate:+tree`);
      expect(page.text).to.contain('<dd>sandbox-lite</dd>');
    });
  });

  describe('refuses with an explanation and without a charge', () => {
    const good = { ...TEXT, prompt: 'Hello' };
    const accounts = () => createAccounts({ store: test.store, keyPrefix: 'tg-' });

    async function refusedAs(
      reply: Promise<Reply>,
      { status, words, of = account }: { status: number; words: string; of?: TestAccount },
    ): Promise<void> {
      const before = await test.wallet(of);
      const { status: got, text } = await reply;
      expect(text).to.match(/<p class="message error" role="alert">/);
      expect(text).to.contain(words);
      expect(got).to.equal(status);
      const { avail, held } = await test.wallet(of);
      expect({ avail, held }).to.deep.equal({ avail: before.avail, held: 0n });
    }

    for (const [name, fields, status, words] of [
      ['an unknown model', { ...good, model: 'nothing' }, 400, 'Unknown model `nothing`'],
      ['a length that is no number', { ...EMBEDDING, dimensions: 'many' }, 400, 'must be a whole number above zero'],
      ['a length that is not offered', { ...EMBEDDING, dimensions: '5000' }, 400, 'must be from 1 to 4096'],
      ['a model of another kind', { ...good, model: 'sandbox-image' }, 400, 'cannot be used on this endpoint'],
      ['a blank prompt', { ...good, prompt: ' \r\n ' }, 400, 'Enter a prompt.'],
      ['no number of tokens', { ...good, max_tokens: '1.5' }, 400, 'a whole number above zero'],
      ['seconds that are not sold', { ...VIDEO, seconds: '99' }, 400, 'does not offer the chosen option'],
      ['a resolution that is not sold', { ...VIDEO, resolution: '4k' }, 400, 'does not offer the chosen option'],
      ['a size that there is none of', { ...IMAGE, size: '1x1' }, 400, 'Invalid `size`'],
      ['what an upstream fails at', { ...good, prompt: '[[fail]]' }, 502, 'Charge refunded.'],
      ['an image that fails', { ...IMAGE, prompt: '[[fail]]' }, 502, 'Charge refunded.'],
      ['a video that does not begin', { ...VIDEO, prompt: '[[fail-start]]' }, 502, 'Charge refunded.'],
    ] as const) {
      it(name, () => refusedAs(ask(fields), { status, words }));
    }

    it('a call beside as many calls of the key as may run at once', async () => {
      const { id } = await accounts().issueKey(account.id, 'one', { requests: { atOnce: 1 } });
      const caps = [{ id: getKeyCallsId(id), period: 0, limit: 1n }];
      // No gateway returns what this owner holds.
      const hold = { owner: SERVICE_OWNER, lease: Date.now() + 60_000 };
      await applied(test.store, reserve(account.id, { chargeId: 'req_1', key: id, caps, ...hold }));
      const { status, text } = await ask(good, id);
      expect([status, text.includes('Too many calls at once: the limit is 1.')]).to.deep.equal([429, true]);
      await applied(test.store, giveBack('release', account.id, 'req_1'));
      expect((await ask(good, id)).status).to.equal(200);
    });

    it('a key that is unknown, revoked, expired or of another account', async () => {
      const foreign = await test.account();
      const revoked = await accounts().issueKey(account.id, 'r');
      const expired = await accounts().issueKey(account.id, 'e');
      await accounts().revokeKey(revoked.id);
      const past = createAccounts({ store: test.store, keyPrefix: 'tg-', clock: () => Date.now() - 60_000 });
      await past.limitKey(expired.id, { expiresAt: Date.now() - 1 });
      const calls = (await test.store.ledger.charges(foreign.id, { limit: 1 })).length;
      for (const key of ['key_unknown', '', revoked.id, foreign.keyId]) {
        await refusedAs(ask(good, key), { status: 401, words: 'The key is unknown or revoked.', of: foreign });
      }
      await refusedAs(ask(good, expired.id), { status: 401, words: 'has expired' });
      expect((await test.store.ledger.charges(foreign.id, { limit: 1 })).length).to.equal(calls);
      const { text } = await owner.get(PAGE);
      for (const id of [revoked.id, expired.id, foreign.keyId]) expect(text).not.to.contain(id);
    });

    it('a model that the key is not allowed to use, of every kind', async () => {
      const { id } = await accounts().issueKey(account.id, 'narrow', { models: ['sandbox-standard'] });
      for (const fields of [good, EMBEDDING, IMAGE, VIDEO]) {
        await refusedAs(ask(fields, id), { status: 403, words: 'may not be used for model' });
      }
    });

    it('a call beyond the budget of the key, of every kind', async () => {
      const { id } = await accounts().issueKey(account.id, 'small', { budget: 400_000n });
      for (const fields of [good, EMBEDDING, IMAGE, VIDEO]) {
        await refusedAs(ask(fields, id), { status: 402, words: 'The budget of the key' });
      }
      expect((await ask(good, id)).text).not.to.contain('Go to the wallet');
    });

    it('a call that the wallet cannot pay, with a link to the wallet, in both languages', async () => {
      const poor = await test.account('1000');
      const never = await test.account('0');
      const poorOwner = await setUpOwner(test, poor.id);
      const neverOwner = await setUpOwner(test, never.id);
      const dear = { ...TEXT, model: 'sandbox-heavy', max_tokens: '32768', prompt: 'Hi', kind: 'text' };
      const spent = {
        kind: 'adjust',
        wallet: poor.id,
        at: Date.now(),
        amount: -999_000_000n,
        operationId: 'a',
        reason: 'r',
      };
      await test.store.ledger.apply([spent as never]);
      await refusedAs(ask(dear, poor.keyId, poorOwner), { status: 402, words: 'The balance is too low', of: poor });
      await poorOwner.get(`${PAGE}?lang=ru`);
      await refusedAs(ask(dear, poor.keyId, poorOwner), { status: 402, words: 'на балансе 1,00\u00a0₽', of: poor });
      for (const fields of [good, IMAGE, VIDEO]) {
        const reply = ask(fields, never.keyId, neverOwner);
        await refusedAs(reply, { status: 402, words: 'never been topped up', of: never });
        expect((await reply).text).to.contain('<a href="/account/wallet">');
      }
    });

    it('a suspended account', async () => {
      const stopped = await test.account();
      const stoppedOwner = await setUpOwner(test, stopped.id);
      await accounts().suspend(stopped.id);
      const reply = ask(good, stopped.keyId, stoppedOwner);
      await refusedAs(reply, { status: 403, words: 'is suspended', of: stopped });
    });

    it('forms from other sites, without a token, and without a session', async () => {
      const { csrf = '' } = hiddenFields((await owner.get(PAGE)).text, PAGE);
      const fields = { ...good, key: account.keyId, do: 'send' };
      const before = await lastCharge();
      for (const path of [PAGE, `${PAGE}/text`]) {
        expect((await owner.post(path, fields)).status).to.equal(403);
        expect((await owner.post(path, { ...fields, csrf: `${csrf}x` })).status).to.equal(403);
        const foreign = { headers: { origin: 'https://evil.example' } };
        expect((await owner.post(path, { ...fields, csrf }, foreign)).status).to.equal(403);
        const site = { headers: { 'sec-fetch-site': 'cross-site' } };
        expect((await owner.post(path, { ...fields, csrf }, site)).status).to.equal(403);
        const nobody = await createVisitor(test.url).post(path, { ...fields, csrf });
        expect([nobody.status, nobody.headers.location]).to.deep.equal([
          303,
          `/login?next=${encodeURIComponent(PAGE)}&unsent=yes`,
        ]);
      }
      expect(await lastCharge()).to.deep.equal(before);
    });

    it('on the streaming path too, as a page', async () => {
      await refusedAs(stream({ ...good, key: 'key_unknown' }), { status: 401, words: 'unknown or revoked' });
      await refusedAs(stream({ ...good, prompt: '' }), { status: 400, words: 'Enter a prompt.' });
      const { text } = await stream({ ...good, model: 'nothing' });
      expect(text).to.contain('<section id="answer"').and.to.contain('Unknown model');
    });
  });

  it('shares the rate limit of the key', async () => {
    const narrow = await startGateway({ catalog: {}, env: { SANDBOX: 'on', RATE_LIMIT_PER_MINUTE: '2' } });
    try {
      const made = await narrow.account();
      const visitor = await setUpOwner(narrow, made.id);
      const body = { model: 'sandbox-lite', messages: [{ role: 'user', content: 'hi' }] };
      await send(`${narrow.url}${CHAT}`, { key: made.key, body });
      const fields = { ...TEXT, prompt: 'Hello', do: 'send', key: made.keyId };
      expect((await visitor.submit(PAGE, fields)).status).to.equal(200);
      const { status, text } = await visitor.submit(PAGE, fields);
      expect([status, text.includes('Too many requests on this key')]).to.deep.equal([429, true]);
      expect((await send(`${narrow.url}${CHAT}`, { key: made.key, body })).status).to.equal(429);
      await narrow.checkMoney();
    } finally {
      await narrow.stop();
    }
  });

  for (const path of [PAGE, `${PAGE}/text`]) {
    it(`ends the call of a client that leaves (${path})`, async () => {
      const { csrf = '' } = hiddenFields((await owner.get(PAGE)).text, PAGE);
      const fields = { ...TEXT, csrf, key: account.keyId, do: 'send', prompt: '[[stall]]' };
      const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
      const sent = open(`${test.url}${path}`, { method: 'POST', headers, body: `${new URLSearchParams(fields)}` });
      const failed = readHead(sent).then(
        (response) => response.resume().on('error', () => undefined),
        () => undefined,
      );
      await until(async () => (await test.wallet(account)).held > 0n);
      sent.destroy();
      await failed;
      // Only an abort ends a call that stalls.
      await until(async () => (await test.wallet(account)).held === 0n);
      expect(await lastCharge()).to.include({ state: 'settled', charged: 500_000n });
    });
  }

  it('stores no prompt, neither in the log nor in the store', async () => {
    const secret = 'violet-walrus-41';
    for (const fields of [TEXT, IMAGE, VIDEO]) await ask({ ...fields, prompt: `${secret} [[refuse]]` });
    for (const fields of [TEXT, IMAGE]) await ask({ ...fields, prompt: secret });
    await stream({ ...TEXT, prompt: secret });
    await owner.submit(PAGE, { ...TEXT, prompt: secret, key: account.keyId, do: 'price' });
    for (const file of readdirSync(test.folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = readFileSync(join(file.parentPath, file.name));
      expect(bytes.includes(secret), file.name).to.equal(false);
    }
  });

  it('links an account without a key to the page of keys', async () => {
    const { id } = await createAccounts({ store: test.store, keyPrefix: 'tg-' }).create('no keys');
    const visitor = await setUpOwner(test, id);
    const page = await visitor.get(PAGE);
    expect(page.status).to.equal(200);
    expect(page.text).to.contain('href="/account/keys">Create a key').and.not.to.contain('name="prompt"');
    expect((await visitor.get(`${PAGE}?account=${account.id}`)).status).to.equal(404);
  });

  it('charges the account that a member of several has chosen', async () => {
    const first = await test.account();
    const second = await test.account();
    const member = await setUpOwner(test, first.id);
    const user = await test.store.users.find(member.email);
    await test.store.users.join({ user: user?.id ?? '', account: second.id, role: 'owner' });
    const place = `${PAGE}?account=${second.id}`;
    const fields = { ...TEXT, prompt: 'Hello', do: 'send' };
    expect((await member.submit(place, { ...fields, key: second.keyId })).status).to.equal(200);
    expect((await member.submit(place, { ...fields, key: first.keyId })).status).to.equal(401);
    expect([(await test.wallet(first)).charged, (await test.wallet(second)).charged]).to.deep.equal([0n, 500_000n]);
  });

  it('keeps the scripts below 6 KB and the style below 5 KB', async () => {
    const load = async (name: string) => (await send(`${test.url}/static/${name}`)).text;
    const names = readdirSync('lib/console/static').filter((name) => name.endsWith('.js'));
    expect(names).to.have.members(['copy.js', 'confirm.js', 'live.js', 'chart.js', 'playground.js']);
    const scripts = (await Promise.all(names.map(load))).join('');
    expect(gzipSync(scripts).length).to.be.within(500, 6 * 1024);
    expect(gzipSync(await load('style.css')).length).to.be.within(500, 5 * 1024);
    expect((await owner.get('/account/models')).text).not.to.contain('playground.js');
  });
});
