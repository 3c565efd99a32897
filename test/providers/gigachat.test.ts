import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Provider, TextCall } from '../../lib/upstream/contract/provider.ts';
import { checkSettings, createProvider, type OpenProvider } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/gigachat/index.ts';

const KEY = 'a2V5OnNlY3JldA==';
const ANSWER = 'data: {"choices":[{"delta":{"content":"Да"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const IMAGE = { type: 'image', mediaType: 'image/png', bytes: PNG } as const;

const CALL: TextCall = {
  model: 'GigaChat-2',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  maxTokens: 64,
  options: {},
};

interface Sent {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

describe('gigachat', () => {
  let sent: Sent[];
  let origin: string;
  let tokens: number;
  /** Of an upload, of a deletion. */
  let statuses: { upload: number; remove: number };
  /** How long tokens are valid; without an answer, nothing is exchanged. */
  let validMs: number | undefined;
  /** How the reply to an exchange names a token. */
  let tokenShape: (token: string, expiresAt: number) => object;
  let isExchangeClosed: boolean;
  let warnings: unknown[][];
  let open: OpenProvider[];
  let closeServer: () => Promise<unknown>;

  beforeEach(async () => {
    [sent, tokens, warnings, open, statuses] = [[], 0, [], [], { upload: 200, remove: 200 }];
    [validMs, isExchangeClosed] = [1_800_000, false];
    tokenShape = (token, expiresAt) => ({ access_token: token, expires_at: expiresAt });
    const server = createServer(async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray()).toString('latin1');
      const path = incoming.url ?? '';
      sent.push({ path, headers: incoming.headers, body });
      if (path === '/oauth') {
        response.on('close', () => {
          isExchangeClosed = true;
        });
        if (validMs === undefined) return;
        response.end(JSON.stringify(tokenShape(`token-${++tokens}`, Date.now() + validMs)));
      } else if (path.endsWith('/delete')) response.writeHead(statuses.remove).end('{}');
      else if (path === '/api/files') response.writeHead(statuses.upload).end(`{"id":"f/${sent.length}"}`);
      else response.end(ANSWER);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    closeServer = () => new Promise((resolve) => server.close(resolve));
  });
  afterEach(async () => {
    for (const { close } of open) await close();
    await closeServer();
  });

  function make(settings: object = {}): Provider {
    const made = createProvider({
      plugin,
      upstream: 'main',
      settings: { baseUrl: `${origin}/api/`, authUrl: `${origin}/oauth`, apiKey: KEY, ...settings },
      log: { warn: (...said) => void warnings.push(said) },
    });
    open.push(made);
    return made.provider;
  }

  async function ask(provider: Provider, call: Partial<TextCall> = {}): Promise<string> {
    const parts = await Array.fromAsync(provider.text?.({ ...CALL, ...call }, new AbortController().signal) ?? []);
    return parts
      .flat()
      .map((part) => (part.type === 'block-delta' ? part.text : ''))
      .join('');
  }

  const withImages = (...content: TextCall['messages'][number]['content']): Partial<TextCall> => ({
    messages: [{ role: 'user', content }],
  });
  const paths = () => sent.map(({ path }) => path);
  const arrived = async (count: number) => {
    for (let turns = 0; sent.length < count && turns < 10_000; turns++) await new Promise(setImmediate);
  };

  it('exchanges the key once for all calls, with an id of its own', async () => {
    const provider = make({ scope: 'GIGACHAT_API_B2B' });
    expect(await Promise.all([ask(provider), ask(provider)])).to.deep.equal(['Да', 'Да']);
    expect(await ask(provider)).to.equal('Да');
    expect(paths()).to.deep.equal(['/oauth', ...Array(3).fill('/api/chat/completions')]);
    const [{ headers, body }] = sent as [Sent];
    expect(headers.authorization).to.equal(`Basic ${KEY}`);
    expect(headers.rquid).to.match(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(body).to.equal('scope=GIGACHAT_API_B2B');
    for (const { headers: own } of sent.slice(1)) expect(own.authorization).to.equal('Bearer token-1');
  });

  it('gets a temperature and a top_p', async () => {
    await ask(make(), { sampling: { temperature: 0.3, topP: 0.5, topK: 7 } });
    const body = JSON.parse(sent.at(-1)?.body ?? '');
    expect(body).to.include({ temperature: 0.3, top_p: 0.5 });
    expect(body).not.to.have.property('top_k');
  });

  it('exchanges the key again when the token is about to expire', async () => {
    validMs = 59_000;
    const provider = make();
    for (const token of ['token-1', 'token-2']) {
      await ask(provider);
      expect(sent.at(-1)?.headers.authorization).to.equal(`Bearer ${token}`);
    }
  });

  const seconds = (ms: number) => Math.floor(ms / 1000);
  const TOKEN_SHAPES: Record<string, typeof tokenShape> = {
    'tok and exp in seconds': (tok, ms) => ({ tok, exp: seconds(ms) }),
    'tok and exp in milliseconds': (tok, exp) => ({ tok, exp }),
    'tok and exp as text': (tok, ms) => ({ tok, exp: `${seconds(ms)}` }),
    'access_token and expires_at in seconds': (token, ms) => ({ access_token: token, expires_at: seconds(ms) }),
  };
  for (const [name, shape] of Object.entries(TOKEN_SHAPES)) {
    it(`keeps a token until shortly before it expires: ${name}`, async () => {
      tokenShape = shape;
      const provider = make();
      for (let call = 0; call < 2; call++) expect(await ask(provider)).to.equal('Да');
      expect(sent.at(-1)?.headers.authorization).to.equal('Bearer token-1');
      expect(tokens).to.equal(1);
      validMs = 59_000;
      const other = make();
      for (let call = 0; call < 2; call++) await ask(other);
      expect(tokens).to.equal(3);
    });
  }

  it('reports an exchange without a token', async () => {
    for (const shape of [{ tok: '', exp: 0 }, { access_token: null }, {}]) {
      tokenShape = () => shape;
      const error = await ask(make()).catch((fault: unknown) => fault);
      expect(error).to.include({ kind: 'protocol' });
    }
  });

  it('leaves an exchange that its only call does not wait for', async () => {
    validMs = undefined;
    const call = new AbortController();
    const asking = Array.fromAsync(make().text?.(CALL, call.signal) ?? []).catch((error: unknown) => error);
    await arrived(1);
    call.abort('gone');
    expect(await asking).to.equal('gone');
    for (let turns = 0; !isExchangeClosed && turns < 10_000; turns++) await new Promise(setImmediate);
    expect(isExchangeClosed).to.equal(true);
  });

  it('asks for a stream and sends nothing else', async () => {
    await ask(make());
    expect(JSON.parse(sent[1]?.body ?? '')).to.deep.equal({
      model: 'GigaChat-2',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 64,
      stream: true,
    });
  });

  it('keeps a call with images to one account, and deletes them after it', async () => {
    const provider = make({ apiKey: ['key-one', 'key-two'] });
    await ask(provider, withImages({ type: 'text', text: 'What?' }, IMAGE, IMAGE));
    await arrived(6);
    expect(paths().slice(0, 4)).to.deep.equal(['/oauth', '/api/files', '/api/files', '/api/chat/completions']);
    expect(paths().slice(4).sort()).to.deep.equal(['/api/files/f%2F2/delete', '/api/files/f%2F3/delete']);
    for (const { headers } of sent.slice(1)) expect(headers.authorization).to.equal('Bearer token-1');
    const { messages } = JSON.parse(sent[3]?.body ?? '') as { messages: unknown };
    expect(messages).to.deep.equal([
      { role: 'user', content: 'Image 1', attachments: ['f/2'] },
      { role: 'user', content: 'What?', attachments: ['f/3'] },
    ]);
  });

  it('deletes what was uploaded when the call fails, and logs what it cannot delete', async () => {
    statuses.remove = 500;
    const provider = make();
    const leaving = provider.text?.({ ...CALL, ...withImages(IMAGE) }, new AbortController().signal);
    for await (const _ of leaving ?? []) break;
    await arrived(4);
    expect(paths().at(-1)).to.equal('/api/files/f%2F2/delete');
    for (let turns = 0; warnings.length === 0 && turns < 10_000; turns++) await new Promise(setImmediate);
    // Nothing that may quote a prompt.
    const said = { kind: 'server', status: 500, upstream: 'main' };
    expect(warnings).to.deep.equal([['an image was not deleted', said]]);
  });

  it('deletes with the account that has the files, also when others have had their turn', async () => {
    statuses.remove = 500;
    const provider = make({ apiKey: ['key-one', 'key-two', 'key-three'] });
    for (let turn = 0; turn < 2; turn += 1) await ask(provider, withImages(IMAGE));
    await arrived(8);
    for (const account of ['token-1', 'token-2']) {
      const own = sent.filter(({ headers }) => headers.authorization === `Bearer ${account}`).map(({ path }) => path);
      expect(own.map((path) => path.replace(/\d+\/delete$/, '1/delete')).sort()).to.deep.equal([
        '/api/chat/completions',
        '/api/files',
        '/api/files/f%2F1/delete',
      ]);
    }
  });

  it('numbers the images of a message, of which the last is with its text', async () => {
    const { mediaType, bytes } = IMAGE;
    await ask(
      make(),
      withImages(IMAGE, { type: 'image', mediaType: 'image/jpeg', bytes }, { type: 'image', mediaType, bytes }),
    );
    const asked = sent.find(({ path }) => path === '/api/chat/completions');
    expect((JSON.parse(asked?.body ?? '') as { messages: unknown }).messages).to.deep.equal([
      { role: 'user', content: 'Image 1', attachments: ['f/2'] },
      { role: 'user', content: 'Image 2', attachments: ['f/3'] },
      { role: 'user', content: '', attachments: ['f/4'] },
    ]);
    const uploads = sent.filter(({ path }) => path === '/api/files').map(({ body }) => body);
    expect(uploads.map((body) => /filename="([^"]+)"/.exec(body)?.[1])).to.deep.equal([
      'image.png',
      'image.jpeg',
      'image.png',
    ]);
    for (const body of uploads) expect(body).to.include('name="purpose"\r\n\r\ngeneral\r\n');
  });

  it('refuses an image that the vendor does not take before anything is sent', async () => {
    const webp = { ...IMAGE, mediaType: 'image/webp' } as const;
    const error: unknown = await ask(make(), withImages(webp)).catch((thrown: unknown) => thrown);
    expect(error).to.include({ kind: 'request', about: 'image' });
    expect(sent).to.deep.equal([]);
  });

  it('says what it sends and takes', async () => {
    await ask(make());
    const [exchange, call] = sent as [Sent, Sent];
    expect(exchange.headers).to.include({
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(call.headers).to.include({
      accept: 'text/event-stream, application/json',
      'content-type': 'application/json',
    });
  });

  it('asks nothing when an upload fails', async () => {
    statuses.upload = 500;
    const error: unknown = await ask(make(), withImages(IMAGE)).catch((thrown: unknown) => thrown);
    expect(error).to.include({ kind: 'server' });
    expect(paths()).to.deep.equal(['/oauth', '/api/files']);
  });

  it('needs a key', () => {
    expect(() => checkSettings({ plugin, upstream: 'main', settings: {} })).to.throw(/`apiKey` is required/);
  });
});
