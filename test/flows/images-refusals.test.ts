// Whatever a request for an image gets wrong: a clear error in the right envelope, nothing asked, nothing charged.
import { request as openRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Reply, readHead, type SendOptions, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import {
  BOUNDARY,
  EDITS,
  encodeForm,
  FORM_TYPE,
  type FormPart,
  filePart,
  GENERATIONS,
  imageAnswer,
  imageCatalog,
} from '../../testkit/images.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { HTML, MP4, PNG, png, SVG } from '../media/sample-images.ts';

const uri = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`;
const IMAGE = uri(PNG);
const TOO_LARGE = png({ bytes: 8 * 1024 * 1024 + 1 });

type Sending = SendOptions & { readonly url?: string };
type Row = readonly [sent: Sending, status: number, says: RegExp];

const json = (body: unknown): Sending => ({ body });
const ask = (more: object = {}) => json({ model: 'draw', prompt: 'a hill', ...more });
const edit = (more: object = {}) => ask({ image: IMAGE, ...more });
const form = (...parts: readonly FormPart[]): Sending => raw(encodeForm(parts));
const raw = (body: Buffer | string, type = FORM_TYPE): Sending => ({ body, headers: { 'content-type': type } });
const prompt: FormPart = { name: 'prompt', content: 'a hill' };
const model: FormPart = { name: 'model', content: 'draw' };
const good = encodeForm([prompt, model, filePart('image', PNG)]);
const unreachable = /^Invalid `image`: the image cannot be fetched from a public https address\.$/;

/** Of both endpoints. */
const BOTH: Readonly<Record<string, (of: typeof ask) => Row>> = {
  'no body': () => [{ method: 'POST' }, 400, /not valid JSON: it is empty/],
  'no JSON': () => [json('{"prompt":'), 400, /not valid JSON: it ends too early/],
  'a list': () => [json([]), 400, /not valid JSON: an object is expected/],
  null: () => [json('null'), 400, /an object is expected/],
  'deep JSON': () => [json('['.repeat(100)), 400, /deeper than 64 levels/],
  'no UTF-8': () => [{ body: Buffer.from('{"prompt":"\xff"}', 'latin1') }, 400, /not UTF-8/],
  'no prompt': (of) => [of({ prompt: undefined }), 400, /^Invalid `prompt`: is required\.$/],
  'a prompt of null': (of) => [of({ prompt: null }), 400, /^Invalid `prompt`: must be a string/],
  'a number for a prompt': (of) => [of({ prompt: 5 }), 400, /^Invalid `prompt`: must be a string and not empty\.$/],
  'an empty prompt': (of) => [of({ prompt: '' }), 400, /`prompt`: must be a string and not empty/],
  'a prompt of spaces': (of) => [of({ prompt: ' \n ' }), 400, /`prompt`: must be a string and not empty/],
  'a list for a prompt': (of) => [of({ prompt: ['a'] }), 400, /`prompt`/],
  'a number for a model': (of) => [of({ model: 7 }), 400, /^Invalid `model`: must be a string/],
  'an empty model': (of) => [of({ model: '' }), 400, /`model`/],
  'an unknown model': (of) => [of({ model: 'drew' }), 400, /^Unknown model `drew`\. Did you mean .*`draw`/],
  'a model of the prototype': (of) => [of({ model: 'constructor' }), 400, /^Unknown model `constructor`/],
  'a text model': (of) => [of({ model: 'words' }), 400, /`words` cannot be used on this endpoint.*\/messages/],
  'a video model': (of) => [of({ model: 'film' }), 400, /`film` cannot be used on this endpoint.*\/videos/],
  smart: (of) => [
    of({ model: 'smart' }),
    400,
    /^Model `smart` cannot be used on this endpoint\. Use it with POST \/api\/v1\/messages/,
  ],
  'a retired model': (of) => [of({ model: 'old-draw' }), 400, /`old-draw` is retired\. Use `draw` instead/],
  'a size that is not listed': (of) => [
    of({ size: '512x512' }),
    400,
    /^Invalid `size`: must be one of 1024x1024, 1792/,
  ],
  'a size in other letters': (of) => [of({ size: 'Auto' }), 400, /`size`/],
  'a number for a size': (of) => [of({ size: 1024 }), 400, /`size`/],
  'an aspect that is not listed': (of) => [of({ aspect: '2:1' }), 400, /^Invalid `aspect`: must be one of 1:1, 16:9/],
  'an object for an aspect': (of) => [of({ aspect: {} }), 400, /`aspect`/],
  'two images': (of) => [of({ n: 2 }), 400, /^Invalid `n`: must be 1/],
  'no images': (of) => [of({ n: 0 }), 400, /`n`/],
  'a text for a number': (of) => [of({ n: '1' }), 400, /`n`/],
  'another content type': () => [
    raw('hi', 'text/plain'),
    415,
    /^Unsupported content-type: send the body as `application\/json`/,
  ],
  'a compressed body': () => [
    { body: gzipSync('{}'), headers: { 'content-encoding': 'gzip' } },
    415,
    /^Unsupported content-encoding/,
  ],
};

const GENERATION: Readonly<Record<string, Row>> = {
  'a form': [raw(good), 415, /content-type: send the body as `application\/json`\.$/],
  'a model that cannot be used now': [ask({ model: 'dark' }), 400, /^Unknown model `dark`/],
};

const EDIT: Readonly<Record<string, Row>> = {
  'a model that does not edit': [
    edit({ model: 'plain' }),
    400,
    /`plain` makes images but does not edit them\. Use `sketch`/,
  ],
  'a model that cannot be used now': [
    edit({ model: 'dark' }),
    503,
    /^Image editing is temporarily unavailable\. Nothing was/,
  ],
  'one that would not edit either': [edit({ model: 'dark-plain' }), 400, /does not edit/],
  'no image': [ask(), 400, /^Invalid `image`: is required/],
  'null for an image': [ask({ image: null, images: null }), 400, /^Invalid `image`: is required/],
  'no images': [ask({ images: [] }), 400, /^Invalid `image`: is required/],
  'a number for an image': [ask({ image: 5 }), 400, /^Invalid `image`: must be a string/],
  'a list of numbers for an image': [ask({ image: [5] }), 400, /^Invalid `image\[0\]`: must be a string/],
  'a text for images': [ask({ images: IMAGE }), 400, /^Invalid `images`: must be an array/],
  'a file among images': [ask({ images: [IMAGE, { file_id: 'f' }] }), 400, /^Invalid `images\[1\]/],
  'five images': [edit({ images: Array(4).fill(IMAGE) }), 400, /^Invalid `images`: an edit takes at most 4/],
  'an empty image': [ask({ image: '' }), 400, /^Invalid `image`: must be an https URL or a data URI/],
  'plain http': [ask({ image: 'http://example.com/a.png' }), 400, /`image`: must be an https URL/],
  'a file on this machine': [ask({ image: 'file:///etc/passwd' }), 400, /`image`: must be an https URL/],
  'a path': [ask({ image: '/media/a.png' }), 400, /`image`: must be an https URL/],
  'another port': [ask({ image: 'https://example.com:8443/a.png' }), 400, /on port 443/],
  'a password': [ask({ image: 'https://me:secret@example.com/a.png' }), 400, /without a user name/],
  'a loopback address': [ask({ image: 'https://127.0.0.1/a.png' }), 400, unreachable],
  'a loopback address in other words': [ask({ image: 'https://2130706433/a.png' }), 400, /`image`/],
  'a private address': [ask({ image: 'https://192.168.0.1/a.png' }), 400, unreachable],
  'a private address of IPv6': [ask({ image: 'https://[fd00::1]/a.png' }), 400, unreachable],
  'the metadata of a cloud': [ask({ image: 'https://169.254.169.254/latest' }), 400, unreachable],
  localhost: [ask({ image: 'https://localhost/a.png' }), 400, unreachable],
  'a text in base64': [
    ask({ image: uri(Buffer.from('hello world')) }),
    400,
    /`image`: the file is not a PNG, JPEG, GIF or WebP/,
  ],
  'an SVG': [ask({ image: uri(SVG, 'image/svg+xml') }), 400, /not a PNG/],
  'a page that says it is a PNG': [ask({ image: uri(HTML) }), 400, /not a PNG/],
  'a video': [ask({ images: [IMAGE, uri(MP4, 'video/mp4')] }), 400, /`images\[1\]`: the file is not a PNG/],
  'bad base64': [ask({ image: 'data:image/png;base64,@@@@' }), 400, /`image`: must be base64/],
  'no base64': [ask({ image: 'data:image/png,hello' }), 400, /data URI of an image in base64/],
  'an image above 8 MiB': [ask({ image: uri(TOO_LARGE) }), 400, /^Invalid `image`: the image is larger than 8 MiB\.$/],
  'a broken data URI after a wrong model': [ask({ model: 'drew', image: 'data:' }), 400, /^Unknown model/],
};

const FORMS: Readonly<Record<string, Row>> = {
  'that is empty': [form(), 400, /^Invalid `prompt`: is required\.$/],
  'without a prompt': [form(model, filePart('image', PNG)), 400, /^Invalid `prompt`: is required/],
  'with an empty prompt': [
    form({ name: 'prompt', content: '' }, filePart('image', PNG)),
    400,
    /`prompt`: must be a string/,
  ],
  'without an image': [form(prompt, model), 400, /^Invalid `image`: is required/],
  'with a file of another name': [form(prompt, filePart('photo', PNG)), 400, /^Invalid `image`: is required/],
  'with five files': [form(prompt, ...Array(5).fill(filePart('image[]', PNG))), 400, /at most 4 images/],
  'with four files and a link': [
    form(prompt, { name: 'image', content: 'https://example.com/' }, ...Array(4).fill(filePart('image[]', PNG))),
    400,
    /at most 4 images/,
  ],
  'with an empty file': [form(prompt, filePart('image', Buffer.alloc(0))), 400, /`image`: the file is not a PNG/],
  'with a page for a file': [form(prompt, filePart('image', HTML)), 400, /`image`: the file is not a PNG/],
  'with a file above 8 MiB': [
    form(prompt, filePart('image[]', TOO_LARGE)),
    400,
    /^Invalid `image\[\]`: the image is larger than 8 MiB/,
  ],
  'with a link to this machine': [form(prompt, { name: 'image', content: 'https://127.0.0.1/' }), 400, unreachable],
  'with a text for an image': [
    form(prompt, { name: 'image', content: 'a hill' }),
    400,
    /`image`: must be a URL without spaces/,
  ],
  'for two images': [form(prompt, { name: 'n', content: '2' }, filePart('image', PNG)), 400, /`n`/],
  'for some images': [form(prompt, { name: 'n', content: 'some' }, filePart('image', PNG)), 400, /`n`/],
  'with an aspect that is not listed': [
    form(prompt, { name: 'aspect', content: '9:1' }, filePart('image', PNG)),
    400,
    /`aspect`/,
  ],
  'with an unknown model': [
    form(prompt, { name: 'model', content: 'x' }, filePart('image', PNG)),
    400,
    /^Unknown model `x`/,
  ],
  'that breaks off': [raw(good.subarray(0, good.length - 30)), 400, /not valid form data: it ends too early/],
  'that breaks off in a file': [raw(good.subarray(0, good.indexOf(PNG) + 20)), 400, /not valid form data/],
  'in JSON': [raw('{"prompt":"a"}'), 400, /not valid form data/],
  'without a boundary': [raw(good, 'multipart/form-data'), 400, /no usable boundary/],
  'with another boundary': [raw(good, 'multipart/form-data; boundary=other'), 400, /not valid form data/],
  'of another kind': [
    raw(good, `multipart/mixed; boundary=${BOUNDARY}`),
    415,
    /`application\/json` or `multipart\/form-data`/,
  ],
  'of many parts': [form(...Array(100).fill(prompt)), 400, /more than 64 parts/],
  'with a prompt that is too long': [
    form({ name: 'prompt', content: 'x'.repeat(13 * 1024 * 1024) }),
    400,
    /`prompt`: is too long/,
  ],
};

describe('refusals of images', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream(imageAnswer(PNG));
    gateway = await startGateway({
      catalog: imageCatalog(upstream.url),
      timings: { bodyLimits: { idleMs: 1500 }, fetchLimits: { stepMs: 50 } },
    });
    account = await gateway.account();
  });
  afterEach(async () => {
    expect(upstream.calls).to.have.length(0);
    const { avail, charged, held } = await gateway.wallet(account);
    expect([avail, charged, held]).to.deep.equal([1_000_000_000n, 0n, 0n]);
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
  });

  function check(reply: Reply, status: number, says: RegExp): void {
    expect(reply.status, reply.text).to.equal(status);
    expect(reply.json).to.have.all.keys('type', 'error');
    expect(reply.json.type).to.equal('error');
    expect(reply.json.error).to.have.all.keys('type', 'message');
    expect(reply.json.error.type).to.equal(status === 503 ? 'api_error' : 'invalid_request_error');
    expect(reply.json.error.message)
      .to.match(says)
      .and.not.to.match(/127\.0|192\.168|secret|undefined/);
    expect(reply.headers['x-should-retry']).to.equal(status === 503 || status === 408 ? undefined : 'false');
  }

  const table = (path: string, rows: Readonly<Record<string, Row>>) => {
    for (const [name, [options, status, says]] of Object.entries(rows)) {
      it(`${path}: ${name}`, async function () {
        this.timeout(10_000);
        const reply = await send(gateway.url + path, { key: account.key, ...options });
        check(reply, status, says);
        expect(await gateway.store.ledger.charge(String(reply.headers['x-request-id']))).to.equal(undefined);
      });
    }
  };
  for (const [path, of] of [
    [GENERATIONS, ask],
    [EDITS, edit],
  ] as const) {
    table(path, Object.fromEntries(Object.entries(BOTH).map(([name, row]) => [name, row(of)])));
  }
  table(GENERATIONS, GENERATION);
  table(EDITS, EDIT);
  table(`${EDITS}?form`, FORMS);

  it('of a body that is announced too long, chunked too long, or does not come', async function () {
    this.timeout(20_000);
    const open = (headers: object) => {
      const { key } = account;
      const sent = openRequest(gateway.url + EDITS, {
        method: 'POST',
        agent: false,
        headers: { 'x-api-key': key, 'content-type': FORM_TYPE, ...headers },
      });
      sent.on('error', () => undefined);
      sent.write(good.subarray(0, 200));
      return sent;
    };
    const replyTo = async (sent: ReturnType<typeof open>): Promise<Reply> => {
      const response = await readHead(sent);
      let text = '';
      for await (const chunk of response) text += chunk;
      sent.destroy();
      return { status: response.statusCode ?? 0, headers: response.headers, text, json: JSON.parse(text) };
    };
    check(await replyTo(open({ 'content-length': 48 * 1024 * 1024 + 1 })), 413, /larger than 48 MiB/);
    check(await replyTo(open({ 'content-length': 1000 })), 408, /did not arrive in time/);
    check(await replyTo(open({})), 408, /did not arrive in time/);
    const endless = open({});
    const chunk = Buffer.alloc(1024 * 1024);
    const pump = () => {
      while (!endless.destroyed && endless.write(chunk));
    };
    endless.on('drain', pump);
    pump();
    check(await replyTo(endless), 413, /larger than 48 MiB/);
  });

  it('of an empty wallet, before a long body is there', async () => {
    const { key } = await gateway.account('0');
    for (const [path, type] of [
      [GENERATIONS, 'application/json'],
      [EDITS, 'application/json'],
      [EDITS, FORM_TYPE],
    ] as const) {
      const headers = { 'x-api-key': key, 'content-type': type, 'content-length': 1_000_000 };
      const sent = openRequest(gateway.url + path, { method: 'POST', agent: false, headers });
      sent.on('error', () => undefined).write('{');
      expect((await readHead(sent)).statusCode, `${path} ${type}`).to.equal(402);
      sent.destroy();
    }
  });

  it('of a wallet that is too low, before a link is followed', async () => {
    const poor = await gateway.account('0');
    const options = { key: poor.key, ...edit({ image: 'https://127.0.0.1/a.png' }) };
    const never = await send(gateway.url + EDITS, options);
    expect([never.status, never.json.error.type]).to.deep.equal([402, 'billing_error']);
    expect(never.json.error.message).to.contain('1000.00 RUB');
    const low = await gateway.account();
    const change = { amount: -995_000_000n, reason: 'test', adjustId: 'adj-1' };
    const op = { kind: 'adjust', wallet: low.id, at: Date.now(), ...change } as const;
    await gateway.store.ledger.apply([op]);
    for (const image of ['https://127.0.0.1/a.png', 'data:image/png;base64,@@', IMAGE]) {
      const refused = await send(gateway.url + EDITS, { key: low.key, ...edit({ image }) });
      expect(refused.status, refused.text).to.equal(402);
      expect(refused.json.error.message).to.equal(
        'The balance is too low: this call costs 10.00 RUB and the balance is 5.00 RUB. ' +
          `Top up the wallet at ${gateway.url}/account/wallet?account=${low.id}.`,
      );
    }
  });
});
