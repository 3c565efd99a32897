// Plugins that leave errors unhandled, in a whole process: their calls fail and are refunded, and everything else goes
// on.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  ask,
  findBilling,
  joinText,
  MESSAGES,
  open,
  parseEvents,
  readHead,
  send,
  until,
} from '../../testkit/client.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import { GENERATIONS } from '../../testkit/images.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { type Books, type Home, makeHome, openBooks, type Service, startService } from '../../testkit/process.ts';
import { chatHeld, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const VIDEOS = '/api/v1/videos';
const HOOK = fileURLToPath(new URL('../../testkit/fail-on-signal.ts', import.meta.url));

/** What it does is in the prompt. */
const PLUGIN = `
import { EventEmitter } from 'node:events';

setTimeout(() => { throw new Error('stray: as it was loaded'); }, 1500).unref();

const leave = {
  float: () => void Promise.reject(new Error('stray: float')),
  later: () => void setTimeout(() => { throw new Error('stray: later'); }, 20),
  emitter: () => {
    const emitter = new EventEmitter();
    emitter.on('data', () => { throw new Error('stray: emitter'); });
    setTimeout(() => emitter.emit('data'), 20);
  },
  text: () => void Promise.reject('stray: no error at all'),
  refusal: (host) => void Promise.reject(host.fault.make('request', 'stray: refusal')),
  cancel: (host, signal) => signal.addEventListener('abort', () => void Promise.reject(new Error('stray: cancel'))),
  listener: (host, signal) => signal.addEventListener('abort', () => { throw new Error('stray: listener'); }),
  end: () => void setTimeout(() => { throw new Error('stray: end'); }, 100),
};
const never = () => new Promise(() => {});
let polls = 0;

export default {
  contract: 1,
  name: 'moody',
  settings: (joi) => joi.object({}),
  create: (settings, host) => ({
    async *text({ messages }, signal) {
      const [how, begun] = messages.at(-1).content[0].text.split(' ');
      yield [{ type: 'start' }];
      if (begun === 'begun' || how === 'end') {
        yield [{ type: 'block-start', index: 0, block: { type: 'text' } }, { type: 'block-delta', index: 0, text: 'Hello.' }];
      }
      leave[how](host, signal);
      if (how !== 'end') await never();
      yield [{ type: 'block-end', index: 0 }, { type: 'usage', input: 7, output: 400 }, { type: 'finish', reason: 'stop' }];
    },
    async image({ prompt }, signal) {
      leave[prompt](host, signal);
      await never();
    },
    video: {
      async start({ prompt }, signal) {
        if (prompt === 'poll') return { id: 'job' };
        leave[prompt](host, signal);
        await never();
      },
      async poll(ref, signal) {
        polls += 1;
        if (polls > 1) return { status: 'failed', fault: host.fault.make('request', 'no') };
        leave.float(host, signal);
        await never();
      },
    },
  }),
};
`;

const TILL = `
const stray = () => void Promise.reject(new Error('stray: payments'));
export default {
  contract: 1,
  name: 'moody',
  settings: (joi) => joi.object({}),
  create: () => ({
    methods: ['card'], redirectHosts: [], live: false, shop: 'moody', keysLiveMs: 1000,
    async start() { throw new Error('no'); },
    async fetch() { stray(); await new Promise(() => {}); },
    async find() {},
    notice() { stray(); return { fetch: ['one'] }; },
    async page() { stray(); await new Promise(() => {}); },
  }),
};
`;

function buildCatalog(url: string): object {
  const settings = { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1' };
  const text = { type: 'text', provider: 'Test', price: { input: '1000', output: '5000' } };
  return {
    upstreams: {
      up: { plugin: 'openai-compatible', settings, sandbox: true },
      bad: { plugin: 'moody', sandbox: true },
    },
    payments: { till: { plugin: 'moody', sandbox: true } },
    models: [
      { ...text, id: 'good', routes: [{ upstream: 'up', model: 'm' }] },
      { ...text, id: 'moody', routes: [{ upstream: 'bad', model: 'm' }] },
      { ...text, id: 'other', routes: [{ upstream: 'bad', model: 'other' }] },
      {
        id: 'draw',
        type: 'image',
        provider: 'Test',
        price: { request: '10' },
        routes: [{ upstream: 'bad', model: 'm' }],
      },
      {
        id: 'film',
        type: 'video',
        provider: 'Test',
        price: { request: '40' },
        routes: [{ upstream: 'bad', model: 'm' }],
      },
    ],
    defaults: { image: ['draw'] },
  };
}

describe('a plugin that leaves errors unhandled', () => {
  let upstream: TestUpstream;
  let home: Home;
  let books: Books;
  let account: TestAccount;
  let service: Service;
  let running: string | undefined;
  /** What the service had written when the test began. */
  let begun = 0;

  before(async () => {
    upstream = await startUpstream();
    home = makeHome(buildCatalog(upstream.url));
    for (const [kind, source] of [
      ['providers', PLUGIN],
      ['payments', TILL],
    ] as const) {
      const folder = join(home.folder, kind, 'moody');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'index.js'), source);
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    }
    books = await openBooks(home);
  });
  beforeEach(async () => {
    account = await books.account();
  });
  afterEach(async () => {
    await until(async () => (await books.held()) === 0n);
    await books.checkMoney();
  });
  after(async () => {
    await service.stop();
    await books.close();
    await upstream.close();
    home.remove();
  });

  /** Or goes on with the one that an earlier test has left. */
  async function start({ WORKERS = '1', fresh = false } = {}): Promise<void> {
    if (running === WORKERS && !fresh) {
      begun = service.stdout().length;
      return;
    }
    await service?.stop();
    running = WORKERS;
    begun = 0;
    const paths = { PROVIDERS_PATH: join(home.folder, 'providers'), PAYMENTS_PATH: join(home.folder, 'payments') };
    const timing = { VIDEO_POLL_MS: '50', LOG_LEVEL: 'warn', METRICS_PORT: '0', DRAIN_MS: '5000' };
    const flags = ['--import', HOOK];
    service = await startService(home, { env: { SANDBOX: 'on', WORKERS, ...paths, ...timing }, flags });
  }

  const post = (path: string, body: object) => send(service.url + path, { key: account.key, body });
  const spent = async () => (await books.wallet(account)).charged;
  const listLogged = () => {
    const lines = service.stdout().slice(begun).split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  };
  const strays = () => listLogged().filter(({ alert }) => alert === 'plugin');

  /** A stream that has brought its first word, and must survive all that happens meanwhile. */
  async function begin(model: string, text: string) {
    const body = ask(text, { model, stream: true });
    const sent = open(service.url + MESSAGES, { key: account.key, body });
    sent.on('error', () => undefined);
    const response = await readHead(sent);
    let read = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      read += chunk;
    });
    response.on('error', () => undefined);
    const ended = new Promise<string>((resolve) => response.on('close', () => resolve(read)));
    return { sent, ended, text: () => read };
  }

  for (const workers of longer(['1'], ['1', '2'])) {
    describe(`with ${workers === '1' ? 'one process' : 'workers'}`, () => {
      it('fails and refunds its own calls, and no others', async () => {
        await start({ WORKERS: workers });
        const { behaviour, finish } = chatHeld();
        upstream.behave(behaviour);
        const other = await begin('good', 'hi');
        await until(() => other.text().includes('first'));
        for (const how of ['float', 'later', 'emitter', 'text', 'refusal']) {
          const { status, json } = await post(MESSAGES, ask(how, { model: 'moody' }));
          expect([status, json.error.type], how).to.deep.equal([502, 'api_error']);
          expect(json.error.message).to.contain('Charge refunded');
        }
        for (const [path, model] of [
          [GENERATIONS, 'draw'],
          [VIDEOS, 'film'],
        ] as const) {
          for (const prompt of ['float', 'later', 'refusal']) {
            const { status, text } = await post(path, { model, prompt });
            expect(status, `${path} ${prompt}: ${text}`).to.equal(502);
          }
        }
        expect(await spent()).to.equal(0n);
        finish();
        const events = parseEvents(await other.ended);
        expect(joinText(events)).to.equal('first last.');
        expect(findBilling(events)).to.include({ charged_rub: 2.007 });
        const wanted = ['float', 'later', 'emitter', 'float', 'later', 'float', 'later'];
        const listMessages = () => strays().map(({ err }) => String(err?.message));
        const listWanted = () => listMessages().filter((message) => /: (f|l|e)/.test(message));
        await until(() => listWanted().length >= wanted.length);
        const told = strays();
        expect(listWanted()).to.have.members(wanted.map((how) => `stray: ${how}`));
        expect(new Set(told.map((line) => line.upstream ?? line.plugin)))
          .to.be.a('set')
          .that.includes('bad');
      }).timeout(60_000);
    });
  }

  itLong('ends a started stream with an error, and charges what was delivered', async () => {
    await start({ fresh: true });
    const { ended } = await begin('moody', 'float begun');
    const events = parseEvents(await ended);
    expect(joinText(events)).to.equal('Hello.');
    expect(events.at(-1)?.event).to.equal('error');
    expect(await spent()).to.equal(500_000n);
  })?.timeout(60_000);

  itLong('survives errors after its client has left, and after its answer', async () => {
    await start();
    for (const how of ['cancel begun', 'listener begun']) {
      const call = await begin('moody', how);
      await until(() => call.text().includes('Hello.'));
      call.sent.destroy();
      await until(async () => (await books.held()) === 0n);
    }
    const reply = await post(MESSAGES, ask('end', { model: 'moody' }));
    expect(reply.json.content).to.deep.equal([{ type: 'text', text: 'Hello.' }]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await send(`${service.url}/healthz`)).status).to.equal(200);
    const listMessages = () =>
      strays()
        .map(({ err }) => err.message)
        .filter((message) => !/loaded|float/.test(message));
    await until(() => listMessages().length >= 3);
    expect(listMessages()).to.deep.equal(['stray: cancel', 'stray: listener', 'stray: end']);
  })?.timeout(60_000);

  itLong('survives errors while it is loaded, and while a video is polled', async () => {
    await start({ fresh: true });
    const { status, text } = await post(VIDEOS, { model: 'film', prompt: 'poll' });
    expect(status, text).to.equal(200);
    const isOver = async () => (await books.store.jobs.page({ limit: 10 })).every(({ phase }) => phase === 'failed');
    await until(isOver, 20_000);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await send(`${service.url}/healthz`)).status).to.equal(200);
    expect(await spent()).to.equal(0n);
    await until(() => strays().length >= 2);
    const told = strays();
    expect(told.find(({ plugin }) => plugin === 'moody')?.err.message).to.equal('stray: as it was loaded');
    expect(told.some(({ upstream: name, err }) => name === 'bad' && err.message === 'stray: float')).to.equal(true);
  });

  itLong('opens all its routes after five errors in a minute', async () => {
    await start({ fresh: true });
    const operator = /^Metrics: (.*)\/metrics$/m.exec(service.stdout())?.[1];
    const openRoutes = async () => (await send(`${operator}/readyz?verbose`)).json.upstreams.bad.routes_open as number;
    // Answers that are complete say nothing against the routes.
    for (let calls = 0; calls < 4; calls += 1) await post(MESSAGES, ask('end', { model: 'moody' }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await openRoutes()).to.equal(0);
    await post(MESSAGES, ask('end', { model: 'moody' }));
    await until(async () => (await openRoutes()) === 4);
  });

  itLong('fails only its pages and webhooks as a payment plugin', async () => {
    await start({ fresh: true });
    const page = await send(`${service.url}/payments/till/page/x`, { method: 'GET' });
    expect(page.status).to.be.within(500, 503);
    const notice = await send(`${service.url}/payments/till/notice`, { body: { any: 'thing' } });
    expect(notice.status).to.be.within(200, 503);
    expect((await send(`${service.url}/healthz`)).status).to.equal(200);
    const listTold = () => strays().filter(({ upstream: name }) => name === 'till');
    await until(() => listTold().length >= 2);
    expect(listTold().map(({ err }) => err.message)).to.deep.equal(['stray: payments', 'stray: payments']);
  });

  // Last, as it ends the process that the tests before it share.
  describe('unlike our own errors', () => {
    it('which end the process once its calls have ended', async () => {
      await start();
      const { behaviour, finish } = chatHeld();
      upstream.behave(behaviour);
      const call = await begin('good', 'hi');
      await until(() => call.text().includes('first'));
      service.kill('SIGUSR2');
      await new Promise((resolve) => setTimeout(resolve, 300));
      finish();
      expect(joinText(parseEvents(await call.ended))).to.equal('first last.');
      const { code, stdout } = await service.exit;
      expect(code).to.equal(1);
      expect(stdout).to.contain('an error that nobody has handled; stopping').and.to.contain('a mistake of our own');
    }).timeout(60_000);
  });
});
