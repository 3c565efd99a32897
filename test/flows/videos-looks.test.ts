// What upstreams answer when they are asked for a video: only their verdict ends it, whatever else they say.
import { expect } from 'chai';
import { send, until } from '../../testkit/client.ts';
import {
  type Answer,
  cut,
  type FilmUpstream,
  film,
  filmCatalog,
  finished,
  inState,
  json,
  startFilmUpstream,
  status,
} from '../../testkit/film-upstream.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';

const VIDEOS = '/api/v1/videos';
const ENV = { VIDEO_POLL_MS: '10', VIDEO_RATE_LIMIT_PER_MINUTE: '100000' };

describe('polls of videos', () => {
  let upstream: FilmUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startFilmUpstream();
    gateway = await startGateway({ catalog: filmCatalog(upstream.url), env: ENV });
  });
  beforeEach(async () => {
    upstream.begun.clear();
    upstream.looks.clear();
    upstream.downloads.clear();
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const begin = async (): Promise<string> => {
    const body = { model: 'film-flat', prompt: 'A red square' };
    return (await send(gateway.url + VIDEOS, { key: account.key, body })).json.id;
  };
  const see = async (id: string) => (await send(`${gateway.url}${VIDEOS}?id=${id}`, { key: account.key })).json;
  const waitForEnd = async (id: string) => {
    await until(async () => ['completed', 'failed'].includes((await see(id)).status), 15_000);
    return see(id);
  };
  const balance = async () => Number((await gateway.wallet(account)).avail) / 1e6;

  /** So many answers of one kind, then the film. */
  const times = (count: number, first: Answer, then: Answer = finished): Answer => {
    return (exchange) => (exchange.before < count ? first : then)(exchange);
  };
  const empty: Answer = ({ response }) => void response.writeHead(202).end();
  const text: Answer = ({ response }) => void response.writeHead(200).end('<html>busy</html>');

  const unknowns: Readonly<Record<string, Answer>> = {
    'a word for the state that nobody knows': inState('rendering_pass_2'),
    'a word in capitals': inState('PROCESSING'),
    'no state at all': inState(undefined as never),
    'a state that is a number': inState(7 as never),
    '202 with an empty body': empty,
    'a body that is not JSON': text,
    'a connection that is cut': cut,
    'status 500': status(500),
    'status 503': status(503),
    'status 429': status(429),
    'status 401': status(401),
    'status 404': status(404),
    'completed without a URL': inState('succeed', { task_result: { videos: [] } }),
    'completed with a URL that is none': inState('succeed', { task_result: { videos: [{ url: 'soon' }] } }),
  };
  for (const [at, [name, answer]] of Object.entries(unknowns).entries()) {
    (at % 3 === 0 ? it : itLong)(`survive ten times ${name}: the video completes after that`, async () => {
      upstream.behave({ look: times(10, answer) });
      const id = await begin();
      const { status: ended, progress } = await waitForEnd(id);
      expect([ended, progress]).to.deep.equal(['completed', 100]);
      expect([...upstream.looks.values()]).to.deep.equal([11]);
      expect(await balance()).to.equal(955);
      expect(upstream.begun.size).to.equal(1);
    });
  }

  it('wait as long as the upstream asks', async () => {
    const patient: Answer = ({ response }) => {
      response.setHeader('retry-after', '1');
      json(response, { code: 0, data: { task_status: 'processing' } });
    };
    upstream.behave({ look: times(1, patient) });
    const startedAt = performance.now();
    await waitForEnd(await begin());
    expect(performance.now() - startedAt).to.be.above(950);
    expect([...upstream.looks.values()]).to.deep.equal([2]);
  });

  it('never go back from processing to queued', async () => {
    const states = ['submitted', 'processing', 'submitted', 'processing', 'succeed'];
    upstream.behave({
      look: (exchange) => (exchange.before < 4 ? inState(states[exchange.before] as string) : finished)(exchange),
    });
    const id = await begin();
    const seen: string[] = [];
    await until(async () => {
      seen.push((await see(id)).status);
      return seen.at(-1) === 'completed';
    }, 10_000);
    const first = seen.indexOf('processing');
    expect(first === -1 || !seen.slice(first).includes('queued'), seen.join()).to.equal(true);
  });

  const downloads: Readonly<Record<string, Answer>> = {
    'status 503': status(503),
    'status 429': status(429),
    'a connection that is cut': cut,
    'a film that breaks off': ({ response }) => {
      response.writeHead(200, { 'content-length': 100_000 });
      response.write(Buffer.alloc(1000, 'ftyp'), () => response.destroy());
    },
  };
  for (const [at, [name, answer]] of Object.entries(downloads).entries()) {
    (at % 3 === 0 ? it : itLong)(`fetch a film again after ${name}`, async () => {
      upstream.behave({ download: times(2, answer, film) });
      const { status: ended } = await waitForEnd(await begin());
      expect(ended).to.equal('completed');
      expect([...upstream.downloads.values()]).to.deep.equal([3]);
    });
  }

  const endless: Readonly<Record<string, { look?: Answer; download?: Answer }>> = {
    'that nobody finishes': { look: inState('processing') },
    'that is completed without a URL': { look: inState('succeed') },
    'whose file is gone': { download: status(404) },
    'whose file is a page': { download: ({ response }) => void response.end('<html>expired</html>'.repeat(100)) },
  };
  for (const [at, [name, answers]] of Object.entries(endless).entries()) {
    (at % 3 === 0 ? it : itLong)(`go on for a video ${name} until the deadline, and refund then, once`, async () => {
      const short = await startGateway({
        catalog: filmCatalog(upstream.url),
        env: { ...ENV, VIDEO_DEADLINE_MS: '600' },
      });
      upstream.behave(answers);
      const { key, id: accountId } = await short.account();
      const started = await send(short.url + VIDEOS, { key, body: { model: 'film-flat', prompt: 'x' } });
      const { id } = started.json;
      await until(async () => (await short.store.jobs.get(id))?.phase === 'failed');
      const job = await short.store.jobs.get(id);
      expect(Number(job?.endedAt)).to.be.at.least(Number(job?.deadline));
      const seen = (await send(`${short.url}${VIDEOS}?id=${id}`, { key })).json;
      const error = 'The video was not finished in time.';
      expect(seen).to.include({ status: 'failed', error, url: null, refunded: true });
      const entries = await short.store.ledger.entries(accountId, { limit: 10 });
      expect(entries.map(({ kind }) => kind)).to.deep.equal(['refund', 'charge', 'topup']);
      expect((await short.store.ledger.wallet(accountId))?.avail).to.equal(1_000_000_000n);
      expect(upstream.begun.size).to.equal(1);
      await short.checkMoney();
      await short.stop();
    });
  }

  it('refund a completed video when its upstream calls it failed after all', async () => {
    upstream.behave({ look: times(2, finished, inState('failed')), download: status(404) });
    const id = await begin();
    expect(await waitForEnd(id)).to.include({ status: 'failed', url: null, refunded: true });
    expect(await balance()).to.equal(1000);
    expect(upstream.begun.size).to.equal(1);
  });

  it('wait for an upstream that an edit took away, and go on when it is back', async () => {
    const catalog = filmCatalog(upstream.url) as EditedCatalog;
    const other = await startGateway({ catalog, env: ENV });
    const { account, id } = await beginAt(other);
    const { films: _, spare: __, ...upstreams } = catalog.upstreams;
    other.writeCatalog({ ...catalog, upstreams, models: catalog.models.filter(({ type }) => type === 'text') });
    await other.gateway.reload();
    upstream.behave({});
    await new Promise((resolve) => setTimeout(resolve, 200));
    const now = (await send(`${other.url}${VIDEOS}?id=${id}`, { key: account.key })).json;
    expect(now.status).to.be.oneOf(['queued', 'processing']);
    other.writeCatalog(catalog);
    await other.gateway.reload();
    await until(async () => (await other.store.jobs.get(id))?.phase === 'completed');
    await other.checkMoney();
    await other.stop();
  });

  it('go on when an edit takes the last model with a route to their upstream off sale', async () => {
    const catalog = filmCatalog(upstream.url) as EditedCatalog;
    const other = await startGateway({ catalog, env: ENV });
    const { account, id } = await beginAt(other);
    other.writeCatalog({ ...catalog, models: catalog.models.filter(({ type }) => type === 'text') });
    await other.gateway.reload();
    upstream.behave({});
    await until(async () => (await other.store.jobs.get(id))?.phase === 'completed', 5000);
    expect((await other.wallet(account)).charged).to.equal(45_000_000n);
    await other.checkMoney();
    await other.stop();
  });

  /** A video that runs there, in a state that stays. */
  async function beginAt(other: TestGateway) {
    upstream.behave({ look: inState('processing') });
    const account = await other.account();
    const before = upstream.looks.size;
    const { id } = (await send(other.url + VIDEOS, { key: account.key, body: { model: 'film-flat', prompt: 'x' } }))
      .json;
    await until(() => upstream.looks.size > before);
    return { account, id };
  }
});

interface EditedCatalog {
  readonly upstreams: Readonly<Record<string, object>>;
  readonly models: readonly { readonly type: string }[];
}
