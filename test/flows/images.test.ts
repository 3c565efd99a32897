// Images through a whole gateway: what an upstream is asked, what the client gets, what it costs, and what fails.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { readImageSize } from '../../lib/base/sniff.ts';
import { parseEvents, type Reply, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { download, EDITS, filePart, GENERATIONS, imageAnswer, imageCatalog, sendForm } from '../../testkit/images.ts';
import { answerStatus, type Behaviour, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { GIF, JPEG, PNG, png, WEBP_LOSSY } from '../media/sample-images.ts';

const RUB = 1_000_000n;
const uri = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`;

describe('images', () => {
  let upstream: TestUpstream;
  let images: Server;
  let origin: string;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    images = createServer((request, response) => {
      if (request.url === '/gone.png') response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => images.once('listening', resolve));
    origin = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
    gateway = await startGateway({ catalog: imageCatalog(upstream.url), env: { IMAGE_TRUSTED_ORIGINS: origin } });
  });
  beforeEach(async () => {
    upstream.calls.length = 0;
    upstream.behave(imageAnswer(PNG));
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
    images.close();
  });

  const ask = (path: string, body: object) => send(gateway.url + path, { key: account.key, body });
  const generate = (body: object = {}) => ask(GENERATIONS, { model: 'draw', prompt: 'a red square', ...body });
  const edit = (body: object = {}) => ask(EDITS, { model: 'draw', prompt: 'make it blue', image: uri(PNG), ...body });
  const charged = async () => (await gateway.wallet(account)).charged;
  const findCharge = (reply: Reply) => gateway.store.ledger.charge(String(reply.headers['x-request-id']));
  const pathsAsked = () => upstream.calls.map(({ request }) => request.url);

  describe('generations', () => {
    it('use the requested model, cost one image, and reply in the shape of the spec', async () => {
      upstream.behave(imageAnswer(PNG, JPEG));
      const before = Math.floor(Date.now() / 1000);
      const reply = await generate();
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.json).to.have.all.keys('created', 'data');
      expect(reply.json.created).to.be.within(before, before + 10);
      expect(reply.json.data).to.have.length(1);
      expect(reply.json.data[0]).to.have.all.keys('url');
      expect(upstream.calls).to.have.length(1);
      expect(upstream.calls[0]?.body).to.deep.equal({ model: 'up-image', prompt: 'a red square' });
      expect(await charged()).to.equal(10n * RUB);
      expect(await findCharge(reply)).to.include({
        state: 'settled',
        kind: 'image',
        model: 'draw',
        reserved: 10n * RUB,
        prices: '{"request":"10000000"}',
        usage: '{"images":1}',
      });
      const { type, bytes } = await download(reply.json.data[0].url);
      expect([type, bytes.equals(PNG)]).to.deep.equal(['image/png', true]);
    });

    it('are edits where they bring an image, with the reply of a generation', async () => {
      const reply = await generate({ image: [uri(PNG)] });
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.json).to.have.all.keys('created', 'data');
      expect(pathsAsked()).to.deep.equal(['/v1/images/edits']);
      expect(upstream.calls[0]?.bytes.includes(PNG)).to.equal(true);
      expect(await findCharge(reply)).to.include({ state: 'settled', kind: 'edit', charged: 10n * RUB });
      const refused = await generate({ model: 'plain', image: uri(PNG) });
      expect(refused.status, refused.text).to.equal(400);
      expect(upstream.calls).to.have.length(1);
    });

    it('use the default model, or the one that an alias names', async () => {
      const byDefault = await ask(GENERATIONS, { prompt: 'a red square' });
      expect(byDefault.status, byDefault.text).to.equal(200);
      expect(readImageSize((await download(byDefault.json.data[0].url)).bytes, 'png')).to.deep.equal({
        width: 1024,
        height: 1024,
      });
      expect(await charged()).to.equal(5n * RUB);
      expect((await generate({ model: 'd' })).status).to.equal(200);
      expect(await charged()).to.equal(15n * RUB);
    });

    const shapes: Readonly<Record<string, readonly [asked: object, width: number, height: number]>> = {
      'a size': [{ size: '1792x1024' }, 1792, 1024],
      'an aspect': [{ aspect: '3:4' }, 768, 1024],
      'a size before an aspect': [{ size: '1024x1792', aspect: '16:9' }, 1024, 1792],
      'null for absent': [{ size: null, aspect: null, n: null, model: null }, 1024, 1024],
    };
    for (const [name, [asked, width, height]] of Object.entries(shapes)) {
      it(`have the requested shape: ${name}`, async () => {
        const { json } = await ask(GENERATIONS, { prompt: 'a hill', model: 'sketch', ...asked });
        const { bytes } = await download(json.data[0].url);
        expect(readImageSize(bytes, 'png')).to.deep.equal({ width, height });
      });
    }

    it('ignore other fields', async () => {
      const more = {
        response_format: 'webp',
        quality: 'hd',
        style: 1,
        user: [],
        stream: 'true',
        n: 1,
        background: 'x',
      };
      const reply = await generate(more);
      expect(reply.json).to.have.all.keys('created', 'data');
      expect(reply.json.data[0]).to.have.all.keys('url');
      expect(upstream.calls[0]?.body).to.deep.equal({ model: 'up-image', prompt: 'a red square' });
    });

    it('come in base64 beside their link to those who ask for it', async () => {
      for (const made of [PNG, png({ bytes: 3 * 1024 * 1024 + 1 })]) {
        upstream.behave(imageAnswer(made));
        const reply = await generate({ response_format: 'b64_json' });
        expect(reply.json).to.have.all.keys('created', 'data');
        const [{ url, b64_json: base64 }] = reply.json.data;
        expect(Buffer.from(base64, 'base64').equals(made)).to.equal(true);
        expect((await download(url)).bytes.equals(made)).to.equal(true);
      }
      expect(await charged()).to.equal(20n * RUB);
    });

    it('come as a link alone if they are too large for a reply, and are paid for', async () => {
      upstream.behave(imageAnswer(png({ bytes: 9 * 1024 * 1024 })));
      const reply = await generate({ response_format: 'b64_json' });
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.json.data[0]).to.have.all.keys('url');
      expect((await download(reply.json.data[0].url)).bytes).to.have.length(9 * 1024 * 1024);
      expect(await charged()).to.equal(10n * RUB);
    });

    it('come in base64 again to who repeats the call', async () => {
      const body = { model: 'draw', prompt: 'a red square', response_format: 'b64_json' };
      const sent = { key: account.key, headers: { 'idempotency-key': 'once' }, body };
      const first = await send(gateway.url + GENERATIONS, sent);
      const again = await send(gateway.url + GENERATIONS, sent);
      expect(again.headers['idempotent-replayed']).to.equal('true');
      expect(again.text).to.equal(first.text);
      expect(Buffer.from(again.json.data[0].b64_json, 'base64').equals(PNG)).to.equal(true);
      expect(await charged()).to.equal(10n * RUB);
    });

    it('come as an event to those who ask for a stream', async () => {
      const made = png({ bytes: 3 * 1024 * 1024 + 1 });
      upstream.behave(imageAnswer(made));
      const reply = await generate({ stream: true, partial_images: 2 });
      expect(reply.headers['content-type']).to.equal('text/event-stream; charset=utf-8');
      const [{ event, data } = expect.fail('nothing came'), ...more] = parseEvents(reply.text);
      expect([event, more]).to.deep.equal(['image_generation.completed', []]);
      const { b64_json: base64, url, created_at, ...rest } = data;
      const shown = { size: '2x3', output_format: 'png', background: 'auto', quality: 'auto' };
      expect(rest).to.deep.equal({ type: event, ...shown });
      expect(created_at).to.be.closeTo(Date.now() / 1000, 60);
      expect(Buffer.from(base64, 'base64').equals(made)).to.equal(true);
      expect((await download(url)).bytes.equals(made)).to.equal(true);
      expect(await charged()).to.equal(10n * RUB);
    });

    it('come as an event without the image if it is too large for a reply', async () => {
      upstream.behave(imageAnswer(png({ bytes: 9 * 1024 * 1024 })));
      const [{ data } = expect.fail('nothing came')] = parseEvents((await generate({ stream: true })).text);
      expect(data).not.to.have.property('b64_json');
      expect((await download(data.url)).bytes).to.have.length(9 * 1024 * 1024);
    });

    it('fail as a plain reply to those who ask for a stream, and name the charge to who repeats the call', async () => {
      const sent = {
        key: account.key,
        headers: { 'idempotency-key': 'streamed' },
        body: { model: 'draw', prompt: 'a red square', stream: true },
      };
      upstream.behave(answerStatus(500));
      expect((await send(gateway.url + GENERATIONS, sent)).json.error.message).to.include('Charge refunded');
      upstream.behave(imageAnswer(PNG));
      expect((await send(gateway.url + GENERATIONS, sent)).status).to.equal(200);
      const again = await send(gateway.url + GENERATIONS, sent);
      expect([again.status, again.json.error.type]).to.deep.equal([409, 'conflict_error']);
      expect(await charged()).to.equal(10n * RUB);
    });

    it('read a long prompt in another thread', async () => {
      const prompt = 'Холм. '.repeat(100_000);
      expect((await generate({ prompt })).status).to.equal(200);
      expect(upstream.calls[0]?.body.prompt === prompt).to.equal(true);
    });
  });

  describe('edits', () => {
    it('take a data URI, and reply with the bill', async () => {
      const before = Math.floor(Date.now() / 1000);
      const reply = await edit({ size: '1024x1024' });
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.json).to.have.all.keys('created', 'model', 'data', 'billing');
      expect(reply.json.created).to.be.within(before, before + 10);
      expect(reply.json.model).to.equal('draw');
      expect(reply.json.billing).to.deep.equal({ charged_rub: 10, balance_rub: 990 });
      expect(reply.json.data).to.have.length(1);
      expect((await download(reply.json.data[0].url)).bytes.equals(PNG)).to.equal(true);
      const [call] = upstream.calls;
      expect(call?.request.url).to.equal('/v1/images/edits');
      expect(call?.bytes.includes(PNG)).to.equal(true);
      expect(call?.bytes.toString('latin1')).to.contain('make it blue');
      expect(await findCharge(reply)).to.include({ state: 'settled', kind: 'edit', usage: '{"images":1}' });
    });

    it('take up to four images of any kind, in their order', async () => {
      const first = await generate();
      upstream.calls.length = 0;
      const images = [`${origin}/a.png`, first.json.data[0].url, uri(WEBP_LOSSY, 'image/webp')];
      const reply = await edit({ image: uri(GIF, 'image/gif'), images });
      expect(reply.status, reply.text).to.equal(200);
      const sent = upstream.calls[0]?.bytes as Buffer;
      const places = [GIF, PNG, PNG, WEBP_LOSSY].map((bytes, at) =>
        sent.indexOf(bytes, at === 2 ? sent.indexOf(PNG) + 1 : 0),
      );
      expect(places.every((place) => place > 0)).to.equal(true);
      expect(places).to.deep.equal([...places].sort((a, b) => a - b));
    });

    it('use the default model, which combines images', async () => {
      const { json } = await ask(EDITS, { prompt: 'both', images: [uri(png({ width: 40, height: 40 })), uri(PNG)] });
      expect(json.model).to.equal('sketch');
      expect(json.billing).to.deep.equal({ charged_rub: 5, balance_rub: 995 });
    });

    it('read large images in another thread', async () => {
      const large = png({ bytes: 6_000_000 });
      const reply = await edit({ images: [uri(large), uri(large), uri(JPEG, 'image/jpeg')] });
      expect(reply.status, reply.text).to.equal(200);
      const sent = upstream.calls[0]?.bytes as Buffer;
      expect(sent.length).to.be.above(12_000_000);
      expect(sent.includes(JPEG)).to.equal(true);
    });

    it('take the files of a form', async () => {
      const large = png({ bytes: 8 * 1024 * 1024 });
      const reply = await sendForm(gateway.url, account.key, [
        { name: 'model', content: 'draw' },
        filePart('image[]', large),
        { name: 'image[]', content: JPEG, fileName: 'b.jpg', type: 'image/jpeg' },
        { name: 'aspect', content: '16:9' },
        { name: 'n', content: '1' },
        { name: 'size', content: '' },
        { name: 'response_format', content: 'b64_json' },
        filePart('mask', PNG),
        { name: 'prompt', content: 'сделай синим' },
      ]);
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.json).to.have.all.keys('created', 'model', 'data', 'billing');
      expect(Buffer.from(reply.json.data[0].b64_json, 'base64').equals(PNG)).to.equal(true);
      const sent = upstream.calls[0]?.bytes as Buffer;
      expect(sent.indexOf(large)).to.be.above(0).and.below(sent.indexOf(JPEG));
      expect(sent.toString()).to.contain('сделай синим').and.to.contain('1536x1024');
    });

    it('come as an event with the bill to those who ask for a stream in a form', async () => {
      const parts = [
        { name: 'prompt', content: 'make it blue' },
        { name: 'model', content: 'draw' },
        { name: 'stream', content: 'true' },
        filePart('image', PNG),
      ];
      const [{ event, data } = expect.fail('nothing came')] = parseEvents(
        (await sendForm(gateway.url, account.key, parts)).text,
      );
      expect([event, data.model, data.billing]).to.deep.equal([
        'image_edit.completed',
        'draw',
        { charged_rub: 10, balance_rub: 990 },
      ]);
      expect(Buffer.from(data.b64_json, 'base64').equals(PNG)).to.equal(true);
    });

    it('take a data URI of several MiB in a text field of a form', async () => {
      const large = png({ bytes: 2 * 1024 * 1024 });
      const parts = [
        { name: 'model', content: 'draw' },
        { name: 'prompt', content: 'blue' },
        { name: 'image', content: uri(large) },
      ];
      const reply = await sendForm(gateway.url, account.key, parts);
      expect(reply.status, reply.text).to.equal(200);
    });

    it('take a link and a data URI in text fields of a form, and a file without a name', async () => {
      const reply = await sendForm(gateway.url, account.key, [
        { name: 'prompt', content: 'both' },
        { name: 'model', content: 'draw' },
        { name: 'image', content: `${origin}/a.png` },
        { name: 'image', content: uri(JPEG, 'image/jpeg') },
        { name: 'image', content: GIF, type: 'application/octet-stream' },
      ]);
      expect(reply.status, reply.text).to.equal(200);
      for (const bytes of [PNG, JPEG, GIF]) expect(upstream.calls[0]?.bytes.includes(bytes)).to.equal(true);
    });
  });

  describe('fail', () => {
    // Before failures have opened a route: how long one stays open is a matter of time.
    it('on one route and succeed on the next', async () => {
      upstream.behave((call) =>
        call.request.url?.startsWith('/v1') ? answerStatus(503)(call) : imageAnswer(PNG)(call),
      );
      expect((await generate()).status).to.equal(200);
      expect(pathsAsked()).to.deep.equal(['/v1/images/generations', '/other/images/generations']);
      expect(await charged()).to.equal(10n * RUB);
    });

    const failures: Readonly<Record<string, readonly [Behaviour, status: number, says: RegExp, tries: number]>> = {
      'when every route does': [answerStatus(500), 502, /^The upstream provider failed\. Charge refunded\.$/, 2],
      'when nothing comes': [imageAnswer(), 502, /empty answer\. Charge refunded\.$/, 2],
      'when it is no image': [imageAnswer(Buffer.from('hello')), 502, /^The upstream provider failed\. Charge/, 2],
      'when it is an empty image': [imageAnswer(Buffer.alloc(0)), 502, /Charge refunded\.$/, 2],
      'when its file is cut short': [imageAnswer(png({ bytes: 4096 }).subarray(0, -40)), 502, /Charge refunded\.$/, 2],
      'when it is a page': [imageAnswer(Buffer.from('<html></html>')), 502, /Charge refunded\.$/, 2],
      'when it breaks off': [({ response }) => void response.destroy(), 502, /Charge refunded\.$/, 2],
      'when it does not read': [({ response }) => void response.end('}{'), 502, /Charge refunded\.$/, 2],
      'when it is refused for its content': [
        answerStatus(400, { error: { message: 'no', code: 'moderation_blocked' } }),
        502,
        /^The upstream provider's content rules do not allow this request\..* Charge refunded\.$/,
        1,
      ],
      'when it is refused': [answerStatus(400, { error: { message: 'no' } }), 502, /refused this request\. Charge/, 1],
      'when our key is refused': [answerStatus(401), 502, /^The upstream provider failed\. Charge refunded\.$/, 2],
    };
    for (const [name, [behaviour, status, says, tries]] of Object.entries(failures)) {
      for (const path of [GENERATIONS, EDITS]) {
        it(`${path}: ${name}`, async () => {
          upstream.behave(behaviour);
          const reply = await (path === EDITS ? edit() : generate());
          expect(reply.status, reply.text).to.equal(status);
          expect(reply.json).to.have.all.keys('type', 'error');
          expect(reply.json.error.type).to.equal('api_error');
          expect(reply.json.error.message).to.match(says);
          expect(upstream.calls).to.have.length(tries);
          expect(await charged()).to.equal(0n);
          expect(await findCharge(reply)).to.include({ state: 'released', usage: null });
        });
      }
    }

    it('when it takes too long', async () => {
      upstream.behave(() => undefined);
      const env = { IMAGE_TRUSTED_ORIGINS: origin, TOTAL_TIMEOUT_MS: '1000' };
      const hasty = await startGateway({ catalog: imageCatalog(upstream.url), env });
      const { key } = await hasty.account();
      const bodies: readonly [path: string, body: object][] = [
        [GENERATIONS, { model: 'draw', prompt: 'a red square' }],
        [EDITS, { model: 'draw', prompt: 'make it blue', image: uri(PNG) }],
      ];
      await Promise.all(
        bodies.map(async ([path, body]) => {
          const reply = await send(hasty.url + path, { key, body });
          expect(reply.status, path).to.equal(502);
          expect(reply.json.error.message).to.match(/did not answer in time\. Charge refunded\.$/);
          const charge = await hasty.store.ledger.charge(String(reply.headers['x-request-id']));
          expect(charge).to.include({ state: 'released', usage: null });
        }),
      );
      expect(upstream.calls).to.have.length(2);
      await hasty.checkMoney();
      await hasty.stop();
    });
  });
});
