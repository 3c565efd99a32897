// Images as somebody sends them who means no good, over real HTTP: what is refused, told, logged and left open.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, findFailure, MESSAGES, open, parseEvents, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';
import { answerStatus, chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { inline, linked, looking, part, text, visionCatalog } from '../../testkit/vision.ts';
import { HTML, PNG, png, SVG } from '../media/sample-images.ts';

const MIB = 1024 * 1024;
const BASE64 = PNG.toString('base64');
const SECRET = 'kept-to-myself';

/** Shortened from a second: refusals of hosts wait for a multiple of it. */
const STEP_MS = 100;

describe('hostile images', () => {
  let upstream: TestUpstream;
  let images: Server;
  let gateway: TestGateway;
  let origin: string;
  let account: TestAccount;
  let asked: IncomingMessage[];
  let closed: number;

  const served: Readonly<Record<string, (response: ServerResponse) => void>> = {
    gone: (response) => response.writeHead(404).end(),
    'good.png': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG),
    'limit.png': (response) => response.writeHead(200).end(png({ bytes: 8 * MIB })),
    'over.png': (response) => response.writeHead(200).end(png({ bytes: 8 * MIB + 1 })),
    'over-chunked.png': (response) => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' });
      response.end(png({ bytes: 8 * MIB + 1 }));
    },
    'gzip.png': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(PNG),
    'part.png': (response) => response.writeHead(206, { 'content-range': 'bytes 0-9/99' }).end(PNG),
    'page.png': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(HTML),
    'drawing.png': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(SVG),
    'as-page.png': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PNG),
    'inside.png': (response) => response.writeHead(302, { location: 'https://169.254.169.254/latest' }).end(),
    'plain.png': (response) => response.writeHead(302, { location: 'http://example.com/a.png' }).end(),
    'file.png': (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    'slow.png': (response) => void response.writeHead(200, { 'content-type': 'image/png' }).write(PNG.subarray(0, 30)),
  };

  before(async () => {
    upstream = await startUpstream();
    images = createServer((request, response) => {
      asked.push(request);
      response.on('close', () => {
        closed += 1;
      });
      const [, hops, name = ''] = /^\/(?:(\d)\/)?([^?]*)/.exec(request.url ?? '') ?? [];
      if (hops === undefined || hops === '0') served[name]?.(response);
      else response.writeHead(307, { location: `/${Number(hops) - 1}/${name}` }).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => images.once('listening', resolve));
    origin = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
    const env = { IMAGE_TRUSTED_ORIGINS: origin, LOG_LEVEL: 'trace', PUBLIC_URL: 'https://gateway.example.org' };
    gateway = await startGateway({
      catalog: visionCatalog(upstream.url),
      env,
      timings: { fetchLimits: { stepMs: STEP_MS } },
    });
    account = await gateway.account();
  });
  beforeEach(() => {
    [asked, closed] = [[], 0];
    upstream.calls.length = 0;
    upstream.behave(chatAnswer('A red dot.', { input: 1200, output: 4 }));
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
    images.closeAllConnections();
    images.close();
  });

  const call = (path: string, content: readonly object[], more: object = {}) =>
    send(gateway.url + path, { key: account.key, body: looking(content, more) });

  /** Nothing was held, nobody was asked, and the message says nothing of the URL. */
  async function refused(path: string, content: readonly object[]): Promise<string> {
    const reply = await call(path, content);
    expect(reply.status, reply.text).to.equal(400);
    expect(reply.text)
      .not.to.contain(SECRET)
      .and.not.to.match(/127\.0|169\.254|passwd/);
    expect(await gateway.store.ledger.charge(String(reply.headers['x-request-id']))).to.equal(undefined);
    expect(upstream.calls).to.have.length(0);
    return reply.json.error.message;
  }

  for (const path of DIALECTS) {
    describe(path, () => {
      // What an image or its host may be does not depend on the format.
      const itOnce = path === MESSAGES ? it : itLong;
      const uri = (head: string, data = BASE64) => part(`${head},${data}`);
      const legal: Readonly<Record<string, object>> = {
        'an upper-case scheme': uri('DATA:image/png;base64'),
        'parameters and an upper-case type': uri('data:IMAGE/PNG;name=a.png;charset=utf-8;BASE64'),
        'no padding': uri('data:image/png;base64', BASE64.replace(/=+$/, '')),
        'the type of another format': inline(BASE64),
      };
      for (const [name, shape] of Object.entries(legal)) {
        it(`takes ${name}`, async () => expect((await call(path, [shape])).status).to.equal(200));
      }

      const illegal: Readonly<Record<string, object>> = {
        'the URL-safe alphabet': uri('data:image/png;base64', BASE64.replace('A', '-')),
        'spaces in the middle': uri('data:image/png;base64', `${BASE64.slice(0, 8)} ${BASE64.slice(8)}`),
        'a line break in the middle': inline(`${BASE64.slice(0, 8)}\n${BASE64.slice(8)}`),
        'two commas': uri('data:image/png;base64,', BASE64),
        'padding in the middle': inline(`AA==${BASE64}`),
        'no type': uri('data:;base64'),
        'no base64': uri('data:image/png'),
        'an SVG that says it is a PNG': inline(SVG.toString('base64')),
        'a page that says it is a PNG': inline(HTML.toString('base64')),
      };
      for (const [name, shape] of Object.entries(illegal)) {
        it(`refuses ${name}`, async () => void (await refused(path, [text, shape])));
      }

      itOnce('follows three redirects, and no fourth', async () => {
        expect((await call(path, [linked(`${origin}/3/good.png`)])).status).to.equal(200);
        upstream.calls.length = 0;
        expect(await refused(path, [linked(`${origin}/4/good.png?${SECRET}`)])).to.match(/redirects more than 3/);
      });

      itLong('takes 8 MiB, and refuses a byte more', async () => {
        const shape = (bytes: number) => inline(png({ bytes }).toString('base64'));
        expect((await call(path, [shape(8 * MIB)])).status).to.equal(200);
        upstream.calls.length = 0;
        await refused(path, [text, shape(8 * MIB + 1)]);
      });

      itOnce('fetches 8 MiB, and not a byte more, whether or not the length is known', async () => {
        expect((await call(path, [part(`${origin}/limit.png`)])).status).to.equal(200);
        upstream.calls.length = 0;
        for (const name of ['over.png', 'over-chunked.png']) {
          expect(await refused(path, [part(`${origin}/${name}?${SECRET}`)]), name).to.match(/8 MiB/);
        }
      });

      for (const name of ['gzip.png', 'part.png', 'page.png', 'drawing.png', 'as-page.png']) {
        itOnce(`refuses ${name}`, async () => void (await refused(path, [linked(`${origin}/${name}?${SECRET}`)])));
      }

      itOnce('reports an internal host, a redirect to one and our own host in the same words', async () => {
        const messages = [];
        for (const url of [
          `https://10.1.2.3/${SECRET}`,
          `https://[::ffff:127.0.0.1]/${SECRET}`,
          `https://metadata.internal/${SECRET}`,
          `https://gateway.example.org/${SECRET}`,
          `${origin}/inside.png?${SECRET}`,
          `${origin}/plain.png?${SECRET}`,
          `${origin}/file.png?${SECRET}`,
        ]) {
          messages.push(await refused(path, [linked(url)]));
        }
        expect(new Set(messages).size, messages.join('\n')).to.equal(1);
      });

      itOnce('refuses other spellings of addresses by the text alone', async () => {
        for (const url of [
          `https://user:${SECRET}@example.com/a.png`,
          `https://example.com:8443/${SECRET}`,
          `https://0x7f.1/${SECRET}`,
          `https://2130706433/${SECRET}`,
          `https://exa mple.com/${SECRET}`,
          `https://ex\u0430mple.com/${SECRET}`,
          `ftp://example.com/${SECRET}`,
          `https://example.com/${'a'.repeat(2100)}${SECRET}`,
          `//example.com/${SECRET}`,
        ]) {
          await refused(path, [linked(url)]);
        }
        expect(asked).to.have.length(0);
      });

      it('also fetches an image of an earlier message', async () => {
        const messages = [
          { role: 'user', content: [inline(BASE64)] },
          { role: 'assistant', content: 'A dot.' },
          { role: 'user', content: 'And its colour?' },
        ];
        const { status, json } = await send(gateway.url + path, { key: account.key, body: { ...ask(''), messages } });
        expect([status, json.model]).to.deep.equal([200, 'eye-a']);
      });

      it('is answered by the requested model if it sees, and else by another one', async () => {
        const { json } = await call(path, [inline(BASE64)], { model: 'eye-b' });
        expect([json.model, json.billing.rub_per_mtok_in]).to.deep.equal(['eye-b', 9]);
        const asked: unknown[] = [];
        upstream.behave((each) => {
          asked.push(each.body.model);
          return (each.body.model === 'up-eye-b' ? answerStatus(503) : chatAnswer('From a.'))(each);
        });
        const other = await call(path, [inline(BASE64)], { model: 'eye-b' });
        expect([other.status, other.json.model]).to.deep.equal([200, 'eye-a']);
        expect(asked).to.deep.equal(['up-eye-b', 'up-eye-a']);
      });

      it('says on a stream that no vision model answers, and refunds', async () => {
        upstream.behave(answerStatus(503));
        const reply = await call(path, [inline(BASE64)], { stream: true });
        expect(findFailure(parseEvents(reply.text))?.message).to.equal('Vision backend unavailable. Charge refunded.');
        await gateway.checkMoney();
      });
    });
  }

  it('fetches an image without anything of the client, and forwards no link', async () => {
    const headers = { cookie: SECRET, referer: SECRET, 'x-custom': SECRET };
    const body = looking([linked(`${origin}/good.png?${SECRET}`)]);
    expect((await send(gateway.url + MESSAGES, { key: account.key, headers, body })).status).to.equal(200);
    const [request] = asked;
    expect(Object.keys(request?.headers ?? {}).sort()).to.deep.equal([
      ...['accept', 'accept-encoding', 'connection', 'host', 'user-agent'],
    ]);
    expect(request?.headers['accept-encoding']).to.equal('identity');
    expect(JSON.stringify(upstream.calls.map(({ body: sent }) => sent))).not.to.contain(SECRET);
  });

  it("drops the image's server when the client leaves, and holds nothing", async () => {
    const sent = open(gateway.url + CHAT, { key: account.key, body: looking([linked(`${origin}/slow.png`)]) });
    sent.on('error', () => undefined);
    await until(() => asked.length === 1);
    sent.destroy();
    await until(() => closed === 1);
    await gateway.checkMoney();
    expect(upstream.calls).to.have.length(0);
  });

  it('stops fetching the others when one image fails', async () => {
    const content = [linked(`${origin}/slow.png`), linked(`${origin}/page.png`), linked(`${origin}/slow.png`)];
    expect((await call(CHAT, content)).status).to.equal(400);
    await until(() => closed === 3);
  });

  itTimed('takes the same time whether a host is not public or does not exist', async () => {
    const took = async (url: string): Promise<number> => {
      const startedAt = performance.now();
      expect((await call(CHAT, [linked(url)])).status).to.equal(400);
      return performance.now() - startedAt;
    };
    const urls = [
      'https://10.0.0.1/',
      'https://nowhere.internal/',
      `${origin}/inside.png`,
      'https://gateway.example.org/',
    ];
    const times = await Promise.all(urls.flatMap((url) => [took(url), took(url), took(url)]));
    for (const [at, ms] of times.entries()) expect(ms, urls[Math.floor(at / 3)]).to.be.within(STEP_MS - 1, 9 * STEP_MS);
  }).timeout(10_000);

  it('writes no link and no image into its log, at any level and whatever fails', async () => {
    const long = png({ bytes: 3000 }).toString('base64');
    const links = [`https://10.0.0.1/${SECRET}`, `${origin}/gone?${SECRET}`, `${origin}/inside.png?${SECRET}`];
    for (const url of links) await call(CHAT, [linked(url)]);
    // An upstream that repeats what it was sent.
    upstream.behave((asking) =>
      answerStatus(400, { error: { message: `cannot read ${JSON.stringify(asking.body)}` } })(asking),
    );
    await call(CHAT, [inline(long), linked(`${origin}/good.png?${SECRET}`)]);
    upstream.behave((asking) => answerStatus(500, `broken by ${JSON.stringify(asking.body)}`)(asking));
    await call(MESSAGES, [inline(long)]);
    await call(MESSAGES, [inline(long.replace('A', '-'))]);
    await send(gateway.url + CHAT, { key: account.key, body: `{"a": "${SECRET}${long}` });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const log = readFileSync(`${gateway.folder}/log`, 'utf8');
    expect(log).to.contain('"level":"debug"');
    expect(log).not.to.contain(SECRET);
    for (let at = 0; at + 24 <= 400; at += 24) expect(log).not.to.contain(long.slice(at, at + 24));
    expect(log).not.to.contain(BASE64.slice(0, 24));
  });
});
