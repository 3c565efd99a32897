// What the host does for every plugin alike: keys in turn, multipart bodies, JSON replies, settings of a route, polling.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Joi from 'joi';
import type { HostResponse, KeyHeaders, Poll } from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { type ClosableHost, createHost, type HostOptions } from '../../../lib/upstream/host/host.ts';
import { poll } from '../../../lib/upstream/host/poll.ts';
import { itTimed } from '../../../testkit/timed.ts';

const never = new AbortController().signal;

interface Seen {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

describe('kit of the host', () => {
  let server: Server;
  let origin: string;
  let seen: Seen[];
  let reply: { status: number; headers?: Record<string, string>; body: string };
  let opened: ClosableHost[];

  before(async () => {
    server = createServer(async (incoming, response) => {
      seen.push({ headers: incoming.headers, body: Buffer.concat(await incoming.toArray()) });
      response.writeHead(reply.status, reply.headers).end(reply.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    seen = [];
    opened = [];
    reply = { status: 200, body: '{}' };
  });
  afterEach(async () => {
    for (const host of opened) await host.close();
  });
  after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  function open(more: Partial<HostOptions> = {}): ClosableHost {
    const host = createHost({ upstream: 'acme', allowedOrigins: [origin], log: { warn() {} }, ...more });
    opened.push(host);
    return host;
  }

  const thrownBy = (running: Promise<unknown>) =>
    running.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => error,
    );

  describe('keys', () => {
    const auth: KeyHeaders = (key) => ({ Authorization: `Bearer ${key}` });
    const ask = async (host: ClosableHost, keyId?: string): Promise<HostResponse> => {
      const response = await host.request(origin, {
        method: 'GET',
        headers: { 'x-a': '1' },
        auth,
        keyId,
        signal: never,
      });
      await response.body.text();
      return response;
    };
    const used = () => seen.map(({ headers }) => headers.authorization);

    it('take turns', async () => {
      const host = open({ keys: ['one', 'two'] });
      for (let call = 0; call < 3; call += 1) await ask(host);
      expect(used()).to.deep.equal(['Bearer one', 'Bearer two', 'Bearer one']);
      expect(seen[0]?.headers['x-a']).to.equal('1');
    });

    it('are not made headers of where there are none', async () => {
      expect((await ask(open())).keyId).to.equal(undefined);
      expect(used()).to.deep.equal([undefined]);
      expect(await open().authorize(auth)).to.deep.equal({});
    });

    it('can be asked for again by what they were called, in any process and order, and are not told by it', async () => {
      const first = await ask(open({ keys: ['one', 'two'] }));
      const other = open({ keys: ['zero', 'two', 'one'] });
      await ask(other, first.keyId);
      await ask(other, first.keyId);
      expect(used()).to.deep.equal(['Bearer one', 'Bearer one', 'Bearer one']);
      expect(first.keyId).to.match(/^[0-9a-f]{16}$/);
      expect(await other.authorize(auth, first.keyId)).to.deep.equal({ Authorization: 'Bearer one' });
    });

    it('give way to the next where the one asked for is gone', async () => {
      const first = await ask(open({ keys: ['gone'] }));
      await ask(open({ keys: ['new'] }), first.keyId);
      expect(used()).to.deep.equal(['Bearer gone', 'Bearer new']);
    });

    it('may be exchanged for a token first', async () => {
      const exchange: KeyHeaders = async (key) => ({ authorization: `Bearer token of ${key}` });
      const host = open({ keys: ['one'] });
      await (await host.request(origin, { method: 'GET', auth: exchange, signal: never })).body.text();
      expect(used()).to.deep.equal(['Bearer token of one']);
    });
  });

  it('sends multipart bodies that a strict reader takes apart', async () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, at) => at % 256);
    const odd = 'a "name"\r\nx: y';
    await open().json(origin, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: {
        fields: { prompt: 'Привет\r\n--', [odd]: '' },
        files: [
          { field: 'image[]', fileName: odd, mediaType: 'image/png', bytes },
          { field: 'image[]', fileName: 'b.png', mediaType: 'image/png', bytes: Uint8Array.of() },
        ],
      },
      signal: never,
    });
    const [{ headers, body }] = seen as [Seen];
    expect(headers['content-length']).to.equal(String(body.length));
    const request = new Request(origin, {
      method: 'POST',
      headers: { 'content-type': `${headers['content-type']}` },
      body,
    });
    const form = await request.formData();
    expect([...form.keys()]).to.deep.equal(['prompt', odd, 'image[]', 'image[]']);
    expect(form.get('prompt')).to.equal('Привет\r\n--');
    const [one, two] = form.getAll('image[]') as File[];
    expect([one?.name, one?.type, two?.name, two?.size]).to.deep.equal([odd, 'image/png', 'b.png', 0]);
    expect(new Uint8Array((await one?.arrayBuffer()) as ArrayBuffer)).to.deep.equal(bytes);
  });

  it('puts a path below a base URL, before its query string', () => {
    const { urlBelow } = open();
    for (const [base, url] of [
      ['https://x.example', 'https://x.example/a/b'],
      ['https://x.example/v1//', 'https://x.example/v1/a/b'],
      ['https://x.example/d?version=1&at=2?', 'https://x.example/d/a/b?version=1&at=2?'],
      ['https://x.example/d/?', 'https://x.example/d/a/b?'],
    ] as const) {
      expect(urlBelow(base, 'a/b')).to.equal(url);
    }
  });

  describe('JSON replies', () => {
    const json = (limit?: number) => open().json(origin, { method: 'GET', signal: never }, limit);

    it('come as a value with their headers', async () => {
      reply = { status: 201, headers: { 'x-b': '2', 'retry-after': '3' }, body: '{"a":[1]}' };
      const { value, status, headers, retryAfterMs } = await json();
      expect([value, status, headers['x-b'], retryAfterMs]).to.deep.equal([{ a: [1] }, 201, '2', 3000]);
    });

    it('are faults when the status is no success', async () => {
      reply = { status: 402, headers: { 'retry-after': '9' }, body: '{"error":{"message":"pay","code":"x"}}' };
      expect(await thrownBy(json())).to.include({ kind: 'quota', status: 402, detail: 'x: pay', retryAfterMs: 9000 });
      reply = { status: 307, headers: { location: '/elsewhere' }, body: '' };
      expect(await thrownBy(json())).to.include({ kind: 'protocol', status: 307 });
    });

    it('are faults when they are not JSON, or longer than said', async () => {
      reply = { status: 200, body: '<html>' };
      expect(await thrownBy(json())).to.include({ kind: 'protocol' });
      reply = { status: 200, body: '"0123456789"' };
      expect((await json(12)).value).to.equal('0123456789');
      expect(await thrownBy(json(11))).to.include({ kind: 'protocol' });
    });
  });

  describe('settings of a route', () => {
    const schema = Joi.object({
      baseUrl: Joi.string().uri(),
      apiKey: Joi.string(),
      proxy: Joi.string(),
      token: Joi.string().meta({ secret: true }),
      style: Joi.string().valid('a', 'b').default('a'),
    });
    const settings = { style: 'a', apiKey: 'k', token: 't' };

    it('are worked out once, with the options that are right', () => {
      const warnings: unknown[] = [];
      let made = 0;
      const host = open({ schema, log: { warn: (message, fields) => warnings.push({ message, ...fields }) } });
      const routeOf = host.perRoute(settings, (own, options) => {
        made += 1;
        return { ...own, ...options };
      });
      const options = { style: 'b', apiKey: 'x', proxy: 'x', token: 'x', baseUrl: 7, sizeMap: {} };
      const one = routeOf({ model: 'm', options });
      const other = routeOf({ model: 'm', options });
      expect(one).to.equal(other);
      expect([made, one.style]).to.deep.equal([1, 'b']);
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.deep.include({ names: ['baseUrl'], model: 'm', upstream: 'acme' });
      expect(routeOf({ model: 'm', options: {} }).style).to.equal('a');
    });

    it('come without a slash at the end of the base URL, whoever named it', () => {
      const routeOf = open({ schema }).perRoute({ ...settings, baseUrl: 'https://a.example/v1//' }, (own) => own);
      expect(routeOf({ model: 'm', options: {} }).baseUrl).to.equal('https://a.example/v1');
      expect(routeOf({ model: 'm', options: { baseUrl: 'https://a.example/v2/' } }).baseUrl).to.equal(
        'https://a.example/v2',
      );
    });

    it('never take a key, a secret or the proxy from a route', () => {
      const routeOf = open({ schema }).perRoute(settings, (own) => own);
      const options = { apiKey: 'x', proxy: 'x', token: 'x' };
      expect(routeOf({ model: 'm', options })).to.deep.equal(settings);
    });
  });

  it('reads JSON that nobody vouches for', () => {
    const { fields, textOf } = open();
    const reply = { choices: [{ delta: { content: 'Hi' } }], usage: null };
    expect(fields(reply, 'choices', 0, 'delta').content).to.equal('Hi');
    expect(fields(reply)).to.equal(reply);
    for (const path of [
      ['usage', 'a'],
      ['choices', 1],
      ['choices', 0, 'delta', 'content'],
      ['no', 'such'],
    ]) {
      expect(fields(reply, ...path), path.join()).to.deep.equal({});
    }
    for (const value of [null, undefined, 'text', 7]) expect(fields(value)).to.deep.equal({});
    const image = { type: 'image', mediaType: 'image/png', bytes: new Uint8Array() } as const;
    expect(textOf([{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }])).to.equal('a\n\nb');
  });

  it('knows what vendors call the end of an answer', () => {
    const { finishReason } = open();
    const read = (words: string) => words.split(' ').map((word) => finishReason(word));
    expect(read('stop end_turn STOP EOS')).to.deep.equal(['stop', 'stop', 'stop', 'stop']);
    expect(read('length max_tokens MAX_TOKENS max_output_tokens')).to.deep.equal(Array(4).fill('length'));
    expect(read('content_filter SAFETY IMAGE_RECITATION refusal blacklist')).to.deep.equal(Array(5).fill('filter'));
    expect(read('tool_calls tool_use function_call')).to.deep.equal(['tool', 'tool', 'tool']);
    expect(read('stop:2 pause_turn TOO_MANY_TOOL_CALLS')).to.deep.equal(['stop', 'other', 'other']);
    for (const none of [undefined, null, 7, {}, '', 'null', 'None', 'FINISH_REASON_UNSPECIFIED']) {
      expect(finishReason(none), `${none}`).to.equal(undefined);
    }
  });

  it('throws for a word of failure what the upstream tells beside it, or the word', () => {
    const { finishReason } = open();
    const cases = [
      ['error', undefined, 'server', 'finish reason error'],
      ['Timeout', undefined, 'timeout', 'finish reason Timeout'],
      ['insufficient_system_resource', undefined, 'overloaded', 'finish reason insufficient_system_resource'],
      ['error', { code: 429, message: 'Slow down' }, 'rate', 'Slow down'],
    ] as const;
    for (const [word, complaint, kind, detail] of cases) {
      expect(() => finishReason(word, complaint), word)
        .to.throw(Error, detail)
        .with.property('kind', kind);
    }
    expect(finishReason('stop', { message: 'is looked at only beside a failure' })).to.equal('stop');
  });

  describe('polling', () => {
    const fault = (kind: Parameters<typeof upstreamFault>[0], retryAfterMs?: number) =>
      upstreamFault(kind, 'x', retryAfterMs === undefined ? {} : { retryAfterMs });

    /** Polls with these answers, without waiting; resolves with the value and the waits. */
    async function run(answers: readonly (Poll<string> | Error)[], more: { errorsMax?: number; random?: number } = {}) {
      const waits: number[] = [];
      const left = [...answers];
      const ask = async (): Promise<Poll<string>> => {
        const answer = left.shift() ?? expect.fail('asked too often');
        if (answer instanceof Error) throw answer;
        return answer;
      };
      const sleep = async (ms: number) => void waits.push(Math.round(ms));
      const { random = 0.5, ...rest } = more;
      const polling = { ask, everyMs: 1000, signal: never, ...rest };
      const value = await poll(polling, { sleep, random: () => random }).catch((error: unknown) => error);
      return { value, waits, left: left.length };
    }

    it('waits before it asks, slower and slower, until there is a value', async () => {
      const { value, waits } = await run([{}, {}, {}, {}, {}, {}, {}, {}, {}, { value: 'v' }]);
      expect(value).to.equal('v');
      expect(waits).to.deep.equal([1000, 1250, 1563, 1953, 2441, 3052, 3815, 4768, 5000, 5000]);
    });

    itTimed('waits on the clock of the host, more or less at random', async () => {
      const waits: number[] = [];
      const host = open({ clock: { now: Date.now, sleep: async (ms) => void waits.push(ms) } });
      for (let time = 0; time < 20; time += 1) {
        await host.poll({ ask: async () => ({ value: 'v' }), everyMs: 1000, signal: never });
      }
      expect(new Set(waits).size).to.be.above(1);
      for (const ms of waits) expect(ms).to.be.within(800, 1200);
    });

    it('spreads its waits by a fifth', async () => {
      expect((await run([{ value: 'v' }], { random: 0 })).waits).to.deep.equal([800]);
      expect((await run([{ value: 'v' }], { random: 0.999999 })).waits).to.deep.equal([1200]);
    });

    it('waits as long as it is told, by an answer or a fault', async () => {
      expect((await run([{ retryAfterMs: 7000 }, { value: 'v' }])).waits).to.deep.equal([1000, 7000]);
      expect((await run([fault('rate', 9000), { value: 'v' }])).waits).to.deep.equal([1000, 9000]);
    });

    for (const kind of ['network', 'timeout', 'rate', 'overloaded', 'server', 'protocol'] as const) {
      it(`looks past ${kind} five times in a row, twice as slow`, async () => {
        const five = [1, 2, 3, 4, 5].map(() => fault(kind));
        const { value, waits } = await run([...five, {}, ...five, { value: 'v' }]);
        expect(value).to.equal('v');
        expect(waits.slice(0, 4)).to.deep.equal([1000, 2000, 4000, 5000]);
        expect((await run([...five, fault(kind)])).value).to.include({ kind });
        expect((await run([fault(kind), fault(kind), { value: 'v' }], { errorsMax: 1 })).left).to.equal(1);
      });
    }

    for (const status of [400, 404, 409, 425]) {
      it(`looks past a ${status} five times in a row: the job, or its result, is not there yet`, async () => {
        const refused = upstreamFault(status === 404 ? 'missing' : 'request', 'x', { status });
        const five = [1, 2, 3, 4, 5].map(() => refused);
        expect((await run([...five, {}, ...five, { value: 'v' }])).value).to.equal('v');
        expect((await run([...five, refused])).value).to.equal(refused);
      });
    }

    it('ends at a refusal that is about the job itself', async () => {
      for (const facts of [{ status: 422 }, { status: 413 }, { status: 400, about: 'content' }] as const) {
        const refused = upstreamFault('request', 'x', facts);
        expect((await run([refused, { value: 'v' }])).value).to.equal(refused);
      }
    });

    for (const thrown of [fault('request'), fault('auth'), fault('quota'), fault('missing'), new TypeError('x')]) {
      it(`ends at ${thrown.message}`, async () => {
        expect((await run([thrown, { value: 'v' }])).value).to.equal(thrown);
      });
    }

    it('ends with the reason of an abort', async () => {
      const host = open();
      const controller = new AbortController();
      const ask = () => {
        controller.abort('stop');
        return Promise.reject(fault('network'));
      };
      expect(await thrownBy(host.poll({ ask, everyMs: 1, signal: controller.signal }))).to.equal('stop');
      const broken = () => Promise.reject(new TypeError('x'));
      const [over, sleep] = [AbortSignal.abort('over'), async () => {}];
      expect(await thrownBy(poll({ ask: broken, everyMs: 1, signal: over }, { sleep, random: () => 0 }))).to.equal(
        'over',
      );
      const waiting = host.poll({ ask: async () => ({}), everyMs: 60_000, signal: AbortSignal.timeout(10) });
      expect(await thrownBy(waiting)).to.have.property('name', 'TimeoutError');
    });
  });
});
