// Embeddings by real clients, unchanged: the official one of today and of yesterday, and the AI SDK.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embed, embedMany } from 'ai';
import { expect } from 'chai';
import type OpenAI from 'openai';
import { EMBEDDINGS, embedAnswer, embeddingCatalog } from '../../testkit/embeddings.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { answerStatus, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { catchRejection, OPENAI_SDKS } from './stage.ts';

const MINIMUM = 500_000n;

describe('embeddings of real clients', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: embeddingCatalog(upstream.url) });
  });
  beforeEach(async () => {
    upstream.calls.length = 0;
    upstream.behave(embedAnswer());
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  for (const sdk of OPENAI_SDKS) {
    describe(sdk.name, () => {
      let client: OpenAI;
      beforeEach(() => {
        client = sdk.open(gateway, account);
      });

      it('decodes what it asks for as base64', async () => {
        const { data, model, usage } = await client.embeddings.create({ model: 'embed-a', input: ['one', 'two'] });
        expect(data.map(({ index, embedding }) => [index, [...embedding]])).to.deep.equal([
          [0, [0, 0.25, 0.5]],
          [1, [1, 1.25, 1.5]],
        ]);
        expect(model).to.equal('embed-a');
        expect(usage).to.deep.equal({ prompt_tokens: 7, total_tokens: 7 });
        expect((await gateway.wallet(account)).charged).to.equal(MINIMUM);
      });

      it('gets numbers, fewer of them, and tokens through', async () => {
        const wish = { model: 'embed-a', input: 'one', encoding_format: 'float', dimensions: 2 } as const;
        expect((await client.embeddings.create(wish)).data[0]?.embedding).to.deep.equal([0, 0.25]);
        const { data } = await client.embeddings.create({ model: 'embed-tokens', input: [[1, 2], [3]] });
        expect(data).to.have.length(2);
      });

      it('throws its own exceptions', async () => {
        const create = (more: object) => client.embeddings.create({ model: 'embed-a', input: 'one', ...more });
        const bad = await catchRejection(create({ input: '' }));
        expect(bad).to.include({ status: 400, code: 'invalid_request' }).and.be.instanceOf(sdk.Client.BadRequestError);
        const wrong = await catchRejection(create({ model: 'model-a' }));
        expect((wrong as Error).message).to.include('cannot be used on this endpoint');
        upstream.behave(answerStatus(500));
        expect(await catchRejection(create({}))).to.include({ status: 502, code: 'upstream_error' });
      });
    });
  }

  describe('the AI SDK', () => {
    const model = (id: string) =>
      createOpenAICompatible({
        name: 'tollgate',
        baseURL: `${gateway.url}/api/v1`,
        apiKey: account.key,
      }).embeddingModel(id);

    it('embeds one value, and many', async () => {
      const one = await embed({ model: model('embed-a'), value: 'one' });
      expect(one.embedding).to.deep.equal([0, 0.25, 0.5]);
      expect(one.usage.tokens).to.equal(7);
      const many = await embedMany({ model: model('embed-a'), values: ['one', 'two', 'three'] });
      expect(many.embeddings.map(([first]) => first)).to.deep.equal([0, 1, 2]);
      expect(upstream.calls[0]?.request.url).to.equal(`/v1/${EMBEDDINGS.split('/').at(-1)}`);
    });

    it('shows the message of a refusal', async () => {
      const refused = await catchRejection(embed({ model: model('embed-a'), value: '', maxRetries: 0 }));
      expect((refused as Error).message).to.include('Invalid `input');
    });
  });
});
