// Videos whose upstream calls them completed before their file is there: whatever comes in its place, the job goes on,
// with every plugin that makes videos. One submission, one charge, one result.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { send, until } from '../../testkit/client.ts';
import { FILM } from '../../testkit/film-upstream.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';
/** How often something else comes in place of the file. */
const TIMES = longer(1, 2);

interface Vendor {
  /** The end of the upstream's `baseUrl`. */
  readonly base: string;
  readonly apiKey?: string;
  readonly model?: string;
  /** The reply to a submission. */
  readonly submitted: (id: string) => object;
  /** The reply to a poll of a completed job. */
  readonly completed: (url: string, id: string) => object;
  /** A job that is completed without its file. */
  readonly lacking?: object;
  /** What answers the request between poll and file. */
  readonly result?: { readonly path: RegExp; readonly found: (url: string) => object };
  /** Where the file is, if its URL is not stated. */
  readonly content?: RegExp;
}

const VENDORS: Readonly<Record<string, Vendor>> = {
  'openai-videos': {
    base: '/v1',
    submitted: (id) => ({ id, status: 'queued' }),
    completed: () => ({ status: 'completed' }),
    content: /\/content$/,
  },
  kling: {
    base: '/v1',
    apiKey: 'access:secret',
    submitted: (id) => ({ code: 0, data: { task_id: id } }),
    completed: (url) => ({ code: 0, data: { task_status: 'succeed', task_result: { videos: [{ url }] } } }),
    lacking: { code: 0, data: { task_status: 'succeed', task_result: { videos: [] } } },
  },
  seedance: {
    base: '/v3',
    submitted: (id) => ({ id }),
    completed: (url) => ({ status: 'succeeded', content: { video_url: url } }),
    lacking: { status: 'succeeded', content: null },
  },
  minimax: {
    base: '/v1',
    submitted: (id) => ({ task_id: id, base_resp: { status_code: 0 } }),
    completed: (_url, id) => ({ status: 'Success', file_id: id, base_resp: { status_code: 0 } }),
    lacking: { status: 'Success', base_resp: { status_code: 0 } },
    result: { path: /\/files\/retrieve/, found: (url) => ({ file: { download_url: url } }) },
  },
  'minimax, version 2': {
    base: '/v2',
    submitted: (id) => ({ task_id: id }),
    completed: (url) => ({ task: { status: 'succeeded', content: { url } } }),
    lacking: { task: { status: 'succeeded' } },
  },
  runway: {
    base: '/v1',
    submitted: (id) => ({ id }),
    completed: (url) => ({ status: 'SUCCEEDED', output: [url] }),
    lacking: { status: 'SUCCEEDED', output: [] },
  },
  dashscope: {
    base: '/api/v1',
    submitted: (id) => ({ output: { task_id: id, task_status: 'PENDING' } }),
    completed: (url) => ({ output: { task_status: 'SUCCEEDED', video_url: url } }),
    lacking: { output: { task_status: 'SUCCEEDED' } },
  },
  xai: {
    base: '/v1',
    submitted: (id) => ({ request_id: id }),
    completed: (url) => ({ status: 'done', video: { url, respect_moderation: true } }),
    lacking: { status: 'done', video: { url: null } },
  },
  replicate: {
    base: '/v1',
    submitted: (id) => ({ id, status: 'starting' }),
    completed: (url) => ({ status: 'succeeded', output: url }),
    lacking: { status: 'succeeded', output: null },
  },
  fal: {
    base: '',
    model: 'owner/app',
    submitted: (id) => ({ request_id: id, status: 'IN_QUEUE' }),
    completed: () => ({ status: 'COMPLETED' }),
    result: { path: /\/requests\/[^/]+$/, found: (url) => ({ video: { url } }) },
  },
  gemini: {
    base: '/v1beta',
    submitted: (id) => ({ name: `models/veo/operations/${id}` }),
    completed: (uri) => ({
      done: true,
      response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } },
    }),
    lacking: { done: true, response: {} },
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
const brokenOff =
  (headers: Readonly<Record<string, string | number>>): Answer =>
  ({ response }) => {
    response.writeHead(200, { 'content-type': 'video/mp4', ...headers });
    response.write(FILM.subarray(0, 1000), () => setTimeout(() => response.destroy(), 20));
  };

/** What may come instead of anything that belongs to a completed job. */
const REFUSALS: Readonly<Record<string, Answer>> = {
  'a 400 “in progress”': answer(400, { detail: 'Request is still in progress' }),
  'a 400 “not ready”': answer(400, { error: { code: 'video_not_ready', message: 'the video is not ready' } }),
  'a 401': answer(401, { error: { message: 'no' } }),
  'a 403': answer(403, 'AccessDenied', 'text/plain'),
  'a 404': answer(404),
  'a 409': answer(409, { error: { message: 'Task is not completed yet, current status: NOT_START' } }),
  'a 410': answer(410),
  'a 425': answer(425),
  'a 429': answer(429),
  'a 500': answer(500, { error: { message: 'no' } }),
  'a 503': answer(503, '<html>busy</html>', 'text/html'),
  'an empty 202': answer(202),
  'an empty 200': answer(200),
  'a page': answer(200, '<html>processing</html>'.repeat(50), 'text/html'),
  'other JSON': answer(200, { state: 'not yet' }),
  'a broken connection': cut,
};

/** What may come in place of the file alone. */
const FILES: Readonly<Record<string, Answer>> = {
  ...REFUSALS,
  'JSON with a state': answer(200, { status: 'processing' }),
  'JSON that claims to be a video': answer(200, { status: 'processing' }, 'video/mp4'),
  'an image': answer(200, PNG, 'image/png'),
  'a file that breaks off': brokenOff({ 'content-length': FILM.length }),
  'a file in chunks that breaks off': brokenOff({}),
  'a file that is cut short': answer(200, FILM.subarray(0, -40), 'video/mp4'),
  'half a file': ({ response }) => {
    response.writeHead(206, { 'content-type': 'video/mp4' }).end(FILM.subarray(0, 1000));
  },
  'a redirect to nowhere': ({ response }) => void response.writeHead(302, { location: '/nowhere' }).end(),
};

interface LateJob {
  readonly late: Answer;
  readonly at: 'file' | 'result' | 'poll';
  submissions: number;
  polls: number;
  /** How often what is late was asked for. */
  asked: number;
}

interface StartedJob {
  readonly what: string;
  readonly job: LateJob;
  readonly id: string;
}

const completedKinds = (vendor: Vendor): [string, Pick<LateJob, 'late' | 'at'>][] =>
  [
    ...Object.entries(FILES).map(([name, late]) => [`${name} for the file`, { late, at: 'file' }] as const),
    ...(vendor.result ? Object.entries(REFUSALS) : []).map(
      ([name, late]) => [`${name} for the result`, { late, at: 'result' }] as const,
    ),
    ...(vendor.lacking ? [['no file in the poll', { late: answer(200, vendor.lacking), at: 'poll' }] as const] : []),
  ].map(([name, job]) => [name, job]);

/** In `npm test` one without the file in its poll, one with it, and one that is asked for the result first. */
const SAMPLE = ['openai-videos', 'kling', 'minimax'];

describe('videos that are completed before their file is there', () => {
  let server: Server;
  let gateway: TestGateway;
  const jobs = new Map<string, LateJob>();
  const names = longer(SAMPLE, Object.keys(VENDORS));
  /** The jobs of all vendors run at the same time, as they mostly wait. */
  let runs: readonly { readonly account: TestAccount; readonly started: readonly StartedJob[] }[];

  before(async () => {
    server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      response.on('error', () => undefined);
      route(request, body)({ request, response });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    gateway = await startGateway({ catalog: catalogOf(), env: { VIDEO_POLL_MS: '10' } });
    const accounts: TestAccount[] = [];
    for (const _ of names) accounts.push(await gateway.account('100000'));
    runs = await Promise.all(accounts.map(async (account, at) => ({ account, started: await startAll(account, at) })));
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function catalogOf(): object {
    const upstreams = names.map((name, at) => {
      const { base, apiKey = 'up-key' } = VENDORS[name] as Vendor;
      const plugin = name.replace(/,.*/, '');
      return [`up-${at}`, { plugin, settings: { baseUrl: `${origin()}/${at}${base}`, apiKey } }];
    });
    const models = names.map((name, at) => ({
      id: `film-${at}`,
      type: 'video',
      provider: 'Test',
      price: { second: '1' },
      routes: [{ upstream: `up-${at}`, model: VENDORS[name]?.model ?? 'm' }],
    }));
    return { upstreams: Object.fromEntries(upstreams), models };
  }

  /** The first folder of a path is the upstream; a prompt is the name of a job. */
  function route({ method, url = '' }: IncomingMessage, body: string): Answer {
    const vendor = VENDORS[names[Number(url.split('/')[1])] ?? ''] as Vendor;
    const id = /job-\d+/.exec(method === 'POST' ? body : url)?.[0] ?? '';
    const job = jobs.get(id);
    if (!job) return answer(404);
    const file = `${origin()}/${url.split('/')[1]}/files/${id}.mp4`;
    if (method === 'POST') {
      job.submissions += 1;
      return answer(200, vendor.submitted(id));
    }
    const at = placeOf(url, vendor);
    if (at === 'poll') job.polls += 1;
    if (at === job.at) job.asked += 1;
    if (at === job.at && job.asked <= TIMES) return job.late;
    if (at === 'file') return answer(200, FILM, 'video/mp4');
    return answer(200, (at === 'result' && vendor.result?.found(file)) || vendor.completed(file, id));
  }

  function placeOf(url: string, { result, content }: Vendor): LateJob['at'] {
    if (/\.mp4$/.test(url) || content?.test(url)) return 'file';
    return result?.path.test(url) ? 'result' : 'poll';
  }

  async function start({ key }: TestAccount, model: string, id: string): Promise<string> {
    const body = { model, prompt: id, seconds: 5 };
    const started = await send(gateway.url + VIDEOS, { key, body });
    expect(started.status, started.text).to.equal(200);
    return started.json.id;
  }

  function startAll(account: TestAccount, at: number): Promise<readonly StartedJob[]> {
    const kinds = completedKinds(VENDORS[names[at] ?? ''] as Vendor);
    return Promise.all(
      kinds.map(async ([what, kind], index) => {
        const job: LateJob = { ...kind, submissions: 0, polls: 0, asked: 0 };
        const id = `job-${at * 100 + index}`;
        jobs.set(id, job);
        return { what, job, id: await start(account, `film-${at}`, id) };
      }),
    );
  }

  async function waitForEnd(id: string): Promise<string | undefined> {
    const readPhase = async () => (await gateway.store.jobs.get(id))?.phase;
    await until(async () => ['completed', 'failed', undefined].includes(await readPhase()), 50_000);
    return readPhase();
  }

  for (const [at, name] of names.entries()) {
    it(`completes them when it is: ${name}`, async () => {
      const { account, started } = runs[at] as (typeof runs)[number];
      for (const { what, job, id } of started) {
        const phase = await waitForEnd(id);
        const { submissions, polls, asked, late } = job;
        expect({ phase, submissions, asked }, what).to.deep.equal({
          phase: 'completed',
          submissions: 1,
          asked: TIMES + 1,
        });
        // A request whose connection breaks before it is answered is sent again on another one.
        expect(polls, what).to.be.within(late === cut ? TIMES : TIMES + 1, TIMES + 1);
      }
      const { avail, charged } = await gateway.wallet(account);
      expect([charged, avail]).to.deep.equal([5_000_000n * BigInt(started.length), 100_000_000_000n - charged]);
    });
  }
});
