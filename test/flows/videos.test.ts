// Videos over real HTTP: how they begin, what a look at them tells, what they cost and when the money goes back.
import { expect } from 'chai';
import { send, until } from '../../testkit/client.ts';
import { type FilmUpstream, filmCatalog, startFilmUpstream } from '../../testkit/film-upstream.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';

const VIDEOS = '/api/v1/videos';
const ENV = { VIDEO_POLL_MS: '20', VIDEO_RATE_LIMIT_PER_MINUTE: '100000' };

describe('videos', () => {
  let upstream: FilmUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startFilmUpstream();
    gateway = await startGateway({ catalog: filmCatalog(upstream.url), env: ENV });
  });
  beforeEach(async () => {
    upstream.behave({});
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const post = (body: object, { key } = account) => send(gateway.url + VIDEOS, { key, body });
  const look = async (id: string, { key } = account) => send(`${gateway.url}${VIDEOS}?id=${id}`, { key });

  it('begin with the price charged, and end with a link to the film', async () => {
    const reply = await post({ model: 'film-a', prompt: 'A red square' });
    expect(reply.status, reply.text).to.equal(200);
    const { id, ...rest } = reply.json;
    expect(rest).to.deep.equal({
      object: 'video',
      model: 'film-a',
      status: 'queued',
      seconds: 5,
      price_rub: 75,
      balance_rub: 925,
      size: '1920x1080',
      resolution: null,
      billing: { charged_rub: 75, balance_rub: 925, unit: 'second', unit_price_rub: 15, price_option: '1080p' },
      poll: `/api/v1/videos?id=${id}`,
    });
    await until(async () => (await look(id)).json.status === 'completed');
    const { url, ...seen } = (await look(id)).json;
    expect(seen).to.deep.equal({ id, status: 'completed', progress: 100 });
    expect(url).to.match(/^http/);
  });
});
