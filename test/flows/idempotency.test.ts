// Calls that are sent again under their key, over real HTTP: one charge, the first outcome, whatever kind of call it is.
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, MESSAGES, open, type Reply, send, until } from '../../testkit/client.ts';
import {
  type Answer,
  accept,
  type FilmUpstream,
  filmCatalog,
  startFilmUpstream,
  status,
} from '../../testkit/film-upstream.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { BOUNDARY, EDITS, encodeForm, filePart, GENERATIONS, imageAnswer, imageCatalog } from '../../testkit/images.ts';
import { forgetReplies } from '../../testkit/repeats.ts';
import {
  answerStatus,
  chatAnswer,
  chatHeld,
  chatStall,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';
import { JPEG, PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';

interface Catalog {
  readonly upstreams: object;
  readonly models: readonly object[];
}

describe('idempotency keys', () => {
  let upstream: TestUpstream;
  let films: FilmUpstream;
  let gateway: TestGateway;
  let account: TestAccount;
  let keys = 0;

  before(async () => {
    upstream = await startUpstream();
    films = await startFilmUpstream();
    const catalogs = [imageCatalog(upstream.url), filmCatalog(films.url)] as readonly (Catalog & object)[];
    const chat = chatCatalog(upstream.url) as Catalog;
    const [text] = chat.models;
    const merged = {
      ...catalogs[0],
      upstreams: Object.assign(
        { talk: (chat.upstreams as { up: object }).up },
        ...catalogs.map((each) => each.upstreams),
      ),
      models: [
        { ...text, routes: [{ upstream: 'talk', model: 'up-model' }] },
        ...catalogs.flatMap((each) => each.models),
      ],
    };
    gateway = await startGateway({ catalog: merged, env: { VIDEO_POLL_MS: '20' } });
  });
  beforeEach(async () => {
    account = await gateway.account();
    upstream.calls.length = 0;
    upstream.behave(chatAnswer('Hello there.', { input: 7, output: 400 }));
    films.behave({});
    keys += 1;
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await Promise.all([upstream.close(), films.close()]);
  });

  const header = (key = `order ${keys}`) => ({ 'idempotency-key': key });
  const post = (path: string, body: unknown, { key } = account, headers: object = header()) =>
    send(gateway.url + path, { key, body, headers: headers as Record<string, string> });
  const charges = () => gateway.store.ledger.charges(account.id, { limit: 10 });
  /** Whether a repeat of the running call has a reply to wait for. */
  async function isAwaited(): Promise<boolean | undefined> {
    const [running] = await charges();
    const repeats = await gateway.store.idempotency.page({ limit: 10_000 });
    return repeats.find(({ charge }) => charge === running?.id)?.awaited;
  }
  const told = ({ status: code, headers, json }: Reply) => [
    ...[code, headers['x-should-retry'], json.error.type, json.error.code ?? json.type],
    ...[json.error.message, headers['retry-after']],
  ];

  /** Sent twice, it is answered with the same body and charged once. */
  async function expectReplayed(first: Reply, again: () => Promise<Reply>): Promise<void> {
    expect(first.status, first.text).to.equal(200);
    expect(first.headers).not.to.have.property('idempotent-replayed');
    const spent = (await gateway.wallet(account)).charged;
    const second = await again();
    expect([second.status, second.text]).to.deep.equal([200, first.text]);
    expect(second.headers).to.include({ 'idempotent-replayed': 'true', 'content-type': first.headers['content-type'] });
    expect(second.headers['access-control-expose-headers']).to.match(/^retry-after, .*, idempotent-replayed$/);
    expect(second.headers['x-request-id']).not.to.equal(first.headers['x-request-id']);
    expect((await gateway.wallet(account)).charged).to.equal(spent);
    expect(await charges()).to.have.length(1);
  }

  for (const path of DIALECTS) {
    const mistake = path === MESSAGES ? 'error' : 'idempotency_mismatch';
    const conflict = path === MESSAGES ? 'error' : 'conflict';

    describe(path, () => {
      it('answers a repeat like the first call, and charges once', async () => {
        await expectReplayed(await post(path, ask('hi')), () => post(path, ask('hi')));
        expect(upstream.calls).to.have.length(1);
      });

      it('answers a repeat although the wallet is empty meanwhile', async () => {
        account = await gateway.account('1000');
        const rest = (await gateway.wallet(account)).avail - 28_000_000n;
        const adjust = {
          kind: 'adjust',
          wallet: account.id,
          at: Date.now(),
          amount: -rest,
          adjustId: account.id,
        } as const;
        await gateway.store.ledger.apply([{ ...adjust, reason: 'test' }]);
        const body = ask(`${' '.repeat(100_000)}hi`, { max_tokens: 100 });
        upstream.behave(chatAnswer('Hello.', { input: 40_000, output: 100 }));
        await expectReplayed(await post(path, body), () => post(path, body));
      });

      it('accepts another key, and the same key of another account', async () => {
        await post(path, ask('hi'));
        expect((await post(path, ask('hi'), account, header('another'))).headers).not.to.have.property(
          'idempotent-replayed',
        );
        const other = await gateway.account();
        expect((await post(path, ask('hi'), other)).headers).not.to.have.property('idempotent-replayed');
        expect(await charges()).to.have.length(2);
      });

      it('refuses another body, and another path', async () => {
        await post(path, ask('hi'));
        const message = 'This idempotency key was used for another request.';
        const refusal = [422, 'false', 'invalid_request_error', mistake, message, undefined];
        expect(told(await post(path, ask('hello')))).to.deep.equal(refusal);
        expect((await post(path === CHAT ? MESSAGES : CHAT, ask('hi'))).status).to.equal(422);
        expect(await charges()).to.have.length(1);
      });

      it('tells a repeat to wait while the first call runs', async () => {
        const { behaviour, finish } = chatHeld();
        upstream.behave(behaviour);
        const called = upstream.nextCall();
        const first = post(path, ask('hi'));
        await called;
        const message = 'A call with this idempotency key is still running. Retry in 1 s.';
        const refusal = [409, undefined, 'conflict_error', conflict, message, '1'];
        expect(told(await post(path, ask('hi')))).to.deep.equal(refusal);
        expect((await post(path, ask('other'))).status).to.equal(422);
        finish();
        await expectReplayed(await first, () => post(path, ask('hi')));
      });

      it('marks a running call as having a reply to wait for, unless it streams', async () => {
        for (const stream of [false, true]) {
          const { behaviour, finish } = chatHeld();
          upstream.behave(behaviour);
          const called = upstream.nextCall();
          const first = post(path, ask('hi', { stream }), account, header(`running ${keys} ${stream}`));
          await called;
          expect(await isAwaited(), `stream ${stream}`).to.equal(!stream);
          finish();
          await first;
        }
      });

      it('names the charge of a stream, which is not kept', async () => {
        const body = ask('hi', { stream: true });
        const first = await post(path, body);
        expect(first.text).to.contain('Hello');
        const id = first.headers['x-request-id'];
        const message = `A call with this idempotency key has been charged as ${id}, and its reply was not kept.`;
        const refusal = [409, 'false', 'conflict_error', conflict, message, undefined];
        expect(told(await post(path, body))).to.deep.equal(refusal);
        expect(await charges()).to.have.length(1);
      });

      it('names the charge of a reply above 1 MiB', async () => {
        upstream.behave(chatAnswer(`${'界'.repeat(40_000)} `.repeat(10), { input: 7, output: 400 }));
        const body = ask('hi', { max_tokens: 32_768 });
        const first = await post(path, body);
        expect(first.text.length).to.be.above(400_000);
        const again = await post(path, body);
        expect(again.status).to.equal(409);
        expect(again.json.error.message).to.contain(String(first.headers['x-request-id']));
      });

      it('names the charge of a call whose client left', async () => {
        upstream.behave(chatStall(['one ']));
        const called = upstream.nextCall();
        const sent = open(gateway.url + path, { key: account.key, body: ask('hi'), headers: header() });
        sent.on('error', () => undefined);
        const { closed } = await called;
        sent.destroy();
        await closed;
        const repeated = async () => told(await post(path, ask('hi')));
        await until(async () => (await repeated())[1] === 'false');
        const [charge] = await charges();
        expect((await repeated())[4]).to.contain(`charged as ${charge?.id}`);
        expect(await charges()).to.have.length(1);
      });

      it('starts anew after a call that failed and was refunded', async () => {
        upstream.behave(answerStatus(500));
        expect((await post(path, ask('hi'))).status).to.equal(502);
        upstream.behave(chatAnswer('Hello there.', { input: 7, output: 400 }));
        const second = await post(path, ask('hello'));
        expect(second.status, second.text).to.equal(200);
        expect(second.headers).not.to.have.property('idempotent-replayed');
        expect((await charges()).map(({ state }) => state)).to.have.members(['settled', 'released']);
      });

      it('starts anew after a refusal without a hold', async () => {
        const poor = await gateway.account('0');
        expect((await post(path, ask('hi'), poor)).status).to.equal(402);
        expect((await post(path, ask('hi', { model: 'nope' }))).status).to.equal(400);
        expect((await post(path, ask('hi'))).status).to.equal(200);
      });

      it('charges once for many concurrent repeats', async () => {
        const replies = await Promise.all(Array.from({ length: 20 }, () => post(path, ask('hi'))));
        expect(new Set(replies.map(({ status: code }) => code))).to.deep.equal(new Set([200, 409]));
        const fresh = replies.filter(
          ({ status: code, headers }) => code === 200 && headers['idempotent-replayed'] === undefined,
        );
        expect(fresh).to.have.length(1);
        expect(await charges()).to.have.length(1);
        expect(upstream.calls).to.have.length(1);
      });

      it('refuses an invalid key', async () => {
        for (const key of ['', 'x'.repeat(256), 'ключ', 'a\tb']) {
          const headers = { 'idempotency-key': Buffer.from(key).toString('latin1') };
          const reply = await post(path, ask('hi'), account, headers);
          expect([reply.status, reply.json.error.message]).to.deep.equal([
            400,
            'Invalid `idempotency-key`: must be 1 to 255 printable characters.',
          ]);
        }
        expect((await post(path, ask('hi'), account, header('~'.repeat(255)))).status).to.equal(200);
      });
    });
  }

  it('hashes and replays a body of several MiB', async () => {
    const body = ask('a'.repeat(2_000_000), { max_tokens: 1 });
    account = await gateway.account('1000000');
    await expectReplayed(await post(MESSAGES, body), () => post(MESSAGES, body));
    expect((await post(MESSAGES, ask(`${'a'.repeat(1_999_999)}b`, { max_tokens: 1 }))).status).to.equal(422);
  });

  it('expires after a day', async () => {
    await post(MESSAGES, ask('hi'));
    const [repeat] = await gateway.store.idempotency
      .page({ limit: 1000 })
      .then((rows) => rows.filter(({ wallet }) => wallet === account.id));
    expect(repeat?.expiresAt).to.be.closeTo(Date.now() + 86_400_000, 60_000);
    expect(JSON.stringify(repeat)).not.to.contain(`order ${keys}`);
    await gateway.store.idempotency.put([{ ...(repeat as NonNullable<typeof repeat>), expiresAt: Date.now() - 1 }]);
    expect((await post(MESSAGES, ask('hello'))).status).to.equal(200);
    expect(await charges()).to.have.length(2);
  });

  it('answers a repeat of a call whose reply could not be kept with its charge', async () => {
    const first = await post(MESSAGES, ask('hi'));
    await forgetReplies(gateway.store);
    const again = await post(MESSAGES, ask('hi'));
    expect(again.json.error.message).to.contain(String(first.headers['x-request-id']));
  });

  it('is ignored where nothing is paid for', async () => {
    const count = `${MESSAGES}/count_tokens`;
    for (const text of ['hi', 'something else']) expect((await post(count, ask(text))).status).to.equal(200);
  });

  describe('of images', () => {
    beforeEach(() => upstream.behave(imageAnswer(PNG)));

    it('makes an image once', async () => {
      const body = { model: 'draw', prompt: 'a red square' };
      await expectReplayed(await post(GENERATIONS, body), () => post(GENERATIONS, body));
    });

    it('marks a running generation as having a reply to wait for', async () => {
      const { promise: mayGo, resolve: go } = Promise.withResolvers<void>();
      upstream.behave(async (exchange) => {
        await mayGo;
        await imageAnswer(PNG)(exchange);
      });
      const called = upstream.nextCall();
      const first = post(GENERATIONS, { model: 'draw', prompt: 'a red square' });
      await called;
      expect(await isAwaited()).to.equal(true);
      go();
      expect((await first).status).to.equal(200);
    });

    it('edits an image once', async () => {
      const body = { model: 'draw', prompt: 'blue', image: `data:image/png;base64,${PNG.toString('base64')}` };
      await expectReplayed(await post(EDITS, body), () => post(EDITS, body));
    });

    it('recognises a form whatever its boundary, and tells others apart', async () => {
      const form = (prompt: string, bytes: Buffer, boundary = BOUNDARY) => {
        const texts = { model: 'draw', prompt };
        const parts = Object.entries(texts).map(([name, content]) => ({ name, content }));
        const body = encodeForm([...parts, filePart('image', bytes)]).toString('latin1');
        const headers = { ...header(), 'content-type': `multipart/form-data; boundary=${boundary}` };
        return post(EDITS, Buffer.from(body.replaceAll(BOUNDARY, boundary), 'latin1'), account, headers);
      };
      await expectReplayed(await form('blue', PNG), () => form('blue', PNG, 'another-boundary'));
      expect((await form('red', PNG)).status).to.equal(422);
      expect((await form('blue', JPEG)).status).to.equal(422);
    });

    it('starts anew after a failure', async () => {
      upstream.behave(answerStatus(500));
      const body = { model: 'draw', prompt: 'a red square' };
      expect((await post(GENERATIONS, body)).status).to.equal(502);
      upstream.behave(imageAnswer(PNG));
      expect((await post(GENERATIONS, body)).status).to.equal(200);
    });
  });

  describe('of videos', () => {
    const body = { model: 'film-flat', prompt: 'A red square' };

    it('starts a video once', async () => {
      await expectReplayed(await post(VIDEOS, body), () => post(VIDEOS, body));
    });

    it('tells a repeat to wait while the upstream is asked', async () => {
      const { promise: mayGo, resolve: go } = Promise.withResolvers<void>();
      const held: Answer = async (exchange) => {
        await mayGo;
        await accept(exchange);
      };
      films.behave({ submit: held });
      const first = post(VIDEOS, body);
      await until(async () => (await charges()).length === 1);
      const again = await post(VIDEOS, body);
      expect([again.status, again.json.error.message]).to.deep.equal([
        ...[409, 'A call with this idempotency key is still running. Retry in 1 s.'],
      ]);
      go();
      await expectReplayed(await first, () => post(VIDEOS, body));
    });

    it('starts anew after a refused, refunded video', async () => {
      films.behave({ submit: status(500) });
      expect((await post(VIDEOS, body)).status).to.equal(502);
      films.behave({});
      expect((await post(VIDEOS, body)).status).to.equal(200);
      expect((await charges()).map(({ state }) => state)).to.have.members(['settled', 'refunded']);
    });

    it('names the video if the reply was not kept', async () => {
      const { json } = await post(VIDEOS, body);
      await forgetReplies(gateway.store);
      const again = await post(VIDEOS, body);
      expect(again.status).to.equal(409);
      expect(again.json.error.message).to.contain(`GET /api/v1/videos?id=${json.id} shows the video.`);
    });
  });
});
