// Images by the AI SDK, as docs/clients.md says: which of its packages reads what.
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateImage, type ImageModel } from 'ai';
import { expect } from 'chai';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { imageAnswer, imageCatalog } from '../../testkit/images.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';
import { catchRejection } from './stage.ts';

/** Of the names for which the package of OpenAI leaves out `response_format`. */
const OFFICIAL = 'gpt-image-2';

describe('images of the AI SDK', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const catalog = imageCatalog(upstream.url) as { readonly models: readonly object[] };
    const official = { ...catalog.models[0], id: OFFICIAL, aliases: [] };
    gateway = await startGateway({ catalog: { ...catalog, models: [...catalog.models, official] } });
  });
  beforeEach(async () => {
    upstream.behave(imageAnswer(PNG));
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const compatible = () =>
    createOpenAICompatible({ name: 'tollgate', apiKey: account.key, baseURL: `${gateway.url}/api/v1` });
  const official = () => createOpenAI({ apiKey: account.key, baseURL: `${gateway.url}/api/v1` });

  const shows = ({ image }: { readonly image: { readonly uint8Array: Uint8Array } }) =>
    expect(Buffer.from(image.uint8Array).equals(PNG)).to.equal(true);
  const make = (model: ImageModel, prompt: Parameters<typeof generateImage>[0]['prompt'] = 'a hill') =>
    generateImage({ model, prompt, maxRetries: 0 });
  const edit = { text: 'blue', images: [PNG] };

  for (const name of ['draw', OFFICIAL]) {
    it(`are made and edited by the package for compatible services: ${name}`, async () => {
      shows(await make(compatible().imageModel(name)));
      shows(await make(compatible().imageModel(name), edit));
    });
  }

  it('are made by the package of OpenAI', async () => {
    shows(await make(official().image('draw')));
  });

  for (const [what, name, prompt] of [
    ['edited', 'draw', edit],
    ['made under the names of OpenAI', OFFICIAL, 'a hill'],
  ] as const) {
    it(`are not ${what} by the package of OpenAI, which then asks for no base64 but wants it`, async () => {
      const failed = await catchRejection(make(official().image(name), prompt));
      expect(failed.message).to.equal('Invalid JSON response');
    });
  }
});
