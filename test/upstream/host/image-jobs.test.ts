// What the host does for images made as jobs: ordered once, looked at with the same key until they end.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { ImageCall, ImageWire } from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

describe('jobs of images', () => {
  let server: Server;
  let origin: string;
  let seen: Readonly<Record<'method' | 'url' | 'key' | 'version' | 'body', unknown>>[];
  let answers: Answer[];
  let host: ClosableHost;
  let waits: number;
  /** The longest of them, in milliseconds. */
  let longest: number;

  before(async () => {
    server = createServer(async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray()).toString();
      const { authorization: key, 'x-version': version } = incoming.headers;
      seen.push({ method: incoming.method, url: incoming.url, key, version, body });
      const answer = answers.shift() ?? { status: 410, body: 'asked too often' };
      response.writeHead(answer.status ?? 200, answer.headers).end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    seen = [];
    [waits, longest] = [0, 0];
    const sleep = async (ms: number) => {
      waits += 1;
      longest = Math.max(longest, ms);
    };
    const keys = ['one', 'two'];
    host = createHost({
      upstream: 'acme',
      allowedOrigins: [origin],
      log: { warn() {} },
      keys,
      clock: { now: Date.now, sleep },
    });
  });
  afterEach(() => host.close());
  after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  const wire: ImageWire = {
    headers: { 'x-version': '2' },
    everyMs: 10,
    submission: (call, base) => ({
      url: `${base}/images`,
      body: () => ({ prompt: call.prompt }),
      idOf: ({ job }) => job,
      lookAt: (id, { region = 'eu' }) => `${base}/${region}/${id}`,
    }),
    isEnded: ({ state }) => state === 'ready' || state === 'failed',
    sourcesOf: ({ state, url }) => {
      if (state === 'failed') throw upstreamFault('server', 'it failed');
      return host.image.sourcesOf(url);
    },
  };
  const call: ImageCall = { model: 'm', options: {}, prompt: 'A red square', images: [] };
  const make = (more: Partial<ImageWire> = {}, own: ImageCall = call) =>
    host.image.jobs({ baseUrl: `${origin}/v1/` }, { ...wire, ...more })(own, new AbortController().signal);
  const kindOf = (running: Promise<unknown>) =>
    running.then(
      (value) => expect.fail(`it did not fail: ${JSON.stringify(value)}`),
      ({ kind }: { kind: string }) => kind,
    );

  it('are ordered once and looked at until they end, all with one key', async () => {
    answers = [
      { body: { job: 'a/b' } },
      { body: { state: 'waiting' } },
      { status: 503, body: {} },
      { body: { state: 'ready', url: 'https://cdn.example/1.png' } },
    ];
    expect(await make()).to.deep.equal({ images: [{ url: 'https://cdn.example/1.png' }] });
    const [order, ...looks] = seen;
    const common = { key: 'Bearer one', version: '2' };
    expect(order).to.deep.equal({ method: 'POST', url: '/v1/images', body: '{"prompt":"A red square"}', ...common });
    expect(looks).to.have.length(3);
    for (const look of looks) {
      expect(look).to.deep.equal({ method: 'GET', url: '/v1/eu/a%2Fb', body: '', ...common });
    }
    expect(waits).to.equal(3);
  });

  it('are looked at again when the upstream says', async () => {
    answers = [
      { body: { job: 1 } },
      { headers: { 'retry-after': '7' }, body: { state: 'waiting' } },
      { body: { state: 'ready', url: [] } },
    ];
    await make();
    expect([waits, longest]).to.deep.equal([2, 7000]);
  });

  it('may have long replies, the one to the order too, where the plugin says so', async () => {
    const url = `data:image/png;base64,${'A'.repeat(1_600_000)}`;
    const ready = { state: 'ready', url };
    for (const bodies of [[{ job: 1, ...ready }], [{ job: 1 }, ready]]) {
      answers = bodies.map((body) => ({ body }));
      const { images } = await make({ replyBytesMax: 2_000_000 });
      expect(images).to.have.length(1);
      answers = bodies.map((body) => ({ body }));
      if (bodies.length === 1) expect(await kindOf(make())).to.equal('protocol');
    }
  });

  it('are looked at where the reply says, if the upstream has it so', async () => {
    answers = [{ body: { job: 7, region: 'us' } }, { body: { state: 'ready', url: [] } }];
    expect(await make()).to.deep.equal({ images: [] });
    expect(seen[1]).to.include({ url: '/v1/us/7' });
  });

  it('are not looked at when the reply to the order has ended them', async () => {
    answers = [{ body: { job: 1, state: 'ready', url: 'data:image/png;base64,aGk=' } }];
    const { images } = await make();
    expect(images).to.deep.equal([{ bytes: Buffer.from('hi') }]);
    expect([seen.length, waits]).to.deep.equal([1, 0]);
  });

  it('may take a further request for their images', async () => {
    answers = [{ body: { job: 1 } }, { body: { state: 'ready' } }, { body: { url: 'https://cdn.example/2.png' } }];
    const result = await make({
      async sourcesOf(_job, { ref, auth, signal }) {
        const { value } = await host.json(`${ref.url}/result`, { method: 'GET', auth, keyId: ref.keyId, signal });
        return host.image.sourcesOf(value);
      },
    });
    expect(result).to.deep.equal({ images: [{ url: 'https://cdn.example/2.png' }] });
    expect(seen[2]).to.include({ url: '/v1/eu/1/result', key: 'Bearer one' });
  });

  it('fail as they say, and when the order is refused or names no job', async () => {
    answers = [{ body: { job: 1 } }, { body: { state: 'failed' } }];
    expect(await kindOf(make())).to.equal('server');
    answers = [
      { status: 402, body: {} },
      { status: 402, body: {} },
    ];
    expect(await kindOf(make())).to.equal('quota');
    for (const job of [undefined, null, '', {}]) {
      answers = [{ body: { job } }];
      expect(await kindOf(make())).to.equal('protocol');
    }
    answers = [{ body: { error: { code: 'insufficient_quota' } } }];
    expect(await kindOf(make())).to.equal('quota');
  });

  it('are not ordered again when the answer to the order is lost in a 5xx', async () => {
    answers = [{ status: 500, body: {} }];
    expect(await kindOf(make())).to.equal('server');
    expect(seen).to.have.length(1);
  });
});
