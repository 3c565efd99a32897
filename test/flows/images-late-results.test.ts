// Images whose upstream names a link before the file is there: the link is tried again, within the time of the call.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type Reply, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { GENERATIONS } from '../../testkit/images.ts';
import { HTML, PNG } from '../media/sample-images.ts';

const PRICE = 10_000_000n;
interface Vendor {
  readonly base: string;
  readonly model?: string;
  readonly submitted: (url: string) => object;
  readonly completed?: (url: string) => object;
  /** The request between the last poll and the image. */
  readonly result?: { readonly path: RegExp; readonly found: (url: string) => object };
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
  'a file that is cut short': answer(200, PNG.subarray(0, -12), 'image/png'),
  'a broken connection': cut,
};

/** The same for every vendor: two of them are enough for those whose images are jobs. */
const FILES_OF_JOBS = Object.entries(FILES).filter(([what]) => ['a 404', 'a page'].includes(what));

const RESULTS = Object.entries({
  'a 400 “in progress”': answer(400, { detail: 'Request is still in progress' }),
  'a 404': answer(404),
});

interface Case {
  readonly plugin: string;
  readonly what: string;
  /** The request that is answered so at first. */
  readonly at: 'file' | 'result' | 'poll';
  readonly answer: Answer;
  /** How often it is answered so. */
  readonly times: number;
  readonly asked: { submissions: number; late: number };
}

function listCases(plugin: string, { completed, result }: Vendor): readonly Case[] {
  const answers = {
    file: completed ? FILES_OF_JOBS : Object.entries(FILES),
    result: result ? RESULTS : [],
    poll: completed ? RESULTS : [],
  };
  return (['file', 'result', 'poll'] as const).flatMap((at) =>
    answers[at].map(([what, answer]) => ({ plugin, what, at, answer, times: 1, asked: { submissions: 0, late: 0 } })),
  );
}

describe('images that are completed before their file is there', () => {
  const cases = Object.entries(VENDORS).flatMap(([plugin, vendor]) => listCases(plugin, vendor));
  const never: Case = {
    plugin: 'openai-images',
    what: 'a 404',
    at: 'file',
    answer: answer(404),
    times: Number.POSITIVE_INFINITY,
    asked: { submissions: 0, late: 0 },
  };
  const all = [...cases, never];
  let server: Server;
  let gateway: TestGateway;
  /** All calls run at the same time, as they mostly wait. */
  let calls: readonly { readonly account: TestAccount; readonly reply: Promise<Reply> }[];

  before(async () => {
    server = createServer(async (request, response) => {
      await request.toArray();
      route(request)({ request, response });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    gateway = await startGateway({ catalog: catalogOf(), env: { TOTAL_TIMEOUT_MS: '20000' } });
    const accounts: TestAccount[] = [];
    for (const _ of cases) accounts.push(await gateway.account());
    calls = accounts.map((account, at) => ({ account, reply: draw(gateway, account, at) }));
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** Each case has an upstream and a model of its own. */
  function catalogOf(): object {
    const upstreams = all.map(({ plugin }, at) => {
      const { base } = VENDORS[plugin] as Vendor;
      return [`up-${at}`, { plugin, settings: { baseUrl: `${origin()}/${at}${base}`, apiKey: 'up-key' } }];
    });
    const price = { request: '10' };
    const models = all.map(({ plugin, times }, at) => {
      const route = { upstream: `up-${at}`, model: VENDORS[plugin]?.model ?? 'm' };
      const routes = times === 1 ? [route] : [route, { ...route, model: 'other' }];
      return { id: `draw-${at}`, type: 'image', provider: 'Test', price, routes };
    });
    return { upstreams: Object.fromEntries(upstreams), models };
  }

  /** The first folder of a path is the case. */
  function route({ method, url = '' }: IncomingMessage): Answer {
    const [, folder = ''] = url.split('/');
    const late = all[Number(folder)] as Case;
    const vendor = VENDORS[late.plugin] as Vendor;
    const image = `${origin()}/${folder}/files/1.png`;
    if (method === 'POST') {
      late.asked.submissions += 1;
      return answer(200, vendor.submitted(image));
    }
    const at = url.endsWith('.png') ? 'file' : vendor.result?.path.test(url) ? 'result' : 'poll';
    if (at === late.at) late.asked.late += 1;
    if (at === late.at && late.asked.late <= late.times) return late.answer;
    if (at === 'file') return answer(200, PNG, 'image/png');
    return answer(200, (at === 'result' && vendor.result?.found(image)) || vendor.completed?.(image));
  }

  const draw = ({ url }: TestGateway, { key }: TestAccount, at: number) =>
    send(url + GENERATIONS, { key, body: { model: `draw-${at}`, prompt: 'a hill' } });

  for (const [place, { plugin, what, at, asked }] of cases.entries()) {
    it(`delivers them when it is: ${plugin}, ${what} for the ${at}`, async () => {
      const { account, reply } = calls[place] as (typeof calls)[number];
      const { status, text } = await reply;
      expect(status, text).to.equal(200);
      expect(asked).to.deep.equal({ submissions: 1, late: 2 });
      expect((await gateway.wallet(account)).charged).to.equal(PRICE);
    });
  }

  it('refunds them when it never is, after asking another route', async () => {
    const short = await startGateway({ catalog: catalogOf(), env: { TOTAL_TIMEOUT_MS: '4000' } });
    const account = await short.account();
    const reply = await draw(short, account, all.indexOf(never));
    expect(reply.status).to.equal(502);
    expect(reply.json.error.message).to.equal('The upstream provider failed. Charge refunded.');
    expect(never.asked.submissions).to.equal(2);
    expect((await short.wallet(account)).charged).to.equal(0n);
    await short.checkMoney();
    await short.stop();
  });
});
