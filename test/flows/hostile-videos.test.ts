// Requests for videos that nobody should send: each is refused before anything is charged, in words that say why.
import { request } from 'node:http';
import { expect } from 'chai';
import { readHead, send } from '../../testkit/client.ts';
import { type FilmUpstream, filmCatalog, startFilmUpstream } from '../../testkit/film-upstream.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';
const GOOD = { model: 'film-a', prompt: 'A red square' };

type Row = readonly [body: unknown, status: number, says: string];

const inFields: readonly Row[] = [
  [{ prompt: 'x' }, 400, '`model`: is required'],
  [{ model: 'film-a' }, 400, '`prompt`: is required'],
  [{ ...GOOD, model: null }, 400, '`model`'],
  [{ ...GOOD, model: '' }, 400, '`model`'],
  [{ ...GOOD, model: 5 }, 400, '`model`'],
  [{ ...GOOD, model: ['film-a'] }, 400, '`model`'],
  [{ ...GOOD, prompt: null }, 400, '`prompt`'],
  [{ ...GOOD, prompt: '' }, 400, '`prompt`'],
  [{ ...GOOD, prompt: ' \n\t' }, 400, '`prompt`'],
  [{ ...GOOD, prompt: 5 }, 400, '`prompt`'],
  [{ ...GOOD, prompt: { text: 'x' } }, 400, '`prompt`'],
  [{ ...GOOD, seconds: 3 }, 400, '`seconds`'],
  [{ ...GOOD, seconds: 11 }, 400, '`seconds`'],
  [{ ...GOOD, seconds: 0 }, 400, '`seconds`'],
  [{ ...GOOD, seconds: -5 }, 400, '`seconds`'],
  [{ ...GOOD, seconds: 5.5 }, 400, '`seconds`'],
  [{ ...GOOD, seconds: '5.0' }, 400, '`seconds`'],
  [{ ...GOOD, seconds: true }, 400, '`seconds`'],
  [{ ...GOOD, seconds: [5] }, 400, '`seconds`'],
  [{ ...GOOD, seconds: 1e308 }, 400, '`seconds`'],
  ['{"model":"film-a","prompt":"x","seconds":1e999}', 400, '`seconds`'],
  [{ ...GOOD, seconds: 6 }, 400, 'only 5, 10'],
  [{ ...GOOD, size: '' }, 400, '`size`'],
  [{ ...GOOD, size: '1920' }, 400, '`size`'],
  [{ ...GOOD, size: '1920X1080' }, 400, '`size`'],
  [{ ...GOOD, size: '1920*1080' }, 400, '`size`'],
  [{ ...GOOD, size: '1920x' }, 400, '`size`'],
  [{ ...GOOD, size: '15x1080' }, 400, '`size`'],
  [{ ...GOOD, size: '8193x1080' }, 400, '`size`'],
  [{ ...GOOD, size: '99999x99999' }, 400, '`size`'],
  [{ ...GOOD, size: '0x0' }, 400, '`size`'],
  [{ ...GOOD, size: '-16x16' }, 400, '`size`'],
  [{ ...GOOD, size: '1e3x1e3' }, 400, '`size`'],
  [{ ...GOOD, size: ' 1920x1080' }, 400, '`size`'],
  [{ ...GOOD, size: '1920x1080\n' }, 400, '`size`'],
  [{ ...GOOD, size: '01920x1080' }, 400, '`size`'],
  [{ ...GOOD, size: { width: 1, height: 1 } }, 400, '`size`'],
  [{ ...GOOD, size: 1080 }, 400, '`size`'],
  [{ ...GOOD, resolution: '' }, 400, '`resolution`'],
  [{ ...GOOD, resolution: 720 }, 400, '`resolution`'],
  [{ ...GOOD, resolution: '720P' }, 400, '`resolution`'],
  [{ ...GOOD, resolution: '720' }, 400, '`resolution`'],
  [{ ...GOOD, resolution: '480p' }, 400, 'only 720p, 1080p'],
  [{ ...GOOD, resolution: '9999p' }, 400, 'only 720p, 1080p'],
  [{ ...GOOD, resolution: 'constructor' }, 400, '`resolution`'],
  [{ ...GOOD, resolution: '__proto__' }, 400, '`resolution`'],
  [{ ...GOOD, model: 'film-flat', resolution: '720p' }, 400, '`resolution`'],
  [{ ...GOOD, aspect: '' }, 400, '`aspect`'],
  [{ ...GOOD, aspect: '16/9' }, 400, '`aspect`'],
  [{ ...GOOD, aspect: '0:0' }, 400, '`aspect`'],
  [{ ...GOOD, aspect: '21:9' }, 400, '16:9'],
  [{ ...GOOD, aspect: 1.78 }, 400, '`aspect`'],
  [{ ...GOOD, model: 'nope' }, 400, 'Unknown model'],
  [{ ...GOOD, model: 'constructor' }, 400, 'Unknown model'],
  [{ ...GOOD, model: '__proto__' }, 400, 'Unknown model'],
  [{ ...GOOD, model: 'film-old' }, 400, 'film-a'],
  [{ ...GOOD, model: 'text-a' }, 400, 'POST /api/v1/messages'],
  [{ ...GOOD, model: 'smart' }, 400, 'POST /api/v1/messages'],
  [{ ...GOOD, model: 'film-off' }, 503, 'temporarily unavailable'],
  [{ ...GOOD, model: `film-a${'a'.repeat(5000)}` }, 400, 'Unknown model'],
];

const inImages: readonly Row[] = [
  [{ ...GOOD, image: '' }, 400, '`image`'],
  [{ ...GOOD, image: 5 }, 400, '`image`'],
  [{ ...GOOD, image: ['https://example.com/a.png'] }, 400, '`image`'],
  [{ ...GOOD, image: { href: 'https://example.com/a.png' } }, 400, '`image`'],
  [{ ...GOOD, image: { url: 'https://127.0.0.1/a.png' } }, 400, '`image.url`'],
  [{ ...GOOD, image: 'a.png' }, 400, '`image`'],
  [{ ...GOOD, image: 'file:///etc/passwd' }, 400, '`image`'],
  [{ ...GOOD, image: 'http://example.com/a.png' }, 400, '`image`'],
  [{ ...GOOD, image: 'https://127.0.0.1/a.png' }, 400, '`image`'],
  [{ ...GOOD, image: 'https://[::1]/a.png' }, 400, '`image`'],
  [{ ...GOOD, image: 'https://169.254.169.254/latest/meta-data' }, 400, '`image`'],
  [{ ...GOOD, image: 'https://localhost/a.png' }, 400, '`image`'],
  [{ ...GOOD, image: 'https://user:pass@example.com/a.png' }, 400, '`image`'],
  [{ ...GOOD, image: 'https://example.com:8443/a.png' }, 400, '`image`'],
  [{ ...GOOD, image: 'data:image/png;base64,!!!!' }, 400, '`image`'],
  [{ ...GOOD, image: 'data:image/png,raw' }, 400, '`image`'],
  [{ ...GOOD, image: 'data:text/html;base64,PGI+' }, 400, '`image`'],
  [{ ...GOOD, image: `data:image/png;base64,${Buffer.from('no image').toString('base64')}` }, 400, '`image`'],
  [{ ...GOOD, image: `data:image/png;base64,${PNG.toString('base64')} ` }, 400, '`image`'],
];

const inBodies: readonly Row[] = [
  ['', 400, 'JSON'],
  ['{', 400, 'JSON'],
  ['[]', 400, 'JSON'],
  ['"film-a"', 400, 'JSON'],
  ['null', 400, 'JSON'],
  [`{"model":"film-a","prompt":${'['.repeat(100)}`, 400, 'deeper'],
];

describe('hostile requests for videos', () => {
  let upstream: FilmUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startFilmUpstream();
    gateway = await startGateway({ catalog: filmCatalog(upstream.url), timings: { fetchLimits: { stepMs: 50 } } });
    account = await gateway.account();
  });
  afterEach(async () => {
    await gateway.checkMoney();
    expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
    expect(upstream.begun.size).to.equal(0);
    expect(await gateway.store.jobs.open()).to.equal(0);
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  for (const [body, status, says] of [...inFields, ...inImages, ...inBodies]) {
    const shown = typeof body === 'string' ? body : JSON.stringify(body);
    it(`${status} for ${shown.slice(0, 120)}`, async () => {
      const reply = await send(gateway.url + VIDEOS, { key: account.key, body, method: 'POST' });
      expect(reply.status, reply.text).to.equal(status);
      expect(reply.json).to.have.nested.property('error.message').that.contains(says);
      expect(reply.json.type).to.equal('error');
      if (status === 400) expect(reply.headers['x-should-retry']).to.equal('false');
    });
  }

  it('415 for a body of another type', async () => {
    for (const type of ['text/plain', 'multipart/form-data; boundary=x']) {
      const reply = await send(gateway.url + VIDEOS, {
        key: account.key,
        body: GOOD,
        headers: { 'content-type': type },
      });
      expect(reply.status, type).to.equal(415);
      expect(reply.json).to.have.nested.property('error.type', 'invalid_request_error');
    }
  });

  it('402 for an empty wallet before a long body is there', async () => {
    const { key } = await gateway.account('0');
    const sent = request(gateway.url + VIDEOS, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'content-length': '1000000' },
    });
    sent.on('error', () => undefined).write('{');
    expect((await readHead(sent)).statusCode).to.equal(402);
    sent.destroy();
  });

  it('402 for a wallet that cannot pay, before an image is fetched', async () => {
    const poor = await gateway.account('0');
    const image = 'https://127.0.0.1/a.png';
    const reply = await send(gateway.url + VIDEOS, { key: poor.key, body: { ...GOOD, image } });
    expect(reply.status).to.equal(402);
    const low = await gateway.account('1000');
    await send(gateway.url + VIDEOS, { key: low.key, body: { ...GOOD, image } }).then(({ status }) => {
      expect(status).to.equal(400);
    });
  });
});
