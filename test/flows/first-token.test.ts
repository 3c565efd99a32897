// How long the first content of an answer may take: a model's own time, that of models that reason, or the common one.
import { expect } from 'chai';
import { CHAT, send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const COMMON_MS = 300;
const LATE_MS = 900;

const buildCatalog = (url: string) => ({
  upstreams: { up: { plugin: 'openai-compatible', settings: { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1' } } },
  models: Object.entries({
    plain: {},
    thinker: { reasoning: true },
    patient: { firstTokenMs: 60_000 },
    hasty: { reasoning: true, firstTokenMs: COMMON_MS },
  }).map(([id, more]) => ({
    id,
    type: 'text',
    provider: 'Test',
    price: { input: '10', output: '10' },
    routes: [{ upstream: 'up', model: id }],
    ...more,
  })),
});

describe('the first content of an answer', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream(({ response }) => {
      response.writeHead(200, SSE);
      setTimeout(() => response.end(chatChunk('Hi') + chatEnd({ input: 1, output: 1 })), LATE_MS);
    });
    const env = { FIRST_TOKEN_TIMEOUT_MS: `${COMMON_MS}` };
    gateway = await startGateway({ catalog: buildCatalog(upstream.url), env });
  });

  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
  });

  for (const [model, status] of [
    ['plain', 502],
    ['hasty', 502],
    ['thinker', 200],
    ['patient', 200],
  ] as const) {
    it(`may take its time, or not: ${model}`, async () => {
      const account = await gateway.account();
      const body = { model, messages: [{ role: 'user', content: 'hi' }] };
      const reply = await send(gateway.url + CHAT, { key: account.key, body });
      expect(reply.status, reply.text).to.equal(status);
      const { charged } = await gateway.wallet(account);
      expect(charged > 0n).to.equal(status === 200);
    });
  }
});
