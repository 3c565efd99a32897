// The modalities that a chat request asks for go on to upstreams that draw, and to no others.
import { expect } from 'chai';
import { CHAT, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

describe('modalities of a chat request', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.end(chatChunk('Here.') + chatEnd({ input: 8, output: 3 }));
    });
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey: 'secret' };
    const upstreams = {
      plain: { plugin: 'openai-compatible', settings },
      drawing: { plugin: 'openai-compatible', settings: { ...settings, reasoning: 'reasoning' } },
    };
    const models = Object.keys(upstreams).map((id) => ({
      ...{ id, type: 'text', provider: 'Test', price: { input: '1000', output: '5000' } },
      routes: [{ upstream: id, model: id }],
    }));
    gateway = await startGateway({ catalog: { upstreams, models } });
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function ask(model: string, modalities: unknown): Promise<unknown> {
    const body = { model, modalities, messages: [{ role: 'user', content: 'Draw.' }] };
    expect((await send(gateway.url + CHAT, { key: account.key, body })).status).to.equal(200);
    return upstream.calls.at(-1)?.body.modalities;
  }

  it('go on as they came, if they have images', async () => {
    expect(await ask('drawing', ['image', 'text'])).to.deep.equal(['image', 'text']);
    expect(await ask('drawing', ['image'])).to.deep.equal(['image']);
  });

  it('are not told to an upstream that does not draw', async () => {
    expect(await ask('plain', ['image', 'text'])).to.equal(undefined);
  });

  it('stay with the gateway if they have no images, or what no model gives', async () => {
    for (const modalities of [['text'], ['text', 'audio'], ['image', 'audio'], 'image', [], null, [{}]]) {
      expect(await ask('drawing', modalities), JSON.stringify(modalities)).to.equal(undefined);
    }
  });
});
