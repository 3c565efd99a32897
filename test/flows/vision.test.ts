// Calls with images through a whole gateway: what the vision model is sent, who answers, what it costs, what is refused.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  ask,
  CHAT,
  DIALECTS,
  findBilling,
  joinText,
  MESSAGES,
  parseEvents,
  RESPONSES,
  send,
} from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { answerStatus, chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { inline, linked, looking, part, text, visionCatalog } from '../../testkit/vision.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';

const BASE64 = PNG.toString('base64');
const DATA_URI = `data:image/png;base64,${BASE64}`;

const block = inline(BASE64);

describe('vision', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let images: Server;
  let origin: string;
  let key: string;
  let asked: string[];

  before(async () => {
    upstream = await startUpstream();
    images = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');
      else if (request.url === '/gone') response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => images.once('listening', resolve));
    origin = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
    gateway = await startGateway({ catalog: visionCatalog(upstream.url), env: { IMAGE_TRUSTED_ORIGINS: origin } });
    ({ key } = await gateway.account());
  });
  beforeEach(() => {
    asked = [];
    upstream.calls.length = 0;
    upstream.behave(chatAnswer('A red dot.', { input: 1200, output: 4 }));
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
    images.close();
  });

  // biome-ignore lint/suspicious/noExplicitAny: whatever a vendor's format is
  const sent = () => upstream.calls.at(-1)?.body as any;

  for (const path of DIALECTS) {
    describe(path, () => {
      const history = path === RESPONSES ? 'input' : 'messages';
      const shapes: Readonly<Record<string, () => object>> = {
        'a base64 block': () => block,
        'a data URI': () => part(DATA_URI),
        'a linked block': () => linked(`${origin}/a.png`),
        'a linked part': () => part(`${origin}/a.png`),
      };
      for (const [name, shape] of Object.entries(shapes)) {
        it(`shows ${name} to the vision model as bytes, at the price of the model asked for`, async () => {
          const reply = await send(gateway.url + path, { key, body: looking([text, shape()]) });
          expect(reply.status).to.equal(200);
          expect(sent().model).to.equal('up-eye-a');
          expect(sent().messages).to.deep.equal([{ role: 'user', content: [text, part(DATA_URI)] }]);
          expect(reply.json.model).to.equal('eye-a');
          const { billing } = reply.json;
          // 1200 tokens at 1000 RUB and 4 at 5000 RUB a million.
          expect(billing).to.include({ charged_rub: 1.22, rub_per_mtok_in: 1000, rub_per_mtok_out: 5000 });
          const charge = await gateway.store.ledger.charge(String(reply.headers['x-request-id']));
          expect(charge).to.include({
            model: 'model-a',
            usage: '{"tokens_input":1200,"tokens_output":4,"model_answered":"eye-a"}',
          });
        });
      }

      it('streams, with the model that answers and the bill', async () => {
        const reply = await send(gateway.url + path, { key, body: looking([block, text], { stream: true }) });
        const events = parseEvents(reply.text);
        expect(joinText(events)).to.equal('A red dot.');
        expect(reply.text).to.contain('"model":"eye-a"');
        expect(findBilling(events)).to.include({ charged_rub: 1.22 });
      });

      it('adds a thousand tokens an image to a count without them', async () => {
        upstream.behave(chatAnswer('Two dots.', { input: 9, output: 2 }));
        const { json } = await send(gateway.url + path, { key, body: looking([block, text, block]) });
        expect(json.usage.input_tokens ?? json.usage.prompt_tokens).to.equal(2009);
      });

      it('asks the next vision model, and names it as the one that answered', async () => {
        upstream.behave((call) => {
          const { model } = call.body;
          return (model === 'up-eye-a' ? answerStatus(503) : chatAnswer('From b.', { input: 1200 }))(call);
        });
        const { json, headers } = await send(gateway.url + path, { key, body: looking([block]) });
        expect(json.model).to.equal('eye-b');
        const charge = await gateway.store.ledger.charge(String(headers['x-request-id']));
        expect(JSON.parse(charge?.usage ?? '')).to.include({ model_answered: 'eye-b' });
      });

      it('answers 502 and refunds when no vision model answers', async () => {
        upstream.behave(answerStatus(503));
        const before = await gateway.store.ledger.wallet((await gateway.store.accounts.list())[0]?.id ?? '');
        const { status, json } = await send(gateway.url + path, { key, body: looking([block]) });
        expect([status, json.error.message]).to.deep.equal([502, 'Vision backend unavailable. Charge refunded.']);
        const after = await gateway.store.ledger.wallet(before?.id ?? '');
        expect(after?.avail).to.equal(before?.avail);
      });

      it('tells the client what it can fix', async () => {
        upstream.behave(answerStatus(400, { error: { message: 'flagged', code: 'content_policy_violation' } }));
        const { status, json } = await send(gateway.url + path, { key, body: looking([block]) });
        expect(status).to.equal(502);
        expect(json.error.message)
          .to.contain('content rules')
          .and.to.match(/Charge refunded\.$/);
      });

      it('refuses a fifth image of a message, not of a conversation', async () => {
        const five = await send(gateway.url + path, { key, body: looking([block, block, block, block, block]) });
        expect([five.status, five.json.error.message]).to.deep.equal([
          400,
          `Invalid \`${history}[0].content\`: a message may contain at most 4 images.`,
        ]);
        const user = { role: 'user', content: [block, block, block] };
        const messages = [user, { role: 'assistant', content: 'Dots.' }, user];
        expect((await send(gateway.url + path, { key, body: { ...ask(''), messages } })).status).to.equal(200);
        expect(sent().messages[2].content).to.have.length(3);
      });

      const bad: Readonly<Record<string, readonly [() => object, RegExp]>> = {
        'a host that is not public': [() => linked('https://127.0.0.1/a.png'), /cannot be fetched|reach/i],
        'plain http': [() => linked('http://example.com/a.png'), /https URL/],
        'a page': [() => linked(`${origin}/page`), /PNG|format|image/i],
        'what is not there': [() => linked(`${origin}/gone`), /status 200/],
        'no base64': [() => inline('no base64!'), /base64/],
        'bytes of something else': [() => inline('aGVsbG8gd29ybGQ='), /PNG|format/i],
        'an SVG': [() => part('data:image/svg+xml;base64,PHN2Zy8+'), /PNG|format/i],
        'a number for a URL': [() => linked(7 as unknown as string), /https URL or a data URI/],
      };
      for (const [name, [image, says]] of Object.entries(bad)) {
        it(`refuses ${name} before anything is held`, async () => {
          const reply = await send(gateway.url + path, { key, body: looking([text, image()]) });
          expect(reply.status, reply.text).to.equal(400);
          expect(reply.json.error.message).to.match(says).and.not.to.contain('127.0.0.1');
          expect(await gateway.store.ledger.charge(String(reply.headers['x-request-id']))).to.equal(undefined);
          expect(upstream.calls).to.have.length(0);
        });
      }

      it('refuses an image that no model would see', async () => {
        const messages = [
          { role: 'system', content: [block] },
          ...(looking([text]) as { messages: object[] }).messages,
        ];
        const { status, json } = await send(gateway.url + path, { key, body: { ...ask(''), messages } });
        expect([status, json.error.message]).to.deep.equal([
          400,
          `Invalid \`${history}[0].content\`: only messages of users and assistants may contain images.`,
        ]);
      });

      it('works through smart, at the price of the tier', async () => {
        const { status, json } = await send(gateway.url + path, {
          key,
          body: looking([text, block], { model: 'smart' }),
        });
        expect(status).to.equal(200);
        expect(json).to.include.keys('smart_routing', 'billing');
        expect(json.billing.rub_per_mtok_in).to.equal(1000);
      });
    });
  }

  it('reads images that this service has stored, whoever asks, and nothing else on its host', async () => {
    const store = (more: object = {}) =>
      gateway.store.media.write(newMedia({ expiresAt: Date.now() + 60_000, ...more }), piecesOf(PNG));
    const link = ({ id }: { readonly id: string }) => `${gateway.url}/media/${id}.png`;
    const stored = await store();
    for (const path of DIALECTS) {
      for (const url of [link(stored), `${link(stored)}?download=1`]) {
        const reply = await send(gateway.url + path, { key, body: looking([text, linked(url)]) });
        expect(reply.status, reply.text).to.equal(200);
        expect(sent().messages).to.deep.equal([{ role: 'user', content: [text, part(DATA_URI)] }]);
      }
    }
    const gone =
      /^Invalid `messages\[0\]\.content\[0\][^`]*`: the link to the stored image is unknown or has expired\.$/;
    const bad: readonly (readonly [url: string, says: RegExp])[] = [
      [link({ id: stored.id.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')) }), gone],
      [link(await store({ expiresAt: Date.now() - 1 })), gone],
      [link(await store({ kind: 'video', mediaType: 'video/mp4' })), /PNG, JPEG/],
      [`${gateway.url}/healthz`, /https URL|fetched/],
      [`${gateway.url}/media/../healthz`, /https URL|fetched/],
      [link(stored).replace('http://', 'http://user@'), /user name/],
    ];
    upstream.calls.length = 0;
    for (const [url, says] of bad) {
      const reply = await send(gateway.url + MESSAGES, { key, body: looking([linked(url)]) });
      expect([reply.status, upstream.calls.length], url).to.deep.equal([400, 0]);
      expect(reply.json.error.message, url).to.match(says);
    }
  });

  it('holds a thousand tokens an image', async () => {
    const { json } = await send(gateway.url + CHAT, { key, body: looking([block, block], { max_tokens: 100 }) });
    // 2000 of images and 4 of the message at 1000 RUB, 512 of output at 5000 RUB, a million.
    expect(json.billing.reserved_rub).to.equal(2.004 + 2.56);
  });

  it('reads long requests with images in another thread', async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(400_000)]);
    const data = large.toString('base64');
    const image = inline(data);
    expect(
      (await send(gateway.url + MESSAGES, { key, body: looking([text, image, linked(`${origin}/b.png`)]) })).status,
    ).to.equal(200);
    const [, first, second] = sent().messages[0].content;
    expect(first.image_url.url === `data:image/png;base64,${data}`).to.equal(true);
    expect(second).to.deep.equal(part(DATA_URI));
  });

  it('fetches nothing for an empty wallet', async () => {
    const poor = await gateway.account('0');
    const reply = await send(gateway.url + CHAT, { key: poor.key, body: looking([linked(`${origin}/a.png`)]) });
    expect([reply.status, asked]).to.deep.equal([402, []]);
  });

  it('writes no link and no image into its log', async () => {
    const { readFileSync } = await import('node:fs');
    await send(gateway.url + CHAT, { key, body: looking([linked('https://127.0.0.1/secret.png')]) });
    await send(gateway.url + CHAT, { key, body: looking([linked(`${origin}/secret.png`)]) });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const log = readFileSync(`${gateway.folder}/log`, 'utf8');
    expect(log).not.to.contain('secret.png').and.not.to.contain(BASE64.slice(0, 40));
  });
});

describe('vision without a vision model', () => {
  it('answers 502, refunds, and asks no upstream', async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ catalog: visionCatalog(upstream.url, []) });
    try {
      const { key, id } = await gateway.account();
      for (const path of DIALECTS) {
        const { status, json } = await send(gateway.url + path, { key, body: looking([block]) });
        expect([status, json.error.message]).to.deep.equal([502, 'Vision backend unavailable. Charge refunded.']);
      }
      expect(upstream.calls).to.have.length(0);
      expect((await gateway.store.ledger.wallet(id))?.avail).to.equal(1_000_000_000n);
      await gateway.checkMoney();
    } finally {
      await gateway.stop();
      await upstream.close();
    }
  });
});
