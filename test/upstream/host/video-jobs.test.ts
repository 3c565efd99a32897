// What the host does for videos made as jobs: whatever an upstream says of a job, only its verdict ends it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Joi from 'joi';
import type {
  JobLooking,
  JobSubmission,
  VideoCall,
  VideoReport,
  VideoWire,
} from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';
import { resolveResolution } from '../../../lib/upstream/host/resolutions.ts';

const signal = new AbortController().signal;

describe('jobs of video', () => {
  let server: Server;
  let origin: string;
  let seen: Readonly<Record<'method' | 'url' | 'key' | 'type' | 'version' | 'job' | 'body', unknown>>[];
  let reply: { status: number; headers?: Record<string, string>; body: string };
  let host: ClosableHost;

  before(async () => {
    server = createServer(async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray()).toString();
      const { method, url, headers } = incoming;
      const { authorization: key, 'content-type': type, 'x-version': version, 'x-job': job } = headers;
      seen.push({ method, url, key, type, version, job, body });
      response.writeHead(reply.status, reply.headers).end(reply.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    seen = [];
    host = createHost({ upstream: 'acme', allowedOrigins: [origin], log: { warn() {} }, keys: ['one', 'two'] });
  });
  afterEach(() => host.close());
  after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  const auth = (key: string) => ({ authorization: key });
  const answer = (body: unknown, status = 200, headers: Record<string, string> = {}) => {
    reply = { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
  };
  const submit = (more: Partial<JobSubmission> = {}) =>
    host.video.submit({
      url: `${origin}/jobs`,
      auth,
      signal,
      idOf: ({ job }) => job,
      lookAt: (id) => `${origin}/jobs/${id}`,
      ...more,
    });
  const look = (read: (value: Readonly<Record<string, unknown>>) => VideoReport = (value) => value as never) =>
    host.video.look({ id: '1', url: `${origin}/jobs/1` }, { auth, signal }, read);
  const faultOf = (running: Promise<unknown>) =>
    running.then(
      (value) => expect.fail(`it did not fail: ${JSON.stringify(value)}`),
      ({ kind }: { kind: string }) => kind,
    );

  it('are named by where they are looked at, in another process and by the key that began them', async () => {
    answer({ job: 'a/b c' });
    const ref = await submit();
    expect(ref).to.include({ id: 'a/b c', url: `${origin}/jobs/a%2Fb%20c` });
    answer({ status: 'running' });
    await host.video.look(ref, { auth, signal }, (value) => value as never);
    expect(seen).to.have.length(2);
    expect(seen[0]).to.include({ method: 'POST', url: '/jobs', key: 'one' });
    expect(seen[1]).to.include({ method: 'GET', url: '/jobs/a%2Fb%20c', key: 'one' });
  });

  it('are taken where they have a name, whatever else is said, and have a number for a name too', async () => {
    answer({ job: 42, code: 9, message: 'slow today' });
    expect(await submit()).to.include({ id: '42' });
    answer('{"job":1954321098765432101}');
    expect(await submit()).to.include({ id: '1954321098765432101', url: `${origin}/jobs/1954321098765432101` });
  });

  for (const [what, body, kind] of [
    ['a complaint', { code: 'insufficient_quota', message: 'no money' }, 'quota'],
    ['nothing', {}, 'protocol'],
    ['an empty name', { job: '' }, 'protocol'],
    ['an empty body', '', 'protocol'],
  ] as const) {
    it(`are not begun by ${what}`, async () => {
      answer(body, body === '' ? 202 : 200);
      expect(await faultOf(submit())).to.equal(kind);
      expect(seen).to.have.length(1);
    });
  }

  for (const [status, found] of [
    ['QUEUED', 'queued'],
    ['in_queue', 'queued'],
    ['Preparing', 'queued'],
    ['in_progress', 'processing'],
    ['flummoxed', 'processing'],
    ['completing', 'processing'],
    ['constructor', 'processing'],
    [7, 'processing'],
  ] as const) {
    it(`are ${found} when they are said to be ${status}`, async () => {
      answer({ status });
      expect(await look()).to.deep.equal({ status: found });
    });
  }

  for (const [found, words] of [
    ['queued', 'queued queueing queue pending submitted created preparing waiting in_queue throttled'],
    ['completed', 'completed complete succeeded succeed success done finished'],
    ['failed', 'failed fail failure error cancelled canceled aborted rejected expired timeout timed_out'],
  ] as const) {
    it(`are ${found}, whoever says so`, async () => {
      for (const status of words.split(' ')) {
        answer({ status, url: 'https://cdn.example/1.mp4' });
        expect((await look()).status, status).to.equal(found);
      }
    });
  }

  it('have failed with what is said of it, or else with the word for it', async () => {
    for (const [error, detail] of [
      ['out of memory', 'out of memory'],
      [{ code: 'oom', message: 'out of memory' }, 'oom: out of memory'],
      [undefined, 'the job is canceled'],
      [null, 'the job is canceled'],
      ['', 'the job is canceled'],
      [{}, 'the job is canceled'],
      [{ code: '', message: null, more: { reason: '' } }, 'the job is canceled'],
    ] as const) {
      answer({ status: ' Canceled\n', error });
      const state = await look();
      if (state.status !== 'failed') return expect.fail(state.status);
      expect(state.fault).to.include({ kind: 'server', detail });
    }
  });

  for (const [progress, shown] of [
    [0, 0],
    [0.25, 25],
    [0.004, 0],
    [1, 1],
    [37.6, 38],
    ['42', 42],
    ['30%', 30],
    ['0.5%', 1],
    [100, 100],
    [150, 100],
    [-1, undefined],
    ['soon', undefined],
    [null, undefined],
  ] as const) {
    it(`show ${shown} for a progress of ${progress}`, async () => {
      answer({ status: 'running', progress });
      const state = await look();
      expect(state).to.deep.equal({ status: 'processing', ...(shown !== undefined && { progress: shown }) });
    });
  }

  it('go on at an empty body, as soon as the upstream wants', async () => {
    answer('', 202, { 'retry-after': '7' });
    expect(await look()).to.deep.equal({ status: 'processing', retryAfterMs: 7000 });
  });

  it('go on when they are completed without a result', async () => {
    for (const url of [undefined, null, '', 'soon', 'file:///etc/passwd', 'javascript:alert(1)']) {
      answer({ status: 'completed', url });
      expect(await look()).to.deep.equal({ status: 'processing', lacksResult: true });
    }
    answer({ status: 'done' });
    expect(await look(() => ({ status: 'done', media: async () => undefined }))).to.deep.equal({
      status: 'processing',
      lacksResult: true,
    });
  });

  it('have a result when they are completed with one', async () => {
    answer({ status: 'SUCCEED', url: 'https://cdn.example/1.mp4' });
    expect(await look()).to.deep.equal({ status: 'completed', result: { url: 'https://cdn.example/1.mp4' } });
  });

  it('do not ask for a result before it is there', async () => {
    answer({ status: 'running' });
    const media = () => expect.fail('it was asked for');
    expect(await look(() => ({ status: 'running', media }))).to.deep.equal({ status: 'processing' });
  });

  it('have failed when a completed one has a verdict instead of its result', async () => {
    answer({ status: 'COMPLETED' });
    const fault = upstreamFault('request', 'a wrong value', { status: 422 });
    const state = await look(() => ({ status: 'COMPLETED', media: async () => ({ fault }) }));
    expect(state).to.deep.equal({ status: 'failed', fault });
  });

  it('go on when a completed one is refused its result, unless the content rules are the reason', async () => {
    answer({ status: 'COMPLETED' });
    for (const kind of ['request', 'server', 'missing', 'network'] as const) {
      const media = () => Promise.reject(upstreamFault(kind, 'no result'));
      expect(await faultOf(look(() => ({ status: 'COMPLETED', media })))).to.equal(kind);
    }
    const fault = upstreamFault('request', 'sensitive', { about: 'content' });
    const state = await look(() => ({ status: 'COMPLETED', media: () => Promise.reject(fault) }));
    expect(state).to.deep.equal({ status: 'failed', fault });
  });

  it('have failed when a completed one has no link, but a refusal of the content rules', async () => {
    const refusal = { code: 'moderation_blocked', message: 'blocked' };
    const media = async () => ({ url: 'https://cdn.example/content' });
    for (const error of [refusal, 'the video was flagged']) {
      answer({ status: 'completed' });
      const state = await look(() => ({ status: 'completed', error, media }));
      expect(state).to.have.nested.property('fault.about', 'content');
      expect(state).to.include({ status: 'failed' });
      answer({ status: 'completed', url: 'https://cdn.example/1.mp4', error });
      expect((await look()).status).to.equal('completed');
    }
    for (const error of ['success', { code: 0, message: 'ok' }, { message: 'slow today' }]) {
      answer({ status: 'completed' });
      expect((await look(() => ({ status: 'completed', error, media }))).status).to.equal('completed');
    }
  });

  for (const [error, kind, about] of [
    [{ code: 'moderation_blocked', message: 'blocked' }, 'request', 'content'],
    [{ message: 'something broke' }, 'server', undefined],
    ['your prompt was flagged', 'request', 'content'],
    [undefined, 'server', undefined],
    [null, 'server', undefined],
    ['', 'server', undefined],
    [{}, 'server', undefined],
    [{ code: null, message: '' }, 'server', undefined],
  ] as const) {
    it(`have failed for ${kind} by the verdict ${JSON.stringify(error)}`, async () => {
      for (const status of ['failed', 'Fail', 'error', 'cancelled', 'CANCELED', 'expired']) {
        answer({ status, error });
        const state = await look();
        expect(state.status).to.equal('failed');
        expect(state).to.have.nested.property('fault.kind', kind);
        expect((state as { fault: { about?: string } }).fault.about).to.equal(about);
      }
    });
  }

  for (const [what, status, body, kind] of [
    ['a 500', 500, { status: 'failed' }, 'server'],
    ['a 404', 404, { status: 'expired' }, 'missing'],
    ['a page', 200, '<html></html>', 'protocol'],
    ['no state', 200, {}, 'protocol'],
    ['a list', 200, [], 'protocol'],
    ['a complaint instead of a state', 200, { code: 'rate_limited', message: 'later' }, 'rate'],
  ] as const) {
    it(`are not known by ${what}`, async () => {
      answer(body, status);
      expect(await faultOf(look())).to.equal(kind);
    });
  }

  it('tell the operator how a page begins that came instead of an answer', async () => {
    answer('<html>no such job</html>');
    const error = await look().then(
      () => expect.fail('it did not fail'),
      (thrown: Error) => thrown,
    );
    expect(error.message).to.contain('the answer is not JSON: <html>no such job');
  });

  it('have failed when a look is refused for the content rules, and for nothing else', async () => {
    for (const status of [400, 200]) {
      answer({ code: 'x', error: 'Generated video rejected by content moderation.' }, status);
      const state = await look();
      expect(state).to.have.nested.property('fault.about', 'content');
      expect(state).to.include({ status: 'failed' });
    }
    for (const error of ['the image is too large', 'max_tokens is too large', 'bad']) {
      answer({ error }, 400);
      expect(await faultOf(look())).to.equal('request');
    }
  });

  it('that name no place are not known either', async () => {
    expect(await faultOf(host.video.look({ id: '1' }, { signal }, () => ({ status: 'done' })))).to.equal('protocol');
    expect(seen).to.have.length(0);
  });

  it('send an image as a data URL, only its own bytes', async () => {
    const bytes = new Uint8Array(Buffer.from('xxhixx')).subarray(2, 4);
    answer({ job: 1 });
    await submit({ body: (base64) => ({ frame: host.video.dataUrl({ mediaType: 'image/png', bytes }, base64) }) });
    expect(seen[0]).to.include({ type: 'application/json', body: '{"frame":"data:image/png;base64,aGk="}' });
  });

  describe('by one description of the upstream', () => {
    const call = { model: 'm', options: {} } as VideoCall;
    const wire: VideoWire = {
      headers: { 'x-version': '1' },
      submission: ({ model }, base) => ({
        url: `${base}/${model}`,
        headers: { 'x-job': 'yes' },
        body: () => ({ model }),
        idOf: ({ job }) => job,
        lookAt: (id) => `${base}/jobs/${id}`,
      }),
      read: ({ state }) => ({ status: state }),
    };
    const jobs = (more: Partial<VideoWire> = {}) => host.video.jobs({ baseUrl: `${origin}/v1/` }, { ...wire, ...more });

    it('are submitted below the base URL, the key as a bearer', async () => {
      answer({ job: 7 });
      const ref = await jobs().start(call, signal);
      expect(ref).to.include({ id: '7', url: `${origin}/v1/jobs/7` });
      expect(seen[0]).to.include({ method: 'POST', url: '/v1/m', key: 'Bearer one', version: '1', job: 'yes' });
    });

    it('are looked at with the headers of every request, and only those', async () => {
      answer({ state: 'running' });
      const url = `${origin}/v1/jobs/7`;
      expect(await jobs().poll({ id: '7', url }, signal)).to.deep.equal({ status: 'processing' });
      expect(seen[0]).to.include({ method: 'GET', url: '/v1/jobs/7', key: 'Bearer one', version: '1' });
      expect(seen[0]?.job).to.equal(undefined);
    });

    it('may have long replies if the upstream repeats the request', async () => {
      const input = 'A'.repeat(2_000_000);
      const long = jobs({ replyBytesMax: 3_000_000 });
      answer({ job: 7, input });
      const ref = await long.start(call, signal);
      expect(await faultOf(jobs().start(call, signal))).to.equal('protocol');
      answer({ state: 'running', input });
      expect(await long.poll(ref, signal)).to.deep.equal({ status: 'processing' });
      expect(await faultOf(jobs().poll(ref, signal))).to.equal('protocol');
    });

    it('go to the base URL of their route', async () => {
      answer({ job: 7 });
      const schema = Joi.object({ baseUrl: Joi.string() });
      const routed = createHost({ upstream: 'acme', allowedOrigins: [origin], log: { warn() {} }, schema });
      const { start } = routed.video.jobs({ baseUrl: `${origin}/v1` }, wire);
      await start({ ...call, options: { baseUrl: `${origin}/v2` } }, signal);
      await routed.close();
      expect(seen[0]).to.include({ url: '/v2/m' });
    });

    it('authorize further requests of a report in their own way', async () => {
      answer({ state: 'done' });
      const media = async (looking: JobLooking) => ({
        url: 'https://a.example/',
        headers: await host.authorize(looking.auth),
      });
      const { poll } = jobs({ auth, read: ({ state }, looking) => ({ status: state, media: () => media(looking) }) });
      const state = await poll({ id: '7', url: `${origin}/v1/jobs/7` }, signal);
      expect(state).to.deep.include({ result: { url: 'https://a.example/', headers: { authorization: 'two' } } });
    });
  });
});

describe('resolutions of videos', () => {
  const call = (resolutions: unknown, more: Partial<VideoCall> = {}): VideoCall => ({
    model: 'm',
    prompt: 'p',
    seconds: 5,
    size: { width: 1280, height: 720 },
    aspect: '16:9',
    resolution: '720p',
    options: { resolutions },
    ...more,
  });
  const portrait = { size: { width: 720, height: 1280 } };

  for (const [what, asked, otherwise, fields] of [
    ['a string stands in the field', call({ '720p': '768P' }), undefined, { size: '768P' }],
    ['an object stands as it is', call({ '720p': { mode: 'pro', fps: 24 } }), undefined, { mode: 'pro', fps: 24 }],
    ['another label does not count', call({ '1080p': 'x' }), 'own', { size: 'own' }],
    ['none at all', call(undefined), undefined, {}],
    ['a model without labels', call({ null: 'x' }, { resolution: null }), 'own', { size: 'own' }],
    ['a label of every object', call({}, { resolution: 'constructor' }), undefined, {}],
    ['a wrong kind of table', call('720p'), 'own', { size: 'own' }],
    ['pixels as they are', call({ '720p': '1280*720' }), undefined, { size: '1280*720' }],
    ['pixels turned', call({ '720p': '1280*720' }, portrait), undefined, { size: '720*1280' }],
    [
      'pixels turned in an object',
      call({ '720p': { s: '1792x1024', q: 'hd' } }, portrait),
      undefined,
      { s: '1024x1792', q: 'hd' },
    ],
    ['an aspect is no pixels', call({ '720p': { ratio: '16:9' } }, portrait), undefined, { ratio: '16:9' }],
    ['a square', call({ '720p': '720x720' }, portrait), undefined, { size: '720x720' }],
  ] as const) {
    it(`are spelled: ${what}`, () => {
      expect(resolveResolution(asked, 'size', otherwise)).to.deep.equal(fields);
    });
  }
});
