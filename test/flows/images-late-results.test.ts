// Pictures whose upstream names a link before the file is there: the link is tried again, within the time of the call.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { GENERATIONS } from '../../testkit/images.ts';
import { HTML, PNG } from '../media/pictures.ts';

const PRICE = 10_000_000n;
/** How often something else comes in place of what is late. */
const TIMES = 1;

interface Vendor {
  readonly base: string;
  readonly model?: string;
  readonly submitted: (picture: string) => object;
  readonly completed?: (picture: string) => object;
  /** The request between poll and picture. */
  readonly result?: { readonly path: RegExp; readonly found: (picture: string) => object };
}

const VENDORS: Readonly<Record<string, Vendor>> = {
  'openai-images': { base: '/v1', submitted: (url) => ({ data: [{ url }] }) },
  fal: {
    base: '',
    model: 'owner/app',
    submitted: () => ({ request_id: 'r1' }),
    completed: () => ({ status: 'COMPLETED' }),
    result: { path: /\/requests\/r1$/, found: (url) => ({ images: [{ url }] }) },
  },
  replicate: {
    base: '/v1',
    submitted: () => ({ id: 'p1', status: 'starting' }),
    completed: (url) => ({ status: 'succeeded', output: [url] }),
  },
  bfl: {
    base: '/v1',
    submitted: () => ({ id: 't1' }),
    completed: (sample) => ({ status: 'Ready', result: { sample } }),
  },
};

type Answer = (exchange: { readonly request: IncomingMessage; readonly response: ServerResponse }) => void;

const answer =
  (status: number, body: string | object | Buffer = '', type = 'application/json'): Answer =>
  ({ response }) => {
    response.writeHead(status, { 'content-type': type });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
const cut: Answer = ({ request }) => void request.socket.destroy();

const FILES: Readonly<Record<string, Answer>> = {
  'a 404': answer(404),
  'a 403': answer(403, 'AccessDenied', 'text/plain'),
  'a 400': answer(400, { error: { code: 'not_ready' } }),
  'an empty 202': answer(202),
  'a page': answer(200, HTML, 'text/html'),
  'a 500': answer(500),
  'a broken connection': cut,
};

/** The same for every vendor: two of them are enough for those whose pictures are jobs. */
const FILES_OF_JOBS = Object.entries(FILES).filter(([what]) => ['a 404', 'a page'].includes(what));

const RESULTS: Readonly<Record<string, Answer>> = {
  'a 400 “in progress”': answer(400, { detail: 'Request is still in progress' }),
  'a 404': answer(404),
};

describe('images that are completed before their file is there', () => {
  let server: Server;
  let gateway: TestGateway;
  let account: TestAccount;
  let late: { readonly at: 'file' | 'result' | 'poll'; readonly answer: Answer; readonly times: number };
  const asked = { submissions: 0, late: 0 };
  const names = Object.keys(VENDORS);

  before(async () => {
    server = createServer(async (request, response) => {
      await request.toArray();
      route(request)({ request, response });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    gateway = await startGateway({ catalog: catalogOf(), env: { TOTAL_TIMEOUT_MS: '20000' } });
  });
  beforeEach(async () => {
    Object.assign(asked, { submissions: 0, late: 0 });
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function catalogOf(): object {
    const upstreams = names.map((plugin, at) => {
      const { base } = VENDORS[plugin] as Vendor;
      return [`up-${at}`, { plugin, settings: { baseUrl: `${origin()}/${at}${base}`, apiKey: 'up-key' } }];
    });
    const price = { request: '10' };
    const models = names.map((plugin, at) => {
      const routes = [{ upstream: `up-${at}`, model: VENDORS[plugin]?.model ?? 'm' }];
      return { id: `draw-${at}`, type: 'image', provider: 'Test', price, routes };
    });
    return { upstreams: Object.fromEntries(upstreams), models };
  }

  /** The first folder of a path is the upstream. */
  function route({ method, url = '' }: IncomingMessage): Answer {
    const [, upstream = ''] = url.split('/');
    const vendor = VENDORS[names[Number(upstream)] ?? ''] as Vendor;
    const picture = `${origin()}/${upstream}/files/1.png`;
    if (method === 'POST') {
      asked.submissions += 1;
      return answer(200, vendor.submitted(picture));
    }
    const at = url.endsWith('.png') ? 'file' : vendor.result?.path.test(url) ? 'result' : 'poll';
    if (at === late.at) asked.late += 1;
    if (at === late.at && asked.late <= late.times) return late.answer;
    if (at === 'file') return answer(200, PNG, 'image/png');
    return answer(200, (at === 'result' && vendor.result?.found(picture)) || vendor.completed?.(picture));
  }

  const draw = (at: number) =>
    send(gateway.url + GENERATIONS, { key: account.key, body: { model: `draw-${at}`, prompt: 'a hill' } });

  for (const [at, name] of names.entries()) {
    const kinds = [
      ...(VENDORS[name]?.completed ? FILES_OF_JOBS : Object.entries(FILES)).map(
        ([what, answer]) => ({ what, at: 'file', answer }) as const,
      ),
      ...Object.entries(VENDORS[name]?.result ? RESULTS : {}).map(
        ([what, answer]) => ({ what, at: 'result', answer }) as const,
      ),
      ...Object.entries(VENDORS[name]?.completed ? RESULTS : {}).map(
        ([what, answer]) => ({ what, at: 'poll', answer }) as const,
      ),
    ];
    for (const { what, ...kind } of kinds) {
      it(`are delivered when it is: ${name}, ${what} for the ${kind.at}`, async function () {
        this.timeout(20_000);
        late = { ...kind, times: TIMES };
        const reply = await draw(at);
        expect(reply.status, reply.text).to.equal(200);
        expect(asked).to.deep.equal({ submissions: 1, late: TIMES + 1 });
        expect((await gateway.wallet(account)).charged).to.equal(PRICE);
      });
    }
  }

  it('are refunded when it never is, and another route has been asked before', async function () {
    this.timeout(20_000);
    const catalog = catalogOf() as { models: { routes: object[] }[] };
    const [first] = catalog.models;
    first?.routes.push({ upstream: 'up-0', model: 'other' });
    const short = await startGateway({ catalog, env: { TOTAL_TIMEOUT_MS: '4000' } });
    late = { at: 'file', answer: answer(404), times: Number.POSITIVE_INFINITY };
    const owner = await short.account();
    const body = { model: 'draw-0', prompt: 'a hill' };
    const reply = await send(short.url + GENERATIONS, { key: owner.key, body });
    expect(reply.status).to.equal(502);
    expect(reply.json.error.message).to.equal('The upstream provider failed. Charge refunded.');
    expect(asked.submissions).to.equal(2);
    expect((await short.wallet(owner)).charged).to.equal(0n);
    await short.checkMoney();
    await short.stop();
  });
});
