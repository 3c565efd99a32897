// Models that cannot be used now: 503 where the service has switched something off, 400 where the name leads nowhere.
import { expect } from 'chai';
import { CHAT, MESSAGES, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS } from '../../testkit/images.ts';
import { PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';
const image = `data:image/png;base64,${PNG.toString('base64')}`;

function buildCatalog(usable: boolean) {
  const model = (id: string, type: string, price: object, more: object = {}) => {
    return { id, type, provider: 'Test', routes: usable ? [{ upstream: 'sandbox', model: type }] : [], price, ...more };
  };
  const text = { ...model('words', 'text', { input: '1', output: '1' }), aliases: ['w'] };
  const routes = usable ? [{ upstream: 'sandbox', model: 'standard' }] : [];
  return {
    upstreams: { sandbox: { plugin: 'sandbox' } },
    models: [
      { ...text, routes },
      { ...text, id: 'spare', aliases: [], routes: [{ upstream: 'sandbox', model: 'lite' }] },
      model('draw', 'image', { request: '5' }, { edits: true }),
      model('plain', 'image', { request: '5' }),
      model('film', 'video', { second: '1' }),
    ],
    smart: { lite: 'words', standard: 'spare', heavy: 'spare' },
    defaults: { image: ['draw'], edit: ['draw'] },
    retired: { 'old-words': 'words', 'old-draw': 'draw', 'old-film': 'film' },
  };
}

const say = (model: string) => ({ model, max_tokens: 100, messages: [{ role: 'user', content: 'Translate: hello' }] });

/** Path, body; status while everything works, then without routes, and what is said then. */
const ROWS: readonly [path: string, body: object, usable: number, not: number, says: RegExp][] = [
  [MESSAGES, say('words'), 200, 400, /^Unknown model `words`/],
  [CHAT, say('w'), 200, 400, /^Unknown model `w`/],
  [GENERATIONS, { prompt: 'x', model: 'draw' }, 200, 400, /^Unknown model `draw`/],
  [GENERATIONS, { prompt: 'x' }, 200, 503, /^Image generation is temporarily unavailable\. Nothing was charged\.$/],
  [EDITS, { prompt: 'x', image, model: 'draw' }, 200, 503, /^Image editing is temporarily unavailable/],
  [EDITS, { prompt: 'x', image }, 200, 503, /^Image editing is temporarily unavailable/],
  [EDITS, { prompt: 'x', image, model: 'plain' }, 400, 400, /does not edit them\.$/],
  [EDITS, { prompt: 'x', image, model: 'film' }, 400, 400, /POST \/api\/v1\/videos/],
  [EDITS, { prompt: 'x', image, model: 'nope' }, 400, 400, /^Unknown model `nope`/],
  [VIDEOS, { prompt: 'x', model: 'film' }, 200, 503, /^Video generation is temporarily unavailable\. Nothing was/],
  [VIDEOS, { prompt: 'x', model: 'draw' }, 400, 400, /cannot be used on this endpoint/],
  [VIDEOS, { prompt: 'x', model: 'nope' }, 400, 400, /^Unknown model `nope`/],
  [MESSAGES, say('old-words'), 400, 400, /^Model `old-words` is retired\.$/],
  [GENERATIONS, { prompt: 'x', model: 'old-draw' }, 400, 400, /^Model `old-draw` is retired\.$/],
  [EDITS, { prompt: 'x', image, model: 'old-draw' }, 400, 400, /^Model `old-draw` is retired\.$/],
  [VIDEOS, { prompt: 'x', model: 'old-film' }, 400, 400, /^Model `old-film` is retired\.$/],
];

describe('models that lose their routes', () => {
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    gateway = await startGateway({ catalog: buildCatalog(true), env: { VIDEO_POLL_MS: '20' } });
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(() => gateway.stop());

  const post = (path: string, body: object) => send(gateway.url + path, { key: account.key, body });
  const listed = async () => {
    const { json } = await send(`${gateway.url}/api/v1/models`, { key: account.key });
    return json.data.map(({ id }: { id: string }) => id);
  };
  async function become(usable: boolean): Promise<void> {
    gateway.writeCatalog(buildCatalog(usable));
    await gateway.gateway.reload();
  }

  it('are listed and answer while they have a route', async () => {
    expect(await listed()).to.deep.equal(['words', 'spare', 'draw', 'plain', 'film', 'smart']);
    for (const [path, body, usable] of ROWS) {
      const { status, text } = await post(path, body);
      expect(status, `${path} ${JSON.stringify(body).slice(0, 80)} ${text}`).to.equal(usable);
    }
    expect((await post(VIDEOS, { prompt: 'x', model: 'old-film' })).json.error.message).to.contain(
      'Use `film` instead',
    );
  });

  it('are not listed without a route; each endpoint says so, and nothing is charged', async () => {
    await become(false);
    const before = await gateway.wallet(account);
    expect(await listed()).to.deep.equal(['spare', 'smart']);
    for (const [path, body, , not, says] of ROWS) {
      const { status, json, headers } = await post(path, body);
      expect([path, status]).to.deep.equal([path, not]);
      expect(json.error.message).to.match(says);
      expect(headers['x-should-retry']).to.equal(not === 503 ? undefined : 'false');
    }
    expect(await gateway.wallet(account)).to.deep.equal(before);
  });

  it('leave their smart tier to the next one up, which the reply names and bills', async () => {
    const { json } = await post(CHAT, say('smart'));
    expect(json.model).to.equal('spare');
    expect(json.smart_routing.tier).to.equal('lite');
  });

  it('come back with their routes', async () => {
    await become(true);
    for (const [path, body, usable] of ROWS) expect((await post(path, body)).status).to.equal(usable);
  });
});
