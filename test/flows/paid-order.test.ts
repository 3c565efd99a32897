// In which order calls for images and videos are refused, and what the log notes of a video.
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS } from '../../testkit/images.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import { PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';
const IMAGE = `data:image/png;base64,${PNG.toString('base64')}`;
const UNREADABLE = `data:image/png;base64,${'A'.repeat(400_000)}`;

const model = (id: string, more: { readonly type: string; readonly edits?: true }) => ({
  id,
  provider: 'Test',
  price: { request: '40' },
  routes: [{ upstream: 'sandbox', model: more.type }],
  ...more,
});

const CATALOG = {
  upstreams: { sandbox: { plugin: 'sandbox' } },
  models: [model('draw', { type: 'image', edits: true }), model('film', { type: 'video' })],
};

const CALLS: readonly (readonly [path: string, body: object])[] = [
  [GENERATIONS, { model: 'draw', prompt: 'a hill' }],
  [EDITS, { model: 'draw', prompt: 'a hill', image: IMAGE }],
  [VIDEOS, { model: 'film', prompt: 'a hill' }],
];

describe('calls for images and videos', () => {
  let gateway: TestGateway;
  let poor: TestAccount;

  before(async () => {
    gateway = await startGateway({ catalog: CATALOG });
  });
  beforeEach(async () => {
    poor = await gateway.account('0');
  });
  afterEach(() => gateway.checkMoney());
  after(() => gateway.stop());

  const post = (path: string, body: object, { key } = poor) => send(gateway.url + path, { key, body });

  for (const [path, body] of CALLS) {
    it(`${path}: reports a forbidden model before missing money`, async () => {
      expect((await post(path, body)).status).to.equal(402);
      const accounts = createAccounts({ store: gateway.store, keyPrefix: 'tg-' });
      const { id } = await accounts.create('limited');
      const { key } = await accounts.issueKey(id, 'little', { models: ['other'] });
      expect((await post(path, body, { ...poor, key })).status).to.equal(403);
    });
  }

  for (const [path, body] of CALLS.slice(1)) {
    it(`${path}: reports the model of a long request before its unreadable image`, async () => {
      const { key } = await gateway.account();
      const long = { ...body, image: UNREADABLE };
      expect((await post(path, long, { ...poor, key })).text).to.include('image');
      const unknown = await post(path, { ...long, model: 'nobody' }, { ...poor, key });
      expect([unknown.status, unknown.text.includes('nobody')]).to.deep.equal([400, true]);
    });
  }

  it('logs the model of a video, and which one was polled', async () => {
    const account = await gateway.account();
    const { json } = await post(VIDEOS, { model: 'film', prompt: 'a hill' }, account);
    await send(`${gateway.url}${VIDEOS}?id=${json.id}`, { key: account.key });
    const lines = (method: string) =>
      readLogLines(gateway).filter((line) => line.method === method && line.job === json.id);
    await until(async () => lines('post').length === 1 && lines('get').length === 1);
    expect(lines('post')[0]).to.include({ model: 'film', status: 200 });
  });
});
